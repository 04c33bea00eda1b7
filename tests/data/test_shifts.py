"""What holds for every shift of the registry: identity, shape, range, one result, growing damage, errors."""

import math
from collections import Counter
from itertools import pairwise

import pytest
import torch

from evenhand.data import shifts
from evenhand.data.registry import load
from evenhand.data.shifts import SHIFTS, kind_of, shift_inputs, shift_rows, white_of
from evenhand.data.task import Scaling
from evenhand.errors import InputError

INPUTS = [key for key, shift in SHIFTS.items() if shift.acts_on == "inputs"]
ROWS = [key for key, shift in SHIFTS.items() if shift.acts_on == "rows"]
IMAGES = [key for key in INPUTS if "image" in SHIFTS[key].fits]
CASES = [(key, kind) for key in INPUTS for kind in SHIFTS[key].fits]
BYTES = Scaling(127.5, 127.5)
SCALINGS = [BYTES, Scaling(0.0, 255.0), Scaling((120.0, 110.0, 100.0), (60.0, 61.0, 62.0)), Scaling()]


def pictures(n: int = 24, size: tuple[int, int] = (28, 32), channels: int = 3) -> torch.Tensor:
    """Smooth pictures with an edge, bytes as floats: what a camera might see."""
    generator = torch.Generator().manual_seed(5)
    coarse = torch.rand(n, channels, 5, 5, generator=generator)
    x = torch.nn.functional.interpolate(coarse, size=size, mode="bilinear")
    x[:, :, 8:15, 10:20] = torch.rand(n, channels, 1, 1, generator=generator)
    return (x * 255).round()


def inputs(kind: str, n: int = 24) -> torch.Tensor:
    if kind == "image":
        return BYTES(pictures(n))
    return torch.randn(n, 11, generator=torch.Generator().manual_seed(3))


def shifted(key, x, severity, seed=1, rows=None, scaling=BYTES, **options):
    rows = torch.arange(100, 100 + len(x)) if rows is None else rows
    return shift_inputs(key, x, severity, seed=seed, rows=rows, scaling=scaling, **options)


def test_the_registry_is_complete():
    assert set(shifts.CHANGES) == set(INPUTS)
    assert set(shifts.CHOICES) == set(ROWS)
    for key, shift in SHIFTS.items():
        assert shift.key == key
        assert len(shift.severities) == 5
        assert list(shift.severities) == sorted(set(shift.severities))
        assert shift.severities[0] > 0
        assert shift.severities[-1] <= shift.most
        assert shift.unit
        assert shift.words


def test_the_severities_of_s4_are_among_the_standard_ones():
    for key in ("gaussian", "uniform"):
        assert {0.03, 0.06} <= set(SHIFTS[key].severities)
    assert 0.03 in SHIFTS["impulse"].severities


@pytest.mark.parametrize(("key", "kind"), CASES)
def test_severity_0_is_the_identity(key, kind):
    x = inputs(kind)
    assert torch.equal(shifted(key, x, 0), x)


@pytest.mark.parametrize(("key", "kind"), CASES)
def test_shape_type_and_finite_numbers_stay_and_the_input_is_not_written_to(key, kind):
    for dtype in (torch.float32, torch.float64, torch.bfloat16):
        x = inputs(kind).to(dtype)
        before = x.clone()
        for severity in (*SHIFTS[key].severities, min(SHIFTS[key].most, 2.0), 1e-3):
            got = shifted(key, x, severity)
            assert (got.shape, got.dtype, got.device) == (x.shape, x.dtype, x.device)
            assert torch.isfinite(got).all()
        assert torch.equal(x, before)


@pytest.mark.parametrize(("key", "kind"), CASES)
def test_damage_grows_with_severity(key, kind):
    x = inputs(kind, 48)
    damage = [(shifted(key, x, severity) - x).abs().mean().item() for severity in SHIFTS[key].severities]
    assert damage[0] > 0
    assert all(less < more for less, more in pairwise(damage)), damage


@pytest.mark.parametrize("key", IMAGES)
@pytest.mark.parametrize("scaling", SCALINGS, ids=str)
def test_images_stay_within_their_range_and_the_scaling_does_not_matter(key, scaling):
    raw = pictures() / (1 if scaling != Scaling() else 255)
    severity = SHIFTS[key].severities[2]
    got = shifted(key, scaling(raw), severity, scaling=scaling)
    shift, scale = scaling.numbers(got.dtype, got.device)
    pixels = (got * scale + shift) / (255 if scaling != Scaling() else 1)
    assert pixels.min() > -1e-5
    assert pixels.max() < 1 + 1e-5
    plain = shifted(key, pictures() / 255, severity, scaling=Scaling())
    assert (pixels - plain).abs().max() < 1e-5


@pytest.mark.parametrize(("key", "kind"), CASES)
def test_a_row_is_shifted_alike_in_any_batch_and_order(key, kind):
    x, severity = inputs(kind), SHIFTS[key].severities[2]
    rows = torch.arange(24) * 7 + 3
    whole = shifted(key, x, severity, rows=rows)
    split = [
        shifted(key, part, severity, rows=ids)
        for part, ids in zip(x.split([1, 5, 18]), rows.split([1, 5, 18]), strict=True)
    ]
    order = torch.randperm(24, generator=torch.Generator().manual_seed(1))
    assert torch.allclose(whole, torch.cat(split), atol=1e-6, rtol=0)
    assert torch.allclose(whole[order], shifted(key, x[order], severity, rows=rows[order]), atol=1e-6, rtol=0)


@pytest.mark.parametrize(("key", "kind"), CASES)
def test_seed_row_and_kind_decide_the_numbers(key, kind):
    x, severity = inputs(kind)[:1].repeat(24, *[1] * (inputs(kind).ndim - 1)), SHIFTS[key].severities[3]
    first, again, other = (shifted(key, x, severity, seed=seed) for seed in (1, 1, 2))
    assert torch.equal(first, again)
    assert torch.equal(first, other) == (not SHIFTS[key].random)
    assert torch.allclose(first[0], first[1:], atol=1e-6) == (not SHIFTS[key].random)


def test_two_kinds_of_noise_do_not_share_their_numbers():
    x = torch.zeros(500, 10)
    one, two = (shifted(key, x, 1.0).flatten() for key in ("gaussian", "uniform"))
    assert abs(torch.corrcoef(torch.stack([one, two]))[0, 1]) < 5 / math.sqrt(len(one))


@pytest.mark.parametrize("key", ROWS)
@pytest.mark.parametrize("name", ["titanic", "mnist"])
def test_shifts_of_rows_keep_the_size_and_move_more_with_severity(key, name):
    task = load(name)
    rows = task.rows("test")
    assert torch.equal(shift_rows(key, task, "test", 0, seed=4), rows)
    moved = []
    for severity in SHIFTS[key].severities:
        got = shift_rows(key, task, "test", severity, seed=4)
        assert len(got) == len(rows)
        assert set(got.tolist()) <= set(rows.tolist())
        assert torch.equal(got, shift_rows(key, task, "test", severity, seed=4))
        moved.append(sum((Counter(got.tolist()) - Counter(rows.tolist())).values()))
    assert moved[0] > 0
    assert moved == sorted(set(moved))
    assert not torch.equal(got, shift_rows(key, task, "test", severity, seed=5))


def test_wrong_names_kinds_and_severities_are_told():
    table, image, task = inputs("table"), inputs("image"), load("titanic")
    for call, words in (
        (lambda: shifted("gausian", table, 1), "no shift 'gausian'; did you mean 'gaussian'"),
        (lambda: shifted("motion_blur", image, 1), "did you mean 'motion-blur'"),
        (lambda: shifted("blur", table, 0.1), "'blur' is for images and these inputs are a table"),
        (lambda: shifted("feature-dropout", image, 0.1), "is for tables and these inputs are images"),
        (
            lambda: shifted("gaussian", table, -0.1),
            "severity -0.1 of 'gaussian' is not a number of at least 0",
        ),
        (lambda: shifted("gaussian", table, math.nan), "is not a number of at least 0"),
        (lambda: shifted("jpeg", image, 1.0), "severity 1.0 of 'jpeg' is above 0.99"),
        (lambda: shifted("gaussian", table, 0.1, seed=-1), "seed of a shift must be a whole number"),
        (lambda: shifted("gaussian", table, 0.1, rows=torch.arange(3)), "the id of each of the 24 rows"),
        (lambda: shifted("gaussian", table.to(torch.uint8), 0.1), "scaled inputs, floats"),
        (lambda: shifted("group-share", table, 0.1), "use shift_rows"),
        (lambda: shifted("blur:3", image, 0.1), "nothing to choose: leave ':3' out"),
        (lambda: shifted("blur", pictures(), 0.1, scaling=Scaling()), "the value of white before scaling"),
        (lambda: shift_rows("gaussian", task, "test", 0.1, seed=0), "use shift_inputs"),
        (lambda: shift_rows("group-share", task, "tset", 0.1, seed=0), "has no part 'tset'"),
        (
            lambda: shift_rows("group-share:femal", task, "test", 0.1, seed=0, protect="sex"),
            "did you mean 'fem",
        ),
        (lambda: shift_rows("group-share:", task, "test", 0.1, seed=0), "names nothing after the colon"),
        (lambda: shift_rows("covariate-resampling:agee", task, "test", 0.1, seed=0), "did you mean 'age"),
    ):
        with pytest.raises(InputError, match=words):
            call()


def test_white_may_be_said():
    raw = pictures()
    got = shifted("contrast", raw, 0.5, scaling=Scaling(), white=255.0)
    plain = shifted("contrast", raw / 255, 0.5, scaling=Scaling())
    assert torch.allclose(got, plain * 255, atol=1e-3)
    mnist = load("mnist")
    assert (white_of(mnist), kind_of(mnist), kind_of(load("titanic"))) == (255.0, "image", "table")


def test_no_rows_are_no_error():
    assert shifted("blur", inputs("image")[:0], 0.1).shape == (0, 3, 28, 32)


@pytest.mark.gpu
@pytest.mark.parametrize(("key", "kind"), CASES)
def test_a_gpu_gives_the_same(key, kind):
    x = inputs(kind)
    for severity in SHIFTS[key].severities:
        here, there = shifted(key, x, severity), shifted(key, x.cuda(), severity)
        assert there.is_cuda
        assert (here - there.cpu()).abs().max() < 1e-5
