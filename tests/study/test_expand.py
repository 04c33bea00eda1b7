"""The runs of a study: all combinations in order, nothing left open, each known by what it is."""

import json
import math
import time
from dataclasses import asdict, fields, replace
from pathlib import Path

import numpy as np
import pytest

from evenhand import __version__
from evenhand.data.registry import load
from evenhand.errors import InputError
from evenhand.study.expand import expand, expand_with_notes
from evenhand.study.records import PlannedRun, identity
from evenhand.study.search import settings_of
from evenhand.study.spec import (
    Grid,
    GroupingSpec,
    MethodSpec,
    NetEntry,
    Search,
    SelectionSpec,
    Study,
    TaskSpec,
)
from evenhand.study.tasks import data_checksum
from evenhand.train.recipe import Recipe

TITANIC = TaskSpec("titanic", knobs={"validation": 0.2})
STUDY = Study(
    "s",
    tasks=(TITANIC, TaskSpec("synthetic", knobs={"n_train": 100, "n_validation": 50, "n_test": 50})),
    groupings=(
        GroupingSpec(("sex",), tasks=("titanic",)),
        GroupingSpec(("sex", "age_group"), tasks=("titanic",), measure=(("pclass",), ("sex",))),
        GroupingSpec(("a0",), tasks=("synthetic",)),
    ),
    methods=(MethodSpec("erm"), MethodSpec("gdro", fields={"eta": Grid((1, 0.1))})),
    seeds=(0, 1),
)


def one(study: Study = STUDY, **changes: object) -> list[PlannedRun]:
    return expand(replace(study, **changes))


def test_runs_come_by_task_grouping_net_method_setting_and_seed():
    study = replace(STUDY, nets=(NetEntry("mlp"), NetEntry("mlp", "small", {"widths": [4]}, ("titanic",))))
    runs = expand(study)
    told = [(run.task, run.grouping, run.net, run.method, dict(run.setting), run.spec.seed) for run in runs]
    methods = [("erm", {}), ("gdro", {"eta": 1.0}), ("gdro", {"eta": 0.1})]
    problems = [
        ("titanic", "sex", "mlp"), ("titanic", "sex", "small"), ("titanic", "sex × age_group", "mlp"),
        ("titanic", "sex × age_group", "small"), ("synthetic", "a0", "mlp"),
    ]  # fmt: skip
    assert told == [
        (*problem, *method, seed) for problem in problems for method in methods for seed in (0, 1)
    ]
    assert [run.place for run in runs] == list(range(30))
    assert len({run.id for run in runs}) == 30


def test_a_specification_leaves_nothing_open():
    study = replace(
        STUDY,
        recipe={"epochs": 3, "batch_size": 32, "rate": 1},
        tasks=(replace(TITANIC, recipe={"batch_size": 64, "clip": 2.0}),),
        groupings=STUDY.groupings[1:2],
        methods=(MethodSpec("gdro", fields={"by": "group"}, recipe={"clip": 3.0}),),
    )
    spec = expand(study)[0].spec
    assert set(spec.recipe) == {item.name for item in fields(Recipe)}
    assert [spec.recipe[name] for name in ("epochs", "batch_size", "rate", "clip")] == [3, 64, 1.0, 3.0]
    assert isinstance(spec.recipe["rate"], float)  # 1 and 1.0 are one run
    assert spec.fields == {"eta": 0.01, "adjustment": 0.0, "by": "group", "balanced": True}
    assert (spec.net, spec.net_options) == ("s4-mlp", {"dropout": 0.25, "split": None})
    assert spec.protect == ("sex", "age_group")
    assert spec.groupings == (("sex", "age_group"), ("pclass",), ("sex",), ("age_group",))
    assert spec.parts == ("validation", "test")
    assert asdict(Recipe.of(**spec.recipe)) == {
        **asdict(Recipe()),
        "epochs": 3,
        "batch_size": 64,
        "rate": 1.0,
        "clip": 3.0,
    }


def test_a_run_survives_json_and_its_identity_is_that_of_the_records():
    for run in expand(STUDY):
        assert PlannedRun.from_dict(json.loads(json.dumps(run.to_dict()))) == run
        assert run.id == identity(run.spec, __version__, run.data_checksum)
    other = expand(STUDY, version="99")
    assert {run.id for run in other} & {run.id for run in expand(STUDY)} == set()


def test_data_is_loaded_once_and_named_by_its_checksum():
    loaded = []

    def task_of(data, knobs):
        loaded.append((data, dict(knobs)))
        return load(data, **knobs)

    runs = expand(STUDY, task_of=task_of)
    assert loaded == [("titanic", {"validation": 0.2}), ("synthetic", dict(STUDY.tasks[1].knobs))]
    assert {run.data_checksum for run in runs if run.task == "titanic"} == {
        data_checksum(load("titanic", validation=0.2))
    }
    told = expand(STUDY, task_of=task_of, checksum_of=lambda task: task.name)
    assert {run.data_checksum for run in told} == {"titanic", "synthetic"}


def test_seeded_knobs_take_the_seed_of_the_run():
    study = replace(
        STUDY, tasks=(replace(TITANIC, seeded=("seed",)),), groupings=STUDY.groupings[:1], seeds=(3, 8)
    )
    runs = expand(study)
    assert {(run.spec.seed, run.spec.knobs["seed"]) for run in runs} == {(3, 3), (8, 8)}
    assert len({run.data_checksum for run in runs}) == 2


def test_a_task_without_validation_rows_is_measured_where_it_can_be():
    study = replace(
        STUDY, tasks=(TaskSpec("titanic"),), groupings=STUDY.groupings[:1], methods=STUDY.methods[:1]
    )
    assert expand(study)[0].spec.parts == ("test",)


def test_images_get_a_network_for_images():
    study = replace(
        STUDY,
        tasks=(TaskSpec("mnist"),),
        groupings=(GroupingSpec(("ink_in_class",)),),
        methods=STUDY.methods[:1],
    )
    assert expand(study)[0].net == "convnet"


def test_the_same_run_twice_is_made_once_and_noted():
    methods = (
        MethodSpec("erm"),
        MethodSpec("erm", "again"),
        MethodSpec("gdro", fields={"eta": Grid((0.01, 1))}),
    )
    found = expand_with_notes(
        replace(STUDY, tasks=(TITANIC,), groupings=STUDY.groupings[:1], methods=methods)
    )
    assert [run.method for run in found.runs] == ["erm", "erm", "gdro", "gdro", "gdro", "gdro"]
    assert found.notes == (
        "2 runs of titanic by sex, s4-mlp, again would be the same as of titanic by sex, s4-mlp, erm and are "
        "made once",
    )
    assert [run.place for run in found.runs] == list(range(6))


def test_a_smoke_form_has_at_most_so_many_settings():
    study = replace(STUDY, options={"settings": 1})
    assert {json.dumps(run.setting) for run in expand(study) if run.method == "gdro"} == {'{"eta": 1.0}'}


def test_a_replay_has_nothing_to_train():
    with pytest.raises(InputError, match="is a replay: it has no runs to be trained"):
        expand(Study("r", kind="replay"))


def test_ones_own_method_and_table(tmp_path):
    code = (
        "from dataclasses import dataclass\nfrom evenhand.methods.erm import ERM\n"
        "@dataclass(frozen=True)\nclass Mine(ERM):\n    weight: float = 1.0\n"
    )
    (tmp_path / "own.py").write_text(code, encoding="utf-8")
    rows = [f"{20 + i},{'fm'[i % 2]},{['no', 'yes'][i % 3 == 0]}" for i in range(40)]
    (tmp_path / "loans.csv").write_text("\n".join(["age,sex,paid", *rows]), encoding="utf-8")
    study = Study(
        "s",
        tasks=(TaskSpec(f"table:{tmp_path}/loans.csv", knobs={"label": "paid", "attributes": ["sex"]}),),
        groupings=(GroupingSpec(("sex",)),),
        methods=(MethodSpec(f"{tmp_path}/own.py:Mine", fields={"weight": 2}),),
    )
    run = expand(study)[0]
    assert (run.task, run.method, run.spec.fields) == ("loans", "Mine", {"weight": 2.0})
    assert list(run.spec.sources) == [f"{tmp_path}/own.py"]
    (tmp_path / "own.py").write_text(code + "# changed\n", encoding="utf-8")
    assert expand(study)[0].id != run.id  # another file is another method
    (tmp_path / "loans.csv").write_text("\n".join(["age,sex,paid", *rows[::-1]]), encoding="utf-8")
    from evenhand.study import tasks

    tasks._kept.clear()
    assert expand(study)[0].data_checksum != run.data_checksum


# ---- random search


def points(spec: MethodSpec, seed: int = 0) -> list[dict[str, float]]:
    return [dict(setting.varied) for setting in settings_of(spec, seed)]


GAP = MethodSpec("gap", "gap", {"lam": Search()}, draws=4)


def test_more_draws_and_other_fields_leave_the_earlier_points_as_they_are():
    first = points(GAP)
    assert points(replace(GAP, draws=9))[:4] == first
    wider = replace(GAP, fields={"momentum": Search(0.1, 0.9, False), "lam": Search()})
    assert [point["lam"] for point in points(wider)] == [point["lam"] for point in first]
    assert points(replace(GAP, name="other")) != first
    assert points(GAP, seed=1) != first


def test_another_method_changes_nothing():
    study = replace(STUDY, tasks=(TITANIC,), groupings=STUDY.groupings[:1], methods=(GAP,))
    more = replace(study, methods=(MethodSpec("sd", fields={"lam": Search()}, draws=3), GAP))
    assert {run.id for run in expand(study)} < {run.id for run in expand(more)}


def test_points_are_spread_evenly_over_the_logarithm():
    found = np.array([point["lam"] for point in points(replace(GAP, draws=2000))])
    assert found.min() >= 0.1
    assert found.max() <= 10.0
    assert len(set(found)) > 1990
    share = np.log(found / 0.1) / math.log(100)
    assert abs(share.mean() - 0.5) < 4 / math.sqrt(12 * 2000)  # four standard errors
    assert abs(np.mean(share < 0.25) - 0.25) < 4 * math.sqrt(0.25 * 0.75 / 2000)


def test_a_linear_range_and_whole_numbers():
    spec = MethodSpec(
        "gap", "g", {"momentum": Search(0.0, 0.8)}, {"batch_size": Search(16, 64, False)}, draws=300
    )
    found = points(spec)
    assert abs(np.mean([point["momentum"] for point in found]) - 0.4) < 4 * 0.8 / math.sqrt(12 * 300)
    sizes = {point["recipe.batch_size"] for point in found}
    assert all(isinstance(size, int) for size in sizes)
    assert {min(sizes), max(sizes)} <= set(range(16, 65))


def test_grids_are_crossed_with_each_point_of_a_search():
    spec = replace(
        GAP,
        fields={"target": Grid(("odds", "parity")), "lam": Search()},
        recipe={"rate": Grid((1, 2))},
        draws=2,
    )
    found = points(spec)
    assert len(found) == 2 * 2 * 2
    assert [(point["target"], point["recipe.rate"]) for point in found[:4]] == [
        ("odds", 1.0), ("odds", 2.0), ("parity", 1.0), ("parity", 2.0),
    ]  # fmt: skip
    assert len({point["lam"] for point in found[:4]}) == 1
    assert list(found[0]) == ["target", "lam", "recipe.rate"]


def test_twenty_thousand_runs_are_there_in_seconds():
    study = replace(
        STUDY,
        tasks=(TITANIC,),
        groupings=STUDY.groupings[:1],
        methods=tuple(replace(GAP, name=f"gap {n}", draws=100) for n in range(10)),
        seeds=tuple(range(20)),
    )
    start = time.perf_counter()
    assert len(expand(study)) == 20_000
    assert time.perf_counter() - start < 15  # about 2.5 where nothing else runs


def test_a_file_that_has_gone_leaves_mistakes_without_lines():
    study = replace(STUDY, source=str(Path("/no/such/study.toml")), groupings=(GroupingSpec(("sexx",)),))
    with pytest.raises(
        InputError, match=r"^grouping 'sexx', attributes: the task 'titanic' has no attribute 'sexx'"
    ):
        expand(study)


def test_networks_limited_to_methods_share_a_name():
    study = Study(
        "s", tasks=(TaskSpec("titanic"),), groupings=(GroupingSpec(("sex",)),), parts=("test",),
        methods=(MethodSpec("erm"), MethodSpec("gdro")), seeds=(0, 1),
        nets=(NetEntry("mlp", "small", {"widths": [8]}, methods=("erm",)),
              NetEntry("s4-mlp", "small", methods=("gdro",))),
        selection=SelectionSpec(part="test"),
    )  # fmt: skip
    runs = expand(study)
    assert [(run.method, run.net, run.spec.net) for run in runs[::2]] == [
        ("erm", "small", "mlp"), ("gdro", "small", "s4-mlp"),
    ]  # fmt: skip
    assert len(runs) == 4
    clash = replace(study, nets=(study.nets[0], replace(study.nets[1], methods=())))
    with pytest.raises(InputError, match="2 nets called 'small'"):
        expand(clash)
    lacking = replace(study, nets=study.nets[:1])
    with pytest.raises(InputError, match="no \\[\\[net\\]\\] is for the method 'gdro'"):
        expand(lacking)
