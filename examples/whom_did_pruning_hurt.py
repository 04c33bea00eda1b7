"""I pruned my model; whom did it hurt? Two modules in, the classes and groups that paid out.

python examples/whom_did_pruning_hurt.py                        # prints
python examples/whom_did_pruning_hurt.py --html comparison.html    # and writes the report
"""

from __future__ import annotations

import argparse
from pathlib import Path

import torch
from torch import nn

import evenhand


def trained(x: torch.Tensor, y: torch.Tensor) -> nn.Module:
    """A network of one's own, trained as one does."""
    torch.manual_seed(0)
    model = nn.Sequential(
        nn.Conv2d(1, 8, 3, stride=2), nn.BatchNorm2d(8), nn.ReLU(),
        nn.Conv2d(8, 16, 3, stride=2), nn.BatchNorm2d(16), nn.ReLU(), nn.Flatten(), nn.Linear(576, 10),
    )  # fmt: skip
    optimizer = torch.optim.Adam(model.parameters(), 0.003)
    for _ in range(2):
        for rows in torch.randperm(len(x)).split(100):
            optimizer.zero_grad()
            nn.functional.cross_entropy(model(x[rows]), y[rows]).backward()
            optimizer.step()
    return model.eval()


def main() -> None:
    """Digits of which three are rare in training; the groups are how much ink a picture has."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--html", type=Path, help="where to write the report")
    options = parser.parse_args()
    task = evenhand.load("mnist-under")
    x, train, test = task.x.float() / 255, task.rows("train"), task.rows("test")
    model = trained(x[train], task.y[train])
    pruned = evenhand.compress(model, "magnitude", 0.5)

    ink = task.attribute("ink")
    groups = {"ink": [ink.levels[code] for code in ink.codes[test]]}
    found = evenhand.compare_modules({"whole": model, "pruned": pruned}, x[test], task.y[test], groups)

    print(f"accuracy {found.accuracy['whole']:.3f} -> {found.accuracy['pruned']:.3f}; "
          f"CEV {found.cev['pruned']:.2f}, SDE {found.sde['pruned']:.2f}")  # fmt: skip
    paid = found.paid["pruned"]
    for one in paid.shown:  # shown after Holm's correction; the largest loss first
        print(f"paid: {one.name:6} {one.base:.3f} -> {one.value:.3f}, {one.difference:+.3f} "
              f"({one.low:+.3f} to {one.high:+.3f}), p {one.p:.2g}")  # fmt: skip
    spared = [one.name for one in (*paid.classes, *paid.groups) if one.verdict == "not shown"]
    print(f"not shown to have moved: {', '.join(spared) or 'none'}")
    for group in paid.groups:  # how unevenly the classes of a group were hit
        cev = (group.pairs or {})["cev"]
        ends = f"{cev.low:.2f} to {cev.high:.2f}"
        print(f"{group.name}: CEV {cev:.2f} ({ends}), {cev.skipped} of its classes left out")
    if options.html is not None:
        options.html.write_text(found.to_html(), encoding="utf-8")
        print(f"the report is in {options.html}")


if __name__ == "__main__":
    main()
