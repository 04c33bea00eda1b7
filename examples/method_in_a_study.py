"""The method of my_method.py beside two others, on digits whose colour nearly gives the label away.

A small form of the study `ci-mnist`, in seconds. The whole of it:
`evenhand study run ci-mnist --add examples/my_method.py:MeanDifference`.
"""

import tempfile
from pathlib import Path

from evenhand.study.driver import Options, run_study
from evenhand.study.frame import Frame
from evenhand.study.select import select
from evenhand.study.spec import Grid, GroupingSpec, MethodSpec, NetEntry, SelectionSpec, Study, TaskSpec
from evenhand.study.store import Store
from evenhand.study.validate import check_study

MINE = f"{Path(__file__).with_name('my_method.py')}:MeanDifference"
DIGITS = {"clr_ratio": (0.1, 0.9), "test_green": "absent", "limit": 2000}  # knobs of Task.ci_mnist
STUDY = Study(
    "my-method",
    tasks=(TaskSpec("ci-mnist", knobs=DIGITS),),
    groupings=(GroupingSpec(("colour",)),),
    nets=(NetEntry("s3-mlp"),),
    methods=(
        MethodSpec("erm", name="mlp"),
        MethodSpec("cfair", fields={"gamma": Grid((0.1, 1.0))}),
        MethodSpec(MINE, name="mine", fields={"lam": Grid((1.0, 10.0))}),
    ),
    recipe={"epochs": 2, "batch_size": 64},
    seeds=(3, 4),
    parts=("validation_balanced", "test"),
    selection=SelectionSpec(metric="dp_score", part="validation_balanced"),
)


def main() -> None:
    """Run the study in a folder of its own and print what was chosen for each method."""
    study = check_study(STUDY)
    with tempfile.TemporaryDirectory() as folder:
        run_study(study, Options(out=folder, device="cpu", workers=1))
        with Store.open(Path(folder)) as store:
            frame = Frame(store)
            for choice in select(frame, study.selection).choices:
                accuracy, parity = (frame.values("test", key)[choice.rows] for key in ("acc", "dp_score"))
                print(
                    f"{choice.candidate.label:18} accuracy {accuracy.mean():.3f}, parity {parity.mean():.3f}"
                )


if __name__ == "__main__":  # the workers of a study import this file
    main()
