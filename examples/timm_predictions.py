"""Prediction files of timm's ImageNet models, and every model against every other (S2, Figure 3 and Table 2).

    pip install timm
    python examples/timm_predictions.py imagenet/val predictions [MODEL ...]
    evenhand compare predictions/*.csv --label y --prediction p --key image --html zoo.html

`imagenet/val` has a folder of images for each of the 1000 classes, such as n01440764: a folder's place in
their order is its class, so that with one missing all behind it would be others, and the script stops. Labels
and predictions are written by the folder's name, which a comparison then says. `predictions/zoo.md` is the
table of the models as the paper prints it: top-1, top-5, size of images, parameters, the most accurate first.
The first file is the base of the comparison; its page has the matrices of top-1, CEV and SDE. timm is no
dependency of evenhand, and ImageNet is not ours to pass on: with its images nobody has run this script here.
With those of twelve made-up classes it runs with timm 1.0.31, whose weights behind a name without a tag are
often newer ones than the paper's; with the tags below sizes and parameters are those of its Table 2.
"""

from __future__ import annotations

import argparse
import csv
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import torch

PAPER = (
    "efficientnet_b2.ra_in1k", "efficientnet_b1.ft_in1k", "efficientnet_b1_pruned.in1k",
    "mobilenetv3_large_100.miil_in21k_ft_in1k", "mobilenetv2_120d.ra_in1k", "mobilenetv3_large_100.ra_in1k",
    "mobilenetv3_rw.rmsp_in1k", "mobilenetv2_110d.ra_in1k", "pit_ti_distilled_224.in1k",
    "deit_tiny_distilled_patch16_224.fb_in1k", "mobilenetv2_100.ra_in1k", "resnet18.tv_in1k",
)  # fmt: skip
HEADS = ("image", "y", "p", "in_top5")
Model = tuple[str, float, float, int, int]  # name, top-1, top-5, size of images, parameters


def predictions(model: torch.nn.Module, batches: Any, device: str) -> Iterator[tuple[int, int, bool]]:
    """True class, predicted class, and whether the true one is among the five highest, row by row."""
    model = model.to(device).eval()
    with torch.inference_mode():
        for x, y in batches:
            five = model(x.to(device)).topk(5).indices.cpu()
            inside = (five == y[:, None]).any(dim=1)
            yield from zip(y.tolist(), five[:, 0].tolist(), inside.tolist(), strict=True)


def write(path: Path, names: Sequence[str], rows: Sequence[tuple[object, object, bool]]) -> None:
    """One line for each image."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(HEADS)
        writer.writerows((name, y, p, int(top)) for name, (y, p, top) in zip(names, rows, strict=True))


def check_classes(name: str, model: Any, data: Any) -> None:
    """Refuse images whose classes are numbered otherwise than the model's."""
    found = len(data.reader.class_to_idx)
    if found != model.num_classes:
        raise SystemExit(
            f"{name} tells {model.num_classes:,} classes and the images are in {found:,} folders; a folder's "
            "place in their order is its class, so there must be one for each"
        )


def run(name: str, images: Path, out: Path, device: str, batch: int, workers: int) -> Model:
    """Write the file of one model; its line of the table: top-1, top-5, size of images, parameters."""
    import timm

    model = timm.create_model(name, pretrained=True)
    # some models are tested on larger images than they were trained on
    config = timm.data.resolve_model_data_config(model, use_test_size=True)
    data = timm.data.ImageDataset(str(images), transform=timm.data.create_transform(**config))
    check_classes(name, model, data)
    loader = torch.utils.data.DataLoader(data, batch_size=batch, num_workers=workers)
    places = data.reader.class_to_idx
    folders = sorted(places, key=places.get)
    rows = [(folders[y], folders[p], top) for y, p, top in predictions(model, loader, device)]
    write(out / f"{name}.csv", data.filenames(basename=True), rows)
    top1, top5 = (sum(hits) / len(rows) for hits in zip(*((y == p, top) for y, p, top in rows), strict=True))
    parameters = sum(weights.numel() for weights in model.parameters())
    return name, top1, top5, config["input_size"][-1], parameters


def zoo(models: Sequence[Model]) -> str:
    """The table of the models as the paper's Table 2, the most accurate first."""
    lines = [
        "| Index | Model | Top-1 | Top-5 | Input size | Parameters, M |",
        "|---:|---|---:|---:|---:|---:|",
    ]
    for index, one in enumerate(sorted(models, key=lambda one: -one[1])):
        name, top1, top5, size, parameters = one
        lines.append(f"| {index} | {name} | {top1:.5f} | {top5:.5f} | {size} | {parameters / 1e6:.2f} |")
    return "\n".join(lines) + "\n"


def main() -> int:
    """Every model in turn; 2 where timm is not installed."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("images", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("models", nargs="*", default=list(PAPER))
    parser.add_argument("--device", default="cuda" if torch.cuda.is_available() else "cpu")
    parser.add_argument("--batch", type=int, default=128)
    parser.add_argument("--workers", type=int, default=4)
    chosen = parser.parse_args()
    try:
        import timm  # noqa: F401
    except ImportError:
        sys.stderr.write("this script needs timm: pip install timm\n")
        return 2
    done: list[Model] = []
    for name in chosen.models:
        done.append(run(name, chosen.images, chosen.out, chosen.device, chosen.batch, chosen.workers))
        (chosen.out / "zoo.md").write_text(zoo(done), encoding="utf-8")  # whatever happens to the next one
        print(zoo(done[-1:]).splitlines()[-1], flush=True)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
