"""Training on real data beside published numbers: `python tools/real_checks.py adult|fairface [--out FILE]`.

adult: the plain MLP of S4 (d-100-64, 64-32-2, dropout 0.25; Adam 1e-3, weight decay 1e-5, cosine, 50 epochs,
batch 256) on five random splits, beside the paper's row "Normal". fairface: gender from 32 px images with
race protected; ERM, weighting and Group DRO, three seeds each (needs fairface32.npz in EVENHAND_DATA, and
Pillow).
"""

from __future__ import annotations

import argparse
import json
import time
from pathlib import Path
from typing import Any

import torch

import evenhand

PAPER = {"accuracy": 0.8611, "delta_eopp": 0.0665, "delta_eo": 0.1545}  # S4, Table 3, Normal


def summary(audit: evenhand.Audit, keys: tuple[str, ...]) -> dict[str, Any]:
    """Mean, deviation and range over runs, and the interval over rows and runs."""
    found = {}
    for key in keys:
        value = audit.metrics[key]
        runs = value.runs
        spread = {} if runs is None else {"std": runs.std, "min": runs.min, "max": runs.max}
        found[key] = {"mean": value.value, "low": value.low, "high": value.high, **spread}
    low, high = audit.overall.intervals["accuracy"]
    found["accuracy"] = {"mean": audit.overall.rates["accuracy"], "low": low, "high": high}
    return found


def adult(device: str) -> list[dict[str, Any]]:
    """S4's plain network on five splits."""
    tasks = [evenhand.load("adult", preparation="s4", seed=seed) for seed in range(5)]
    start = time.perf_counter()
    fitted = evenhand.fit(
        "s4-mlp", "erm", tasks, seeds=5, epochs=50, batch_size=256, rate=1e-3, weight_decay=1e-5,
        schedule="cosine", device=device,
    )  # fmt: skip
    row = {"method": "erm", "seconds": time.perf_counter() - start, "paper": PAPER}
    return [row | summary(fitted.audit(), ("delta_eopp", "delta_eo"))]


def fairface(device: str) -> list[dict[str, Any]]:
    """Three methods on faces."""
    task = evenhand.load("fairface", target="gender", form="npz32")
    found = []
    for method in ("erm", "w-erm", "gdro"):
        start = time.perf_counter()
        fitted = evenhand.fit(
            "convnet", method, task, seeds=3, protect="race", epochs=15, batch_size=128, rate=1e-3,
            weight_decay=1e-4, optimizer="adamw", schedule="cosine", augment="flip", keep="best",
            device=device, compile=False,
        )  # fmt: skip
        row = {"method": method, "seconds": time.perf_counter() - start}
        found.append(row | summary(fitted.audit(), ("accuracy.worst", "accuracy.gap", "tpr.gap", "fpr.gap")))
        print(found[-1], flush=True)
    return found


def main() -> None:
    """Run one check."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("check", choices=("adult", "fairface"))
    parser.add_argument("--device", default="auto")
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    rows = {"adult": adult, "fairface": fairface}[options.check](options.device)
    where = torch.cuda.get_device_name() if torch.cuda.is_available() and options.device != "cpu" else "CPU"
    text = json.dumps(
        {"check": options.check, "device": where, "torch": torch.__version__, "rows": rows}, indent=1
    )
    print(text)
    if options.out:
        options.out.parent.mkdir(parents=True, exist_ok=True)
        options.out.write_text(text + "\n")


if __name__ == "__main__":
    main()
