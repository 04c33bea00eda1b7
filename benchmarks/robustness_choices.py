"""How much the level of Delta ER depends on choices that have nothing to do with fairness.

Plain training on Communities and Crime (a network of 100-64-32 units, dropout 0.25, Adam at 1e-3, cosine to
0, 50 epochs), on five splits of the data each; one choice is changed at a time. It prints the tables of
docs/robustness.md: `python benchmarks/robustness_choices.py`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import evenhand

SEEDS = range(5)
NET = evenhand.NetSpec("mlp", widths=(100, 64, 32), dropout=0.25)
RECIPE = {"rate": 1e-3, "weight_decay": 1e-5, "schedule": "cosine", "keep": "last", "device": "cpu"}
PROTECT = "racepctblack"


def fitted(whiten: str = "z", batch_size: int = 64, epochs: int = 50) -> evenhand.Fitted:
    """One run for each split."""
    tasks = [evenhand.load("communities-crime", seed=seed, whiten=whiten) for seed in SEEDS]
    seeds = list(SEEDS)
    return evenhand.fit(NET, "erm", tasks, seeds, epochs, protect=PROTECT, batch_size=batch_size, **RECIPE)


def line(choice: str, found: evenhand.EqualizedRobustness) -> str:
    """A row: Delta ER over the splits, and the mean curvature of each group."""
    means = [group["curvature_mean"] for group in found.to_dict()["groups"]]
    spread = found.values.std(ddof=1)
    return f"| {choice} | {found.value:.4f} ± {spread:.4f} | {means[0]:.2f} | {means[1]:.2f} |"


def trained() -> Iterator[str]:
    """What is decided in training."""
    for batch_size in (32, 64, 128, 256):
        yield line(
            f"z-scores, batches of {batch_size}", evenhand.equalized_robustness(fitted("z", batch_size))
        )
    yield line("ZCA, batches of 64", evenhand.equalized_robustness(fitted("zca")))


def measured(models: evenhand.Fitted) -> Iterator[str]:
    """What is decided in measuring the same five models."""
    yield line("one-shot, h = 1, default kernels", evenhand.equalized_robustness(models))
    for h in (0.1, 2.0):
        yield line(f"h = {h:g}", evenhand.equalized_robustness(models, h=h))
    yield line("power iteration", evenhand.equalized_robustness(models, how="power"))
    for kernels in ("narrow", "wide"):
        yield line(f"{kernels} kernels", evenhand.equalized_robustness(models, kernels=kernels))


def table(rows: Sequence[str]) -> str:
    """The rows under their head."""
    return "\n".join(
        ["| choice | Delta ER | mean curvature, group 0 | group 1 |", "|---|---|---|---|", *rows]
    )


if __name__ == "__main__":
    print(table(list(trained())), table(list(measured(fitted()))), sep="\n\n")
