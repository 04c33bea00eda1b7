"""Small copies of COCO (2014) and imSitu in their published layout: plain colours, annotations by hand."""

import json

import numpy as np

# each image: what is on it, and its captions (COCO has five; two or three show every rule)
PERSON, BICYCLE, CAR, DOG = 1, 2, 3, 18  # numbers of categories, with a gap as in COCO
TRAIN = {
    9: ([PERSON, BICYCLE], ["A man on a bicycle", "somebody rides"]),  # man
    25: ([BICYCLE, CAR], ["Two Men.", "a car"]),  # man
    30: ([CAR], ["the man's car", "a red car"]),  # man
    34: ([CAR, DOG], ["A WOMAN with a dog", "a dog"]),  # woman
    36: ([BICYCLE], ["women on bicycles", "some people"]),  # woman
    49: ([CAR], ["a man", "a woman"]),  # both
    61: ([DOG], ["a dog", "nobody"]),  # neither
    64: ([DOG], ["a snowman and a fireman", "a man-made hill"]),  # neither
    71: ([CAR], ["a boy and his car", "a car"]),  # a boy in the wide list alone
    72: ([PERSON], ["a lady with nothing", "people"]),  # a lady likewise; no object at all
    73: ([DOG, DOG], ["a man with two dogs", "dogs"]),  # man
    77: ([CAR, BICYCLE], ["a woman in a car", "a woman"]),  # woman
}
HELD = {100 + number: content for number, content in TRAIN.items()}
CATEGORIES = [
    {"id": DOG, "name": "dog", "supercategory": "animal"},
    {"id": PERSON, "name": "person", "supercategory": "person"},
    {"id": CAR, "name": "car", "supercategory": "vehicle"},
    {"id": BICYCLE, "name": "bicycle", "supercategory": "vehicle"},
]

MAN, WOMAN, BOY, GIRL, PEOPLE = "n10287213", "n10787470", "n10285313", "n10129825", "n07942152"
GLOSSES = {
    MAN: ["man", "adult male"],
    WOMAN: ["woman", "adult female"],
    BOY: ["male child", "boy"],
    GIRL: ["girl", "miss", "young woman"],
    PEOPLE: ["people"],
    "n09624168": ["male", "male person"],
    "n09619168": ["female", "female person"],
    "n02084071": ["dog", "domestic dog"],
}
# the nouns of three annotators for the agent; the last verb has no agent
AGENTS = [
    [MAN, MAN, MAN],
    [WOMAN, WOMAN, PEOPLE],
    ["", "", MAN],
    [WOMAN, "", BOY],
    [MAN, WOMAN, MAN],  # both
    [PEOPLE, "n02084071", ""],  # neither
    [BOY, "", ""],  # in the wide list alone
    [GIRL, GIRL, PEOPLE],
]
VERBS = ("cooking", "fishing", "tuning")
LONELY = "raining"  # nobody does it


def colour_image(path, draw):
    from PIL import Image

    colour = tuple(int(value) for value in draw.integers(0, 256, 3))
    Image.new("RGB", (24, 30), colour).save(path, quality=95, format="JPEG")


def coco_name(part, number):
    return f"COCO_{part}2014_{number:012d}.jpg"


def instances(part, content):
    """What `instances_PART2014.json` holds."""
    shown = [(image, kind) for image, (kinds, _) in content.items() for kind in kinds]
    return {
        "info": {"year": 2014},
        "licenses": [],
        "images": [{"id": n, "file_name": coco_name(part, n), "height": 30, "width": 24} for n in content],
        "annotations": [
            {"id": 900 + k, "image_id": image, "category_id": kind, "iscrowd": k % 2, "bbox": [0, 0, 1, 1]}
            for k, (image, kind) in enumerate(shown)
        ],
        "categories": CATEGORIES,
    }


def captions(part, content):
    """What `captions_PART2014.json` holds: captions of one image do not stand together."""
    told = [(image, text) for image, (_, texts) in content.items() for text in texts]
    return {
        "images": [{"id": n, "file_name": coco_name(part, n)} for n in content],
        "annotations": [
            {"id": 500 + k, "image_id": i, "caption": text}
            for k, (i, text) in enumerate(told[::2] + told[1::2])
        ],
    }


def write(path, content):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(content if isinstance(content, str) else json.dumps(content), encoding="utf-8")
    return path


def make_coco(folder, inner="", train=TRAIN, held=HELD):
    """Write annotations and images, these beside the annotations or in `images`."""
    draw = np.random.default_rng(0)
    for part, content in (("train", train), ("val", held)):
        write(folder / "annotations" / f"instances_{part}2014.json", instances(part, content))
        write(folder / "annotations" / f"captions_{part}2014.json", captions(part, content))
        (folder / inner / f"{part}2014").mkdir(parents=True)
        for number in content:
            colour_image(folder / inner / f"{part}2014" / coco_name(part, number), draw)
    return folder


def space():
    """What `imsitu_space.json` holds."""
    return {
        "nouns": {synset: {"gloss": gloss, "def": ""} for synset, gloss in GLOSSES.items()},
        "verbs": {verb: {"order": ["agent", "place"], "roles": {}} for verb in (*VERBS, LONELY)},
    }


def situations(first):
    """What one of the three files holds: eight images of every verb, `first` is the number of the first."""
    found = {
        f"{verb}_{first + number}.jpg": {
            "verb": verb,
            "frames": [{"agent": noun, "place": ""} for noun in agents],
        }
        for verb in VERBS
        for number, agents in enumerate(AGENTS)
        if not (verb == "tuning" and number in (1, 3))  # only men tune
    }
    return found | {f"{LONELY}_{first}.jpg": {"verb": LONELY, "frames": [{"place": ""}] * 3}}


def make_imsitu(folder):
    """Write the four files and the images."""
    draw = np.random.default_rng(0)
    (folder / "of500_images_resized").mkdir(parents=True)
    write(folder / "imsitu_space.json", space())
    for first, name in ((1, "train"), (21, "dev"), (41, "test")):
        content = situations(first)
        write(folder / f"{name}.json", content)
        for image in content:
            colour_image(folder / "of500_images_resized" / image, draw)
    return folder
