"""Drawn faces that show forty facts each: the pictures of the `faces` world, free of licences and of people.

A picture is a pure function of (seed, row id, facts, size, difficulty, nuisance): on the CPU the same to the
byte in any batch, in any chunk and with any number of threads. The facts are CelebA's forty attributes (Liu,
Luo, Wang and Tang 2015), each with a sign of its own in the picture. Facts that contradict each other are all
drawn, as far as a face can hold them:

* several hair colours: strands of each; none of the four: copper red;
* Bald with Bangs: a bald head with a thin forelock; Bald with a hair colour: the ring above the ears has it;
* Bald with Receding_Hairline: the ring is thinner; a hat hides the top of the hair, as in a photograph;
* Straight_Hair with Wavy_Hair: strands of both kinds, on a wavy outline;
* No_Beard with Goatee, Mustache, Sideburns or 5_o_Clock_Shadow: these, and no beard along the jaw;
* neither No_Beard nor any kind of beard: a short beard along the jaw.

No_Beard and Young show by their absence (a beard along the jaw; the lines of age). Male is stylised: short
hair, squarer jaw, wider neck, heavier brows. Attractive stands for an annotator's judgement and for nothing
about a person: its sign is the light of a studio portrait.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from functools import partial

import torch
from torch import Tensor

from evenhand.data import faces_effects as effects
from evenhand.data import faces_parts_beard as beard
from evenhand.data import faces_parts_eyes as eyes
from evenhand.data import faces_parts_hair as hair
from evenhand.data import faces_parts_head as head
from evenhand.data import faces_parts_mouth as mouth
from evenhand.data import faces_parts_skin as skin
from evenhand.data import faces_parts_worn as worn
from evenhand.data.faces_canvas import Canvas
from evenhand.data.faces_checks import check_facts, check_knobs
from evenhand.data.faces_colours import with_colours
from evenhand.data.faces_traits import Traits

PARTS = (  # from the back to the front
    *(head.wall, hair.back_hair, head.shoulders, worn.necktie, worn.necklace),
    *(head.ears, head.second_chin, head.head, head.chin_crease, skin.rosy, skin.cheekbones),
    *(beard.shadow, beard.beard, skin.wrinkles, eyes.bags),
    *(mouth.nose, mouth.mouth, mouth.smile_folds, beard.goatee, beard.moustache),
    *(eyes.eyes, eyes.makeup, eyes.brows),
    *(hair.shine, hair.cap, hair.locks, hair.strand_lines, hair.fringe, beard.sideburns),
    *(eyes.glasses, worn.earrings, worn.hat),
    *(effects.light, effects.portrait, effects.blur),
)
# SHA-256 of a sample, which a test draws: another look is other data, and other runs
DRAWING = "4554e4a11cbdfda88130ff75586428a60c273b55c090924f6ce19f452c1ff180"
CHUNK = {"cpu": 1 << 19, "cuda": 1 << 24}  # pixels painted at a time: within a cache; a GPU kept busy


def draw_faces(
    facts: Tensor,
    rows: Tensor,
    *,
    size: int = 64,
    seed: int = 0,
    difficulty: float = 0.0,
    nuisance: float = 1.0,
    device: torch.device | str = "cpu",
) -> Tensor:
    """The pictures `[N, 3, size, size]`, uint8, of faces with these facts `[N, 40]` and row ids `[N]`.

    `difficulty` in [0, 1] takes up to 80 % off every sign and adds noise; `nuisance` in [0, 2] scales what
    varies for no reason: pose, skin tone, colours, light, noise, and how marked a sign is. `size`: 32 to 128.

    >>> from evenhand.data.faces_names import ATTRIBUTES
    >>> facts = torch.zeros(2, 40, dtype=torch.bool)
    >>> facts[1, ATTRIBUTES.index("Wearing_Hat")] = True
    >>> pictures = draw_faces(facts, torch.tensor([7, 7]), size=32, nuisance=0.0)
    >>> pictures.shape, bool((pictures[0] != pictures[1])[:, :8].any())
    (torch.Size([2, 3, 32, 32]), True)
    """
    check_knobs(size=size, seed=seed, difficulty=difficulty, nuisance=nuisance)
    check_facts(facts, rows)
    device = torch.device(device)
    pictures = torch.empty((len(rows), 3, size, size), dtype=torch.uint8, device=device)
    step = max(1, CHUNK["cpu" if device.type == "cpu" else "cuda"] // size**2)
    paint = partial(_paint, seed=seed, difficulty=difficulty, nuisance=nuisance)
    chunks = [torch.split(part, step) for part in (pictures, facts.to(device), rows.to(device))]
    if device.type == "cpu" and len(chunks[0]) > 1 and torch.get_num_threads() > 1:
        _in_threads(paint, *chunks)
    else:
        for chunk in zip(*chunks, strict=True):
            paint(*chunk)
    return pictures


def _paint(
    pictures: Tensor, facts: Tensor, rows: Tensor, *, seed: int, difficulty: float, nuisance: float
) -> None:
    """Paint one chunk of pictures, in place."""
    traits = Traits.of(facts, rows, seed=seed, difficulty=difficulty, nuisance=nuisance)
    pixels = torch.empty(pictures.shape, dtype=torch.float32, device=pictures.device)
    canvas = Canvas(pixels, with_colours(traits), nuisance)
    for part in PARTS:
        canvas.draw(part)
    if difficulty or nuisance:
        effects.sensor_noise(pixels, rows, seed, 0.015 * nuisance + 0.12 * difficulty)
    pictures.copy_(pixels.mul_(255).add_(0.5).clamp_(0, 255))


def _in_threads(paint: partial[None], *chunks: tuple[Tensor, ...]) -> None:
    """Paint whole chunks side by side, each by one thread.

    Two threads in every operation would meet at its end thousands of times: on a busy machine that was seven
    times slower than one thread.
    """
    threads, inference = torch.get_num_threads(), torch.is_inference_mode_enabled()

    def work(*chunk: Tensor) -> None:
        with torch.inference_mode(inference):
            paint(*chunk)

    try:
        with ThreadPoolExecutor(threads, initializer=torch.set_num_threads, initargs=(1,)) as pool:
            list(pool.map(work, *chunks))  # a list, so that an error in a thread is raised here
    finally:
        torch.set_num_threads(threads)
