"""CI-MNIST: exact counts against the original generator's, and every oracle that the spec names."""

import hashlib
import os
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch

from evenhand.data.ci_mnist import attribute_codes, ci_mnist
from evenhand.data.ci_mnist_draw import draw
from evenhand.data.ci_mnist_look import Look, as_pair, look_at_test
from evenhand.data.ci_mnist_paint import BLOCK, digit_mask, padded, paint, paint_on
from evenhand.data.mnist_files import read_digits
from evenhand.data.task import Task
from evenhand.errors import InputError

FULL = Path(os.environ.get("EVENHAND_DATA", "")) / "mnist.npz"
GREEN = np.array([0, 255, 0], dtype=np.uint8)[:, None, None]
CASES = [
    "variant_B_clr0.5_0.5_pos0.5_0.5",
    "variant_B_clr0.1_0.1_pos0.5_0.5",
    "variant_B_clr0.5_0.5_pos0.9_0.1",
    "variant_A_clr0.5_0.5_lines0.5_0.5_g22_w5",
    "variant_A_clr0.5_0.5_lines0.9_0.1_g22_w1",
    "variant_A_clr0.01_0.01_lines0.5_0.5_g2_w1",
]


@pytest.fixture(scope="module")
def first():
    """The first 2,000 MNIST training images in file order, which the golden counts are of."""
    digits = read_digits()
    return digits.x_train[:2000], digits.y_train[:2000]


def make(first, look, seed=(123, 0)):
    images, labels = first
    drawn = draw(labels, look.check(), np.random.default_rng(seed))
    return drawn, paint(images, drawn, look, seed)


def mask_of(first, drawn):
    return digit_mask(padded(first[0][drawn.source]))


def green_columns(painted):
    return (painted == GREEN).all(axis=1)  # [N, row, column]


def look_of(case):
    given = case["parameters"]
    clr = tuple(given["clr_ratio_blue_even_odd"])
    if "box_left_ratio_even_odd" in given:
        return Look("B", clr, pos_ratio=tuple(given["box_left_ratio_even_odd"]))
    lines = tuple(given["many_lines_ratio_even_odd"])
    return Look("A", clr, lines, g1=given["green_1"], g2=given["green_2"], gw=given["green_width"])


def counted(drawn, painted, look, mask):
    """The counts of the golden file; colours are read bottom left, as there, where no edit touches them."""
    even, blue = drawn.even, painted[:, 2, 31, 0] > painted[:, 0, 31, 0]
    found = {
        "n": len(painted),
        "n_even": int(even.sum()),
        "n_odd": int((~even).sum()),
        "blue_even": int((blue & even).sum()),
        "red_even": int((~blue & even).sum()),
        "blue_odd": int((blue & ~even).sum()),
        "red_odd": int((~blue & ~even).sum()),
        "digit_histogram": np.bincount(drawn.digit, minlength=10).tolist(),
        "image_shape": list(painted.shape),
    }
    if look.variant == "B":
        left = (painted[:, :, :4, 6:10] == 128).all(axis=(1, 2, 3))
        found["box_left_even"] = int((left & even).sum())
        found["box_left_odd"] = int((left & ~even).sum())
        found["digit_pixels_outside_rows_cols_4_31"] = int(mask[:, :4].sum() + mask[:, :, :4].sum())
        return found
    black = (painted == 0).all(axis=1).any(axis=2)  # [N, row]
    many = drawn.n_lines > 5
    found["many_lines_even"], found["many_lines_odd"] = int((many & even).sum()), int((many & ~even).sum())
    found["few_lines_even"], found["few_lines_odd"] = int((~many & even).sum()), int((~many & ~even).sum())
    found["line_number_range_many"] = [int(drawn.n_lines[many].min()), int(drawn.n_lines[many].max())]
    found["line_number_range_few"] = [int(drawn.n_lines[~many].min()), int(drawn.n_lines[~many].max())]
    found["green_pixels_in_row_gw"] = int(green_columns(painted)[:, look.gw].sum())
    found["rows_with_black_min"] = int(np.flatnonzero(black.any(axis=0)).min())
    found["rows_with_black_max"] = int(np.flatnonzero(black.any(axis=0)).max())
    return found


@pytest.mark.parametrize("name", CASES)
def test_counts_are_those_of_the_original_generator(golden, first, name):
    (case,) = [case for case in golden("09b_ci_mnist_generator_counts")["cases"] if case["name"] == name]
    look = look_of(case)
    drawn, painted = make(first, look)
    assert counted(drawn, painted, look, mask_of(first, drawn)) == case["expected"]["counts"]
    bounds = case["expected"].get("bounds")
    if bounds:
        background = painted[:, :, 4:][
            np.broadcast_to(~mask_of(first, drawn)[:, None, 4:], (2000, 3, 28, 32))
        ]
        bright = background[background > 127]
        assert np.floor(255 * 0.9) == bounds["observed_main_min_floor"] <= bright.min() <= 230
        assert 25 <= background[background < 128].max() <= bounds["observed_other_max_ceil"] == 26


def test_the_golden_file_has_no_case_that_is_not_tested(golden):
    assert [case["name"] for case in golden("09b_ci_mnist_generator_counts")["cases"]] == CASES


@pytest.mark.parametrize("look", [Look(), Look("B"), Look(shades="per-image"), Look(g1=2, gw=1)])
def test_bytes_keep_digit_and_colour(first, look):
    """Rounding to bytes loses nothing that matters: mask, colour and marks can be told from the pixels."""
    drawn, painted = make(first, look)
    mask = mask_of(first, drawn)
    lined = mask & drawn.lines[:, :, None] & (look.variant == "A")
    free = ~mask.copy()
    free[:, : max(look.gw, 4)] = False  # rows of green marks or the box
    assert painted.transpose(0, 2, 3, 1)[mask & ~lined].min() >= 230
    assert (painted.transpose(0, 2, 3, 1)[lined] == 0).all()
    main = np.where(drawn.blue, 2, 0)[:, None, None]
    colours = np.take_along_axis(painted, main[:, None], axis=1)[:, 0]
    other = np.take_along_axis(painted, 2 - main[:, None], axis=1)[:, 0]
    assert colours[free].min() >= (230 if look.shades == "per-pixel" else 255)
    assert other[free].max() <= (26 if look.shades == "per-pixel" else 64)
    assert painted[:, 1][free].max() <= (26 if look.shades == "per-pixel" else 64)


def test_the_digit_sits_bottom_right(first):
    images = first[0]
    assert np.array_equal(padded(images)[:, 4:, 4:], images)
    assert not padded(images)[:, :4].any()
    assert not padded(images)[:, :, :4].any()


def test_the_mask_is_above_one_half():
    assert digit_mask(np.array([[[127, 128]]], dtype=np.uint8)).tolist() == [[[False, True]]]  # 127/255 < 0.5


def test_the_first_images_of_the_file_are_blue(first):
    drawn, _ = make(first, Look(clr_ratio=(0.01, 0.1)))
    for parity, count in ((True, 9), (False, 102)):
        members = np.flatnonzero((first[1] % 2 == 0) == parity)
        assert sorted(drawn.source[drawn.blue & (drawn.even == parity)]) == members[:count].tolist()


@pytest.mark.parametrize("gw", [1, 5])
@pytest.mark.parametrize("g1", [2, 22])
def test_green_marks_are_where_the_paper_says(first, g1, gw):
    drawn, painted = make(first, Look(g1=g1, gw=gw))
    green = green_columns(painted)
    assert not green[:, gw:].any()
    assert (green[:, 0] == green[:, gw - 1]).all()
    found = [np.flatnonzero(row).tolist() for row in green[:, 0]]
    expected = [sorted({int(a), int(b)}) for a, b in zip(drawn.column_1, drawn.column_2, strict=True)]
    assert found == expected
    assert (drawn.column_2 == g1 + drawn.digit).all()
    assert ((drawn.column_1 < g1 // 2) == drawn.even).all()  # parity can be read off the side, always
    assert set(drawn.column_1.tolist()) == set(range(g1))


def test_black_only_on_the_digit_and_in_every_drawn_row_that_has_some(first):
    drawn, painted = make(first, Look(e_o_ratio=(0.9, 0.1)))
    black, mask = (painted == 0).all(axis=1), mask_of(first, drawn)
    assert np.array_equal(black, mask & drawn.lines[:, :, None])
    assert (drawn.lines.sum(axis=1) <= drawn.n_lines).all()
    assert (drawn.lines.sum(axis=1) < drawn.n_lines).any()  # drawn with replacement


def test_shades_are_spread_evenly(first):
    """255 * U(0, 0.1) and 255 * U(0.9, 1), rounded, each shade by 10 of the 256 bytes, give or take one."""
    drawn, painted = make(first, Look("B"))
    corner = painted[:, :, 28:, :4]  # free of digits and of the box
    green = np.bincount(corner[:, 1].ravel(), minlength=27) / corner[:, 1].size
    expected = np.array([0.5, *[1.0] * 25, 0.0]) / 25.5
    assert np.abs(green - expected).max() < 1 / 256 + 0.003  # 0.003: three sigma of 32,000 pixels
    assert corner[:, 1].mean() == pytest.approx(12.75, abs=0.15)
    main = corner[np.arange(2000), np.where(drawn.blue, 2, 0)]
    assert (main.min(), main.max()) == (230, 255)
    assert main.mean() == pytest.approx(242.25, abs=0.25)


def test_neighbours_images_and_channels_have_shades_of_their_own(first):
    _, painted = make(first, Look("B"))
    corner = painted[:, 1, 28:, :4].astype(float)
    pairs = {
        "columns": (corner[:, :, :-1], corner[:, :, 1:]),
        "rows": (corner[:, :-1], corner[:, 1:]),
        "images": (corner[:-1], corner[1:]),
        "channels": (painted[:, 1, 28:, :4] % 230.0, painted[:, 0, 28:, :4] % 230.0),
    }
    for name, (one, other) in pairs.items():
        assert abs(np.corrcoef(one.ravel(), other.ravel())[0, 1]) < 4 / np.sqrt(one.size), name


def test_another_seed_paints_other_shades_on_the_same_choices(first):
    drawn, painted = make(first, Look("B"))
    other = paint(first[0], drawn, Look("B"), (124, 0))
    assert (other != painted).mean() > 0.8
    assert np.array_equal(other > 127, painted > 127)


def test_bytes_of_one_image_are_known_for_good(first):
    """Painting is whole numbers only: every machine and device has these bytes."""
    _, painted = make(first, Look())
    assert hashlib.sha256(painted.tobytes()).hexdigest()[:16] == "239dd3e722d27ca4"


@pytest.mark.gpu
@pytest.mark.parametrize("look", [Look(), Look("B"), Look(shades="per-image"), Look(g1=2, gw=1)])
def test_a_gpu_paints_the_bytes_that_a_cpu_paints(first, look):
    images, labels = first
    drawn = draw(labels, look, np.random.default_rng((123, 0)))
    painted = paint_on(images, drawn, look, (123, 0), "cuda")
    assert torch.equal(painted.cpu(), paint_on(images, drawn, look, (123, 0)))


@pytest.mark.parametrize("second", ["many", "left"])
def test_lines_and_box_know_nothing_of_the_colour_given_the_parity(first, second):
    look = Look("A" if second == "many" else "B", clr_ratio=(0.3, 0.7))
    look = replace(look, **{"e_o_ratio" if second == "many" else "pos_ratio": (0.8, 0.2)})
    drawn, _ = make(first, look)
    for parity in (True, False):
        rows = drawn.even == parity
        chosen, blue = getattr(drawn, second)[rows], drawn.blue[rows]
        share, n, m = chosen.mean(), blue.sum(), rows.sum()
        spread = np.sqrt(share * (1 - share) * (m - n) / (n * (m - 1)))  # hypergeometric
        assert abs(chosen[blue].mean() - share) < 4 * spread


def test_box_is_four_by_four_grey_on_one_side(first):
    drawn, painted = make(first, Look("B", pos_ratio=(0.75, 0.25)))
    grey = (painted == 128).all(axis=1)
    assert grey[:, :4, 6:10].all(axis=(1, 2)).tolist() == drawn.left.tolist()
    assert grey[:, :4, 22:26].all(axis=(1, 2)).tolist() == (~drawn.left).tolist()
    assert (grey.sum(axis=(1, 2)) == 16).all()


def test_attributes_are_those_drawn_not_those_of_an_edited_pixel(first):
    """The original reads s from pixel (3, 0): with g1 = 2 and gw = 5 all red even images come out blue."""
    look = Look(g1=2, gw=5)
    drawn, painted = make(first, look)
    misread = painted[:, :, 3, 0].argmax(axis=1) != 0
    codes = attribute_codes(drawn, look)
    assert misread[drawn.even & ~drawn.blue].all()
    assert codes["colour"].tolist() == (painted[:, 2, 31, 0] > 127).tolist()
    assert codes["lines"].tolist() == (drawn.n_lines > 5).tolist()


def test_configurations_differ_only_where_their_knobs_do(first):
    plain, painted = make(first, Look(clr_ratio=(0.1, 0.1)))
    other, repainted = make(first, Look(clr_ratio=(0.1, 0.1), g1=2, e_o_ratio=(0.9, 0.1)))
    assert np.array_equal(plain.source, other.source)
    assert np.array_equal(plain.blue, other.blue)
    assert np.array_equal(painted[:, :, 30:], repainted[:, :, 30:])


def test_painting_does_not_depend_on_the_block(first, monkeypatch):
    _, painted = make(first, Look())
    monkeypatch.setitem(BLOCK, "cpu", 300)
    assert np.array_equal(make(first, Look())[1], painted)


def test_per_image_shades_are_one_colour_for_the_whole_background(first):
    drawn, painted = make(first, Look("B", shades="per-image"))
    corner = painted[:, :, 28:, :4].reshape(2000, 3, -1).astype(int)
    assert (np.ptp(corner, axis=2) <= 1).all()  # the faint edge of a digit may round up by one
    assert len(np.unique(corner[:, 1, 0])) > 50
    assert (corner.min(axis=2)[np.arange(2000), np.where(drawn.blue, 2, 0)] == 255).all()


@pytest.mark.parametrize(
    ("test_green", "g1", "g2", "tells"),
    [
        ("g1_20", 20, True, True),
        ("same", 2, True, True),
        ("absent", 0, False, True),
        ("parity-independent", 2, True, False),
    ],
)
def test_looks_at_test(test_green, g1, g2, tells):
    look = look_at_test(Look(clr_ratio=(0.01, 0.99), e_o_ratio=(0.9, 0.1), g1=2), test_green)
    assert (look.g1, look.g2, look.green_tells) == (g1, g2, tells)
    assert look.clr_ratio == look.e_o_ratio == look.pos_ratio == (0.5, 0.5)


def test_marks_that_training_lacks_are_not_in_the_test_images_either():
    look = look_at_test(Look(g1=0, g2=False))
    assert (look.g1, look.g2) == (0, False)


@pytest.mark.parametrize(
    ("knobs", "columns", "told"),
    [
        ({}, 2, ("parity", "digit")),
        ({"g2": False}, 1, ("parity",)),
        ({"g1": 0, "g2": False}, 0, ()),
    ],
)
def test_marks_can_be_left_out_of_every_part(knobs, columns, told):
    """Both columns, the first alone, none: so many green columns in the images, and the card says no more."""
    task = ci_mnist(limit=100, **knobs)
    for part in task.split:
        found = green_columns(task.x[task.rows(part)].numpy())
        assert (found[:, :5].any(axis=1).sum(axis=1) == columns).all(), part
        assert not found[:, 5:].any()
    green = [note for note in task.card.notes if "green marks" in note]
    assert len(green) == bool(told)
    assert all([(word in green[0]) == (word in told) for word in ("parity", "digit")] if green else [True])
    assert ("green_side" in [attribute.name for attribute in task.attributes]) == ("parity" in told)


def test_parity_independent_marks_tell_nothing(first):
    drawn, _ = make(first, look_at_test(Look(), "parity-independent"))
    assert abs((drawn.column_1 < 11)[drawn.even].mean() - 0.5) < 0.07
    assert abs((drawn.column_1 < 11)[~drawn.even].mean() - 0.5) < 0.07
    agree = (drawn.column_2 - 22 == drawn.digit).mean()
    assert 0.07 < agree < 0.13


def test_the_task_has_four_parts_with_their_own_distributions():
    task = ci_mnist(clr_ratio=(0.1, 0.9), e_o_ratio="0.9,0.1", test_green="absent").check()
    sizes = {name: len(rows) for name, rows in task.split.items()}
    assert sizes == {"train": 12000, "validation": 2000, "validation_balanced": 2000, "test": 2000}
    for part, shares in {
        "train": (0.1, 0.9),
        "validation": (0.1, 0.9),
        "validation_balanced": (0.5, 0.5),
        "test": (0.5, 0.5),
    }.items():
        rows = task.rows(part)
        blue = torch.from_numpy(task.attribute("colour").codes)[rows] == 1
        even = task.y[rows] == 1
        for parity, share in ((even, shares[0]), (~even, shares[1])):
            n = int(parity.sum())
            assert int((blue & parity).sum()) == np.floor(share * n + 1e-9), part
    side = task.attribute("green_side").codes
    assert (side[task.rows("train").numpy()] == 1 - task.y[task.rows("train")].numpy()).all()
    assert (side[task.rows("test").numpy()] == -1).all()
    assert (side[task.rows("validation_balanced").numpy()] == -1).all()
    assert task.scaling(task.x[:4]).min() >= -1
    assert task.scaling(task.x[:4]).max() <= 1
    assert [a.name for a in task.attributes] == ["colour", "lines", "digit", "green_side"]


def test_both_validation_parts_show_the_same_digits():
    task = ci_mnist("B", pos_ratio=(0.9, 0.1), sensitive="box")
    digits = torch.from_numpy(task.attribute("digit").codes)
    copies = [digits[task.rows(part)].bincount().tolist() for part in ("validation", "validation_balanced")]
    assert copies[0] == copies[1]
    assert [a.name for a in task.attributes] == ["box", "colour", "digit"]
    assert torch.equal(task.y, (digits % 2 == 0).long())


def test_the_seed_decides_everything(first):
    one, again, other = (make(first, Look(), seed)[1] for seed in [(123, 0), (123, 0), (123, 1)])
    assert np.array_equal(one, again)
    assert not np.array_equal(one, other)


def test_each_part_has_a_generator_of_its_own():
    """The test images do not depend on how many numbers training drew: seeded by (seed, part) alone."""
    task, digits = ci_mnist("B"), read_digits()
    drawn = draw(digits.y_test, Look("B"), np.random.default_rng((123, 2)))
    painted = paint(digits.x_test, drawn, Look("B"), (123, 2))
    assert np.array_equal(task.x[task.rows("test")].numpy(), painted)


@pytest.mark.parametrize(
    ("knobs", "message"),
    [
        ({"variant": "C"}, "variant='C' must be "),
        ({"g1": 3}, "g1=3 must be even, 2 to 22"),
        ({"g1": 24}, "g1=24 must be even"),
        ({"gw": 0}, "gw=0"),
        ({"clr_ratio": (0.5, 1.5)}, "two shares from 0 to 1"),
        ({"clr_ratio": "0.1,0.2,0.3"}, r"must be two shares.*such as 0\.1,0\.9"),
        ({"clr_ratio": "half"}, "must be two shares"),
        ({"sensitive": "box"}, "sensitive='box' must be .*colour.*lines"),
        ({"variant": "B", "e_o_ratio": 0.9}, "variant B has no use for the knob e_o_ratio"),
        ({"variant": "B", "g1": 2}, "variant B has no use for the knob g1"),
        ({"pos_ratio": (0.9, 0.1)}, "variant A has no use for the knob pos_ratio"),
        ({"test_green": "gone"}, "test_green='gone' must be .*g1_20"),
        ({"shades": "none"}, "shades='none'"),
        ({"limit": -1}, "limit=-1 must be a number of images"),
        ({"part": "half"}, "part='half' must be .*packaged.*full"),
    ],
)
def test_wrong_knobs_are_refused(knobs, message):
    with pytest.raises(InputError, match=message):
        ci_mnist(**knobs)


def test_a_limit_keeps_the_first_images_of_each_part():
    task, digits = ci_mnist("B", limit=300, clr_ratio=(0.1, 0.9)).check(), read_digits()
    assert [len(task.rows(part)) for part in task.split] == [300] * 4
    found = task.attribute("digit").codes
    for part, (_, labels) in digits.parts().items():
        assert sorted(found[task.rows(part).numpy()]) == sorted(labels[:300].tolist())
    assert task.card.knobs["limit"] == 300
    assert "limit" not in ci_mnist("B").card.knobs


def test_a_task_offers_it_by_name():
    task = Task.ci_mnist("B", pos_ratio=(0.9, 0.1), sensitive="box", limit=100)
    assert (task.name, task.attributes[0].name, len(task)) == ("ci-mnist", "box", 400)


def test_ratios_as_users_write_them():
    assert as_pair("x", [0.1, 0.9]) == as_pair("x", "0.1,0.9") == (0.1, 0.9)
    assert as_pair("x", 0.01) == as_pair("x", "0.01") == (0.01, 0.01)


@pytest.mark.skipif(not FULL.is_file(), reason="EVENHAND_DATA does not lead to mnist.npz")
def test_full_size_counts_of_the_study():
    parts = read_digits("full").parts()
    assert {name: len(labels) for name, (_, labels) in parts.items()} == {
        "train": 50_000,
        "validation": 10_000,
        "test": 10_000,
    }
    drawn = draw(parts["train"][1], Look(clr_ratio=(0.001, 0.01)), np.random.default_rng(0))
    assert int((drawn.blue & drawn.even).sum()) == int(0.001 * int(drawn.even.sum())) == 24
    assert int((drawn.blue & ~drawn.even).sum()) == int(0.01 * int((~drawn.even).sum())) == 254
    assert round(float((parts["test"][1] % 2 == 0).mean()), 4) == 0.4926
