"""The studies beside S3's: declared as the spec has them, and their small forms run."""

from collections import Counter

import pytest

from evenhand.data import load
from evenhand.methods.problem import Problem
from evenhand.nets.registry import NetSpec
from evenhand.study.driver import Options, run_study
from evenhand.study.frame import Frame
from evenhand.study.read import read_study
from evenhand.study.search import settings_of
from evenhand.study.store import Store
from evenhand.study.tasks import load_method

LAFTR = ["laftr-dp", "laftr-eqodd", "laftr-eqopp0", "laftr-eqopp1"]
GRIDS = {
    **{key: {"gamma": [0.1, 0.5, 1.0, 2.0, 4.0]} for key in LAFTR},
    **{key: {"gamma": [0.1, 1.0, 10.0, 100.0, 1000.0]} for key in ("cfair", "cfair-eo")},
    "ffvae": {"alpha": [10.0, 100.0, 1000.0], "gamma": [10.0, 50.0, 100.0]},
    "mlp": {},
    "cnn": {},
}


@pytest.fixture(scope="module", params=["ci-mnist-box", "adult-age"])
def study(request):
    return read_study(request.param)


def nets_of(study):
    """The shapes of the weights of each method's network, on the inputs that the method gives it."""
    task = load(study.tasks[0].data, **dict(study.smoke.tasks[0].knobs))
    problem = Problem.from_labels(task.y, task.attributes[0].codes, inputs=task.input_shape)
    found = {}
    for method in study.methods:
        (entry,) = [net for net in study.nets if net.is_for(method.name)]
        fields = {name: value for name, value in method.fields.items() if name not in GRIDS[method.name]}
        made = load_method(method.key, fields)
        inputs = made.model_inputs(problem) or task.input_shape
        net = NetSpec(entry.net, dict(entry.options)).build(inputs, 2)
        extra = made.extra(problem, net.n_features)
        found[method.name] = (net, extra)
    return found


def linear(module):
    return [
        tuple(p.shape)[::-1] for name, p in module.named_parameters() if p.ndim == 2 and "bias" not in name
    ]


def test_grids_seeds_and_selection_are_those_of_the_spec(study):
    assert study.seeds == (3, 4, 5)
    assert study.parts == ("validation_balanced", "test")
    assert (study.selection.rule, study.selection.part) == ("best-per-metric", "validation_balanced")
    for method in study.methods:
        settings = [setting.varied for setting in settings_of(method, 0)]
        varied = {name: sorted({setting[name] for setting in settings}) for name in settings[0]}
        assert varied == GRIDS[method.name]
    assert {net.name for net in study.nets} == {study.nets[0].name}  # so that all are on one problem


def test_the_box_study_has_the_six_rows_of_the_public_table():
    study = read_study("ci-mnist-box")
    assert {task.name: dict(task.knobs) for task in study.tasks} == {
        "clr .5 .5": {"variant": "B", "part": "full"},
        "clr .001 .001": {"variant": "B", "part": "full", "clr_ratio": [0.001, 0.001]},
        "clr .1 .9": {"variant": "B", "part": "full", "clr_ratio": [0.1, 0.9]},
        "clr .01 .99": {"variant": "B", "part": "full", "clr_ratio": [0.01, 0.99]},
        "pos .9 .1": {"variant": "B", "part": "full", "pos_ratio": [0.9, 0.1]},
    }
    assert [(grouping.attributes, grouping.tasks) for grouping in study.groupings] == [
        (("colour",), ()),
        (("box",), ("pos .9 .1",)),
    ]
    nets = nets_of(study)
    assert type(nets["cnn"][0]).__name__ == "S3CNN"
    assert linear(nets["mlp"][0])[0] == (3072, 32)
    assert nets["ffvae"][0].sizes == (16, 32, 32, 2)


def test_the_age_study_has_the_intervals_and_networks_of_the_spec():
    study = read_study("adult-age")
    ratios = ["0.5,0.5", "0.66,0.33", "0.33,0.33", "0.1,0.1", "0.06,0.36", "0.01,0.01"]
    assert [task.knobs["age_ratio"] for task in study.tasks] == ratios
    nets = nets_of(study)
    assert nets["mlp"][0].sizes == (112, 32, 32, 16, 32, 32, 2)
    for name in LAFTR:
        net, extra = nets[name]
        assert (net.sizes, net.n_features, net.active) == ((112, 8, 2), 8, frozenset())
        assert linear(extra["adversary"]) == [(9, 1)]  # 8 features and the label
    for name in ("cfair", "cfair-eo"):
        net, extra = nets[name]
        assert (net.sizes, net.n_features) == ((112, 60, 2), 60)
        assert linear(extra["adversary"]) == [(60, 50), (50, 2)] * 2
    net, extra = nets["ffvae"]
    assert net.sizes == (60, 200, 2)
    assert linear(extra["encoder"])[0] == (112, 200)
    assert linear(extra["decoder"]) == [(60, 200), (200, 112)]
    assert linear(extra["discriminator"]) == [(60, 200), (200, 2)]
    recipes = {method.name: dict(method.recipe) for method in study.methods}
    assert recipes["cfair"] == recipes["cfair-eo"] == {"optimizer": "adadelta", "rate": 1.0}
    assert Counter(map(len, recipes.values())) == {2: 2, 0: 6}


@pytest.mark.slow
def test_small_forms_run_to_their_end(study, tmp_path):
    run_study(study, Options(out=str(tmp_path), device="cpu", workers=1, smoke=True))
    with Store.open(tmp_path) as store:
        frame = Frame(store)
        assert frame.done.all(), frame.failures
        assert {*frame.columns["method"]} == {method.name for method in study.methods}
        for key in (study.report.accuracy, *study.report.metrics):
            for part in study.parts:
                values = frame.values(part, key)
                assert ((values >= 0) & (values <= 1)).all(), (part, key)
