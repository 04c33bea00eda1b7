"""Drawn faces: pure functions of the row, whatever the batch; every fact shows, and shows where it should."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from importlib.resources import files

import pytest
import torch
from torch import Tensor

from evenhand.data import faces_canvas, faces_draw
from evenhand.data.faces_canvas import WHOLE, Canvas, Part
from evenhand.data.faces_colours import HAIR, with_colours
from evenhand.data.faces_draw import DRAWING, PARTS, draw_faces
from evenhand.data.faces_names import ATTRIBUTES, LISTS
from evenhand.data.faces_traits import Traits
from evenhand.errors import InputError

PLACES = {name: place for place, name in enumerate(ATTRIBUTES)}
Region = tuple[float, float, float, float]  # left, right, top, bottom of the picture, in [-1, 1]
FACE: Region = (-0.60, 0.60, -0.75, 0.72)
HAIR_REGION: Region = (-0.75, 0.75, -0.85, 0.95)
EYES: Region = (-0.45, 0.45, -0.45, 0.12)
LOW: Region = (-0.60, 0.60, -0.15, 0.70)
NECK: Region = (-0.55, 0.55, 0.50, 1.0)
ALL: Region = (-1.0, 1.0, -1.0, 1.0)
REGIONS: dict[str, Region] = {
    "5_o_Clock_Shadow": LOW,
    "Arched_Eyebrows": EYES,
    "Attractive": ALL,
    "Bags_Under_Eyes": (-0.45, 0.45, -0.15, 0.15),
    "Bald": HAIR_REGION,
    "Bangs": (-0.60, 0.60, -0.75, -0.10),
    "Big_Lips": (-0.35, 0.35, 0.05, 0.50),
    "Big_Nose": (-0.25, 0.25, -0.20, 0.30),
    **dict.fromkeys(HAIR, HAIR_REGION),
    "Blurry": ALL,
    "Bushy_Eyebrows": EYES,
    "Chubby": ALL,
    "Double_Chin": (-0.60, 0.60, 0.30, 0.75),
    "Eyeglasses": (-0.65, 0.65, -0.35, 0.15),
    "Goatee": (-0.25, 0.25, 0.25, 0.65),
    "Heavy_Makeup": EYES,
    "High_Cheekbones": (-0.55, 0.55, -0.10, 0.35),
    "Male": ALL,
    "Mouth_Slightly_Open": (-0.35, 0.35, 0.05, 0.50),
    "Mustache": (-0.35, 0.35, 0.05, 0.35),
    "Narrow_Eyes": EYES,
    "No_Beard": LOW,
    "Oval_Face": ALL,
    "Pale_Skin": (-0.65, 0.65, -0.80, 1.0),
    "Pointy_Nose": (-0.25, 0.25, -0.20, 0.30),
    "Receding_Hairline": (-0.60, 0.60, -0.75, 0.0),
    "Rosy_Cheeks": (-0.50, 0.50, -0.10, 0.35),
    "Sideburns": (-0.62, 0.62, -0.32, 0.25),
    "Smiling": (-0.45, 0.45, -0.20, 0.50),
    "Straight_Hair": HAIR_REGION,
    "Wavy_Hair": (-0.85, 0.85, -0.85, 0.95),
    "Wearing_Earrings": (-0.70, 0.70, 0.05, 0.40),
    "Wearing_Hat": (-0.95, 0.95, -1.0, -0.25),
    "Wearing_Lipstick": (-0.35, 0.35, 0.05, 0.50),
    "Wearing_Necklace": NECK,
    "Wearing_Necktie": NECK,
    "Young": FACE,
}


def face(*names: str) -> Tensor:
    """A plain young face with brown hair and no beard, and the facts named; "-name" takes one away."""
    facts = torch.zeros(40, dtype=torch.bool)
    for name in ("No_Beard", "Young", "Brown_Hair", *names):
        facts[PLACES[name.removeprefix("-")]] = not name.startswith("-")
    return facts


def pair(name: str) -> Tensor:
    """A face without and with a fact, all else equal, `[2, 40]`."""
    base = ("-Brown_Hair",) if name in HAIR else ()
    return torch.stack([face(*base, f"-{name}"), face(*base, name)])


def some_facts(n: int, share: float = 0.4) -> Tensor:
    return torch.rand(n, 40, generator=torch.Generator().manual_seed(5)) < share


def change(name: str, size: int = 64, difficulty: float = 0.0) -> Tensor:
    """How much the fact changes each pixel of one face, in levels of a byte, `[size, size]`."""
    both = draw_faces(pair(name), torch.tensor([3, 3]), size=size, difficulty=difficulty, nuisance=0.0)
    return (both[1].float() - both[0].float()).abs().mean(0)


def within(region: Region, size: int) -> Tensor:
    places = (torch.arange(size) * 2 + (1 - size)) / size
    left, right, top, bottom = region
    return ((places >= top) & (places <= bottom))[:, None] & ((places >= left) & (places <= right))


def test_the_names_are_those_of_the_published_statistics() -> None:
    published = json.loads((files("evenhand") / "data/files/celeba_statistics.json").read_text())
    assert list(ATTRIBUTES) == published["attributes"]
    assert list(LISTS["balanced"]) == published["paper_lists"]["balanced"]
    assert [len(names) for names in LISTS.values()] == [7, 7, 6, 7]
    assert set().union(*LISTS.values()) <= set(ATTRIBUTES)


def test_a_face_does_not_depend_on_its_batch(monkeypatch: pytest.MonkeyPatch) -> None:
    facts, rows = some_facts(23), torch.arange(100, 123)
    together = draw_faces(facts, rows, size=32, seed=4, difficulty=0.3)
    order = torch.randperm(23, generator=torch.Generator().manual_seed(0))
    assert torch.equal(
        draw_faces(facts[order], rows[order], size=32, seed=4, difficulty=0.3), together[order]
    )
    for k in (0, 7, 22):
        alone = draw_faces(facts[k : k + 1], rows[k : k + 1], size=32, seed=4, difficulty=0.3)
        assert torch.equal(alone[0], together[k])
    monkeypatch.setitem(faces_draw.CHUNK, "cpu", 5 * 32 * 32)
    assert torch.equal(draw_faces(facts, rows, size=32, seed=4, difficulty=0.3), together)


def test_a_face_does_not_depend_on_the_number_of_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    facts, rows, before = some_facts(60), torch.arange(60), torch.get_num_threads()
    monkeypatch.setitem(faces_draw.CHUNK, "cpu", 16 * 48 * 48)
    found = []
    try:
        for threads in (1, 2, 3):
            torch.set_num_threads(threads)
            with torch.inference_mode(threads == 3):
                found.append(draw_faces(facts, rows, size=48))
            assert torch.get_num_threads() == threads
    finally:
        torch.set_num_threads(before)
    assert torch.equal(found[0], found[1])
    assert torch.equal(found[0], found[2])


@pytest.mark.parametrize("gather_below", [0.0, 2.0])
def test_painting_only_the_rows_with_a_sign_changes_nothing(
    monkeypatch: pytest.MonkeyPatch, gather_below: float
) -> None:
    facts, rows = some_facts(12), torch.arange(12)
    usual = draw_faces(facts, rows, size=40)
    monkeypatch.setattr(faces_canvas, "GATHER_BELOW", gather_below)
    assert torch.equal(draw_faces(facts, rows, size=40), usual)


@pytest.mark.parametrize(("size", "nuisance"), [(64, 0.0), (64, 1.0), (64, 2.0), (128, 0.0)])
def test_no_part_reaches_beyond_its_box(size: int, nuisance: float) -> None:
    """Without a pose and with many pixels a box has the least to spare."""
    facts, rows = some_facts(160, 0.5), torch.arange(160)
    traits = with_colours(Traits.of(facts, rows, seed=1, difficulty=0.0, nuisance=nuisance))
    before = torch.rand(160, 3, size, size, generator=torch.Generator().manual_seed(2))
    for part in PARTS:
        boxed, whole = before.clone(), before.clone()
        Canvas(boxed, traits, nuisance).draw(part)
        Canvas(whole, traits, nuisance).draw(Part(part.draw, WHOLE, part.signs))
        assert torch.equal(boxed, whole), part.draw


def test_the_pictures_of_a_seed_stay_what_they_are() -> None:
    """Runs were trained on these bytes: who changes them changes DRAWING, and with it the runs' identity."""
    pictures = draw_faces(some_facts(16), torch.arange(16) * 1000, size=64, seed=7, difficulty=0.25)
    assert hashlib.sha256(pictures.numpy().tobytes()).hexdigest() == DRAWING


@pytest.mark.parametrize("name", ATTRIBUTES)
def test_every_fact_shows_where_it_should(name: str) -> None:
    for size in (32, 64, 128):
        moved = change(name, size)
        assert moved.max() > 16, size
        assert moved.mean() > 0.08, size
        if size > 32:
            assert moved[within(REGIONS[name], size)].sum() > 0.97 * moved.sum(), size


@pytest.mark.parametrize("name", ATTRIBUTES)
def test_difficulty_shrinks_every_sign(name: str) -> None:
    easy, middle, hard = (float(change(name, 64, difficulty).mean()) for difficulty in (0.0, 0.5, 1.0))
    assert easy > middle > hard > 0
    assert hard < 0.6 * easy


def test_every_fact_shows_in_most_faces_of_a_varied_world() -> None:
    """Hidden by a hat or a fringe at times, never mostly; blur, which softens all signs, is left out."""
    facts, rows = some_facts(40, 0.2), torch.arange(40)
    facts[:, PLACES["Blurry"]] = False
    for name, place in PLACES.items():
        without, with_it = facts.clone(), facts.clone()
        without[:, place], with_it[:, place] = False, True
        both = [draw_faces(which, rows, size=32).float() for which in (without, with_it)]
        moved = (both[0] - both[1]).abs().amax((1, 2, 3))
        assert (moved > 10).float().mean() > 0.9, name


@pytest.mark.parametrize("size", [32, 33, 64, 128])
def test_sizes(size: int) -> None:
    pictures = draw_faces(some_facts(3), torch.arange(3), size=size)
    assert pictures.shape == (3, 3, size, size)
    assert pictures.dtype == torch.uint8
    assert draw_faces(some_facts(0), torch.arange(0), size=size).shape == (0, 3, size, size)


def test_a_small_picture_is_the_large_one_made_smaller() -> None:
    facts, rows = some_facts(20, 0.25), torch.arange(20)
    facts[:, PLACES["Blurry"]] = False
    large = draw_faces(facts, rows, size=128, nuisance=0.0).float()
    small = draw_faces(facts, rows, size=64, nuisance=0.0).float()
    shrunk = torch.nn.functional.avg_pool2d(large, 2)
    assert (shrunk - small).abs().mean() < 2.5
    assert (shrunk - small.roll(1, 3)).abs().mean() > 5


def test_nuisance_is_all_that_varies_between_faces_with_the_same_facts() -> None:
    facts = face("Smiling").expand(12, -1)
    still = draw_faces(facts, torch.arange(12), size=32, nuisance=0.0)
    assert bool((still == still[0]).all())
    spread = [
        draw_faces(facts, torch.arange(12), size=32, nuisance=n).float().std(0).mean() for n in (0.5, 1.0)
    ]
    assert 0 < spread[0] < spread[1]
    other = draw_faces(facts, torch.arange(12), size=32, seed=1)
    assert not torch.equal(other, draw_faces(facts, torch.arange(12), size=32, seed=0))


def test_the_tone_of_the_skin_is_tied_to_no_fact_but_paleness() -> None:
    rows = torch.arange(50)
    tones = []
    for facts in (torch.zeros(50, 40), torch.ones(50, 40)):
        facts[:, PLACES["Pale_Skin"]] = 0
        traits = Traits.of(facts, rows, seed=0, difficulty=0.0, nuisance=1.0)
        tones.append(with_colours(traits).colours["skin"])
    assert torch.equal(*tones)


def test_a_blurry_picture_has_lost_its_edges() -> None:
    sharp, soft = draw_faces(pair("Blurry"), torch.tensor([1, 1]), nuisance=0.0).float()
    roughness = [(picture[:, :, 1:] - picture[:, :, :-1]).square().mean() for picture in (sharp, soft)]
    assert roughness[1] < 0.5 * roughness[0]
    assert abs(float(sharp.mean() - soft.mean())) < 1


def test_contradictions_show_both_facts() -> None:
    combinations = [
        ("Bald",),
        ("Bangs",),
        ("Bald", "Bangs"),
        ("Goatee",),
        ("Goatee", "-No_Beard"),
        ("-No_Beard",),
    ]
    combinations += [("Straight_Hair",), ("Wavy_Hair",), ("Straight_Hair", "Wavy_Hair"), ()]
    facts = torch.stack([face(*names) for names in combinations])
    pictures = draw_faces(facts, torch.zeros(len(facts), dtype=torch.int64), nuisance=0.0).float()
    apart = (pictures[:, None] - pictures[None]).abs().amax((2, 3, 4)) + 255 * torch.eye(len(facts))
    assert apart.min() > 16


def test_hair_of_several_colours_has_strands_of_each() -> None:
    facts = face("Black_Hair", "Blond_Hair", "Gray_Hair", "-Brown_Hair")[None]
    top = (
        draw_faces(facts, torch.tensor([0]), size=128, nuisance=0.0)[0, :, 12:28, 44:84].float().flatten(1)
        / 255
    )
    for name in ("Black_Hair", "Blond_Hair", "Gray_Hair"):
        colour = torch.tensor(HAIR[name])[:, None]
        assert ((top - colour).abs().amax(0) < 0.05).sum() > 40, name
    brown = torch.tensor(HAIR["Brown_Hair"])[:, None]
    assert ((top - brown).abs().amax(0) < 0.05).sum() < 10


@pytest.mark.parametrize(
    ("knobs", "message"),
    [
        ({"size": 16}, "size=16 .* from 32 to 128"),
        ({"size": 64.0}, "size=64.0"),
        ({"seed": -1}, "seed=-1 .* at least 0"),
        ({"seed": True}, "seed=True"),
        ({"difficulty": 1.5}, "difficulty=1.5 .* from 0 to 1"),
        ({"difficulty": float("nan")}, "difficulty=nan"),
        ({"nuisance": -0.1}, "nuisance=-0.1 .* from 0 to 2"),
        ({"nuisance": "much"}, "nuisance='much'"),
    ],
)
def test_knobs_out_of_range(knobs: dict[str, object], message: str) -> None:
    draw: Callable[..., Tensor] = draw_faces
    with pytest.raises(InputError, match=message):
        draw(face()[None], torch.arange(1), **knobs)


def test_facts_that_cannot_be_drawn() -> None:
    with pytest.raises(InputError, match=r"shape \(2, 39\); \[N, 40\]"):
        draw_faces(torch.zeros(2, 39), torch.arange(2))
    with pytest.raises(InputError, match=r"shape \(3,\); whole numbers of shape \(2,\)"):
        draw_faces(torch.zeros(2, 40), torch.arange(3))
    unknown = torch.zeros(2, 40, dtype=torch.int8)
    unknown[1, PLACES["Young"]] = -1
    with pytest.raises(InputError, match="the fact 'Young' of row 1 is -1"):
        draw_faces(unknown, torch.arange(2))


@pytest.mark.gpu
def test_a_gpu_draws_the_same_faces() -> None:
    facts, rows = some_facts(64), torch.arange(64)
    here, there = draw_faces(facts, rows), draw_faces(facts, rows, device="cuda").cpu()
    apart = (here.int() - there.int()).abs()
    assert apart.float().mean() < 0.01
    assert (apart > 2).float().mean() < 1e-3
