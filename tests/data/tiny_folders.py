"""Small copies of UTKFace and ImageNet's People subtree in their published layout: plain colours."""

import json

import numpy as np

# names as they are published, the last three without a field
NAMES = [
    "1_0_0_20161219140623097.jpg.chip.jpg",
    "2_1_0_20161219140642920.jpg.chip.jpg",
    "3_0_2_20161219203650636.jpg.chip.jpg",
    "9_1_3_20161219230013333.jpg.chip.jpg",
    "10_0_1_20170103201607548.jpg.chip.jpg",
    "26_1_2_20170116184024662.jpg.chip.jpg",
    "29_0_4_20170117135034485.jpg.chip.jpg",
    "55_0_0_20170116232725357jpg.chip.jpg",
    "44_1_4_20170116235150272.pg.chip.jpg",
    "69_1_1_20170120133803999.jpg.chip.jpg",
    "70_0_3_20170120133813555.jpg.chip.jpg",
    "116_1_0_20170120134921760.jpg.chip.jpg",
]
SHORT = [
    "61_1_20170109142408075.jpg.chip.jpg",
    "61_3_20170109150557335.jpg.chip.jpg",
    "39_1_20170116174525125.jpg.chip.jpg",
]
SYNSETS = ("n09840520", "n10001217", "n10483530")  # and one without an annotated image
LONELY = "n10787470"


def _image(path, draw):
    from PIL import Image

    colour = tuple(int(value) for value in draw.integers(0, 256, 3))
    Image.new("RGB", (24, 30), colour).save(path, quality=95, format="JPEG")


def make_utkface(folder, names=(*NAMES, *SHORT)):
    """Write the images, all in one folder."""
    draw = np.random.default_rng(0)
    folder.mkdir(parents=True)
    for name in names:
        _image(folder / name, draw)
    return folder


def entries():
    """Annotations: eight images of each of three synsets, known and unknown in many ways."""
    genders = [
        ["male"],
        ["female"],
        ["female", "male"],
        ["male", "female"],
        ["unsure"],
        ["female"],
        [],
        ["male"],
    ]
    skins = [
        ["light"],
        ["dark"],
        ["medium"],
        ["dark", "light"],
        ["light"],
        ["unsure", "dark"],
        ["dark"],
        ["dark"],
    ]
    ages = [["adult"], ["child"], ["over 60"], ["adult"], ["adult"], ["adult"], ["child"], ["adult", "child"]]
    return [
        {"url": f"{synset}_{number}.JPEG", "gender": gender, "skin color": skin, "age": age}
        for synset in SYNSETS
        for number, (gender, skin, age) in enumerate(zip(genders, skins, ages, strict=True))
    ]


def make_imagenet_people(folder, listed=None, inner="images", each=12):
    """Write the folders of the synsets, the annotations and the two tables of image-net.org."""
    draw = np.random.default_rng(0)
    for synset in (*SYNSETS, LONELY):
        (folder / inner / synset).mkdir(parents=True)
        for number in range(each):
            _image(folder / inner / synset / f"{synset}_{number}.JPEG", draw)
    annotations = folder / "ImageNet demographics annotations.json"
    annotations.write_text(json.dumps(entries() if listed is None else listed), encoding="utf-8")
    (folder / "synsets_safety.csv").write_text(
        f"wnid,safety\n{SYNSETS[0]},safe\n{SYNSETS[1]},unsafe\n{SYNSETS[2]},safe\n{LONELY},safe\n",
        encoding="utf-8",
    )
    (folder / "imageability_scores.csv").write_text(
        f"wnid,imageability.score\n{SYNSETS[0]},4.2\n{SYNSETS[1]},5\n{SYNSETS[2]},3.9\n{LONELY},4\n",
        encoding="utf-8",
    )
    return folder
