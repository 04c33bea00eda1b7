"""A small CelebA in the published layout: two dozen images of plain colour, labels drawn from a seed."""

import zipfile

import numpy as np

NAMES = ("5_o_Clock_Shadow", "Attractive", "Chubby", "Eyeglasses", "Male")
COUNT, EACH = 24, 3  # images, and images of one person


def make(folder, *, count=COUNT, zipped=False, published=False):
    """Write it: unpacked or with the archive; all in one folder, or as published in Anno, Eval and Img."""
    from PIL import Image

    draw = np.random.default_rng(0)
    files = [f"{number:06d}.jpg" for number in range(1, count + 1)]
    values = draw.choice([-1, 1], (count, len(NAMES)))
    values[:4] = np.array([[-1, -1], [-1, 1], [1, -1], [1, 1]]).repeat(3, axis=1)[:, : len(NAMES)]
    places = {
        name: folder / place if published else folder
        for name, place in (("Anno", "Anno"), ("Eval", "Eval"), ("Img", "Img"))
    }
    for place in places.values():
        place.mkdir(parents=True, exist_ok=True)
    lines = [
        f"{file} " + " ".join(f"{value:2d}" for value in row) for file, row in zip(files, values, strict=True)
    ]
    (places["Anno"] / "list_attr_celeba.txt").write_text(
        "\n".join([str(count), " ".join(NAMES) + " ", *lines]) + "\n", encoding="utf-8"
    )
    (places["Anno"] / "identity_CelebA.txt").write_text(
        "".join(f"{file} {2880 + number // EACH}\n" for number, file in enumerate(files)), encoding="utf-8"
    )
    parts = [0 if number < count - 6 else 1 if number < count - 3 else 2 for number in range(count)]
    (places["Eval"] / "list_eval_partition.txt").write_text(
        "".join(f"{file} {part}\n" for file, part in zip(files, parts, strict=True)), encoding="utf-8"
    )
    images = places["Img"] / "img_align_celeba"
    images.mkdir()
    for file in files:
        colour = tuple(int(value) for value in draw.integers(0, 256, 3))
        Image.new("RGB", (178, 218), colour).save(images / file, quality=95)
    if zipped:
        with zipfile.ZipFile(places["Img"] / "img_align_celeba.zip", "w") as archive:
            for file in files:
                archive.write(images / file, f"img_align_celeba/{file}")
                (images / file).unlink()
        images.rmdir()
    return folder
