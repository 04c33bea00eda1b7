"""The shifts of images against scipy, Pillow and closed forms."""

import io
import math
from itertools import chain

import numpy as np
import pytest
import scipy.ndimage
import torch

from evenhand.data.shift_blur import WAYS
from evenhand.data.shift_jpeg import CHROMINANCE, LUMINANCE, table
from evenhand.data.shifts import SHIFTS, shift_inputs
from evenhand.data.task import Scaling


def shifted(key: str, x: torch.Tensor, severity: float, seed: int = 0) -> torch.Tensor:
    return shift_inputs(key, x, severity, seed=seed, rows=torch.arange(len(x)), scaling=Scaling())


def pictures(n: int = 8, channels: int = 3, height: int = 30, width: int = 41) -> torch.Tensor:
    """Smooth grounds with a box of one colour and a little grain, at the levels of bytes."""
    generator = torch.Generator().manual_seed(2)
    coarse = torch.rand(n, channels, 6, 6, generator=generator)
    x = torch.nn.functional.interpolate(coarse, size=(height, width), mode="bilinear")
    x[:, :, height // 3 : height // 2, width // 4 : width // 2] = torch.rand(
        n, channels, 1, 1, generator=generator
    )
    grain = 0.03 * torch.randn(x.shape, generator=generator)
    return ((x + grain).clamp(0, 1) * 255).round() / 255


@pytest.mark.parametrize("severity", [*SHIFTS["blur"].severities, 0.4])
def test_blur_is_scipys(severity):
    x = pictures()
    wanted = scipy.ndimage.gaussian_filter(
        x.double().numpy(), severity * 30, axes=(2, 3), mode="nearest", truncate=4.0
    )
    assert np.abs(shifted("blur", x, severity).numpy() - wanted).max() < 2e-6


def test_blur_keeps_the_light_of_a_spot_within():
    x = torch.zeros(1, 1, 41, 41)
    x[0, 0, 20, 20] = 1.0
    got = shifted("blur", x, 0.06)
    assert float(got.sum()) == pytest.approx(1.0, abs=1e-5)
    assert torch.allclose(got, got.flip(-1), atol=1e-7)
    assert torch.allclose(got, got.transpose(-1, -2), atol=1e-7)


@pytest.mark.parametrize("severity", [0.06, 0.2, 0.4])
def test_motion_blur_is_a_mean_along_a_way(severity):
    """The kernels of the four ways, made by hand and laid over by scipy; each image is one of them."""
    x = pictures(16, 1, 31, 35)
    got = shifted("motion-blur", x, severity).double().numpy()
    used = []
    for picture, found in zip(x.double().numpy(), got, strict=True):
        wanted = [
            scipy.ndimage.correlate(picture[0], kernel(way, severity * 31), mode="nearest") for way in WAYS
        ]
        far = [np.abs(found[0] - want).max() for want in wanted]
        assert min(far) < 1e-6
        used.append(int(np.argmin(far)))
    assert set(used) == {0, 1, 2, 3}


def kernel(way: tuple[int, int], length: float) -> np.ndarray:
    """The share of a way, centred, that lies in each pixel it passes; a diagonal step is √2 long."""
    half = 0.5 + length / math.hypot(*way) / 2  # in steps, from the middle
    reach = math.ceil(half)
    made = np.zeros((2 * reach + 1, 2 * reach + 1))
    for step in range(-reach, reach + 1):
        covered = max(0.0, min(half, step + 0.5) - max(-half, step - 0.5))
        made[reach + step * way[0], reach + step * way[1]] = covered
    return made / made.sum()


@pytest.mark.parametrize("severity", [0.2, 0.9, 1.0])
def test_contrast_closed_form(severity):
    x = pictures().double()
    got = shifted("contrast", x, severity)
    assert torch.allclose(got.mean((2, 3)), x.mean((2, 3)))
    assert torch.allclose(got.std((2, 3)), (1 - severity) * x.std((2, 3)), atol=1e-12)


def test_brightness_closed_form():
    x = pictures()
    assert torch.allclose(shifted("brightness", x, 0.3), torch.minimum(x + 0.3, torch.ones(())), atol=1e-6)
    assert (shifted("brightness", x, 1.0) == 1).all()


@pytest.mark.parametrize("severity", [*SHIFTS["pixelate"].severities, 1.0])
def test_pixelate_takes_the_means_of_blocks_and_does_nothing_the_second_time(severity):
    x = pictures()
    got = shifted("pixelate", x, severity)
    side = round(severity * 30)
    for top in range(0, 30, side):
        for left in range(0, 41, side):
            block = (..., slice(top, top + side), slice(left, left + side))
            wanted = x[block].mean((-2, -1), keepdim=True).expand_as(x[block])
            assert torch.allclose(got[block], wanted, atol=1e-6)
    assert torch.allclose(shifted("pixelate", got, severity), got, atol=1e-6)


@pytest.mark.parametrize("share", [*SHIFTS["occlusion"].severities, 1.0])
def test_occlusion_covers_one_grey_square_of_its_area(share):
    x = torch.ones(300, 1, 20, 20)
    got = shifted("occlusion", x, share)
    covered = got[:, 0] == 0.5
    side = round(math.sqrt(share * 400))
    assert (covered.sum((1, 2)) == side * side).all()
    assert (covered.any(2).sum(1) == side).all()
    assert (covered.any(1).sum(1) == side).all()
    assert (got[:, 0][~covered] == 1).all()
    # every place is as likely
    tops = torch.bincount(covered.any(2).int().argmax(1), minlength=20)[: 21 - side].double()
    expected = 300 / (21 - side)
    assert ((tops - expected) ** 2 / expected).sum() < len(tops) + 5 * math.sqrt(2 * len(tops))


def test_the_tables_of_jpeg_are_pillows():
    image = pytest.importorskip("PIL.Image")
    for quality in (1, 7, 25, 49, 50, 80, 95, 100):
        file = io.BytesIO()
        image.new("RGB", (16, 16)).save(file, "JPEG", quality=quality)
        steps = image.open(file).quantization
        for place, base in enumerate((LUMINANCE, CHROMINANCE)):
            assert sorted(chain(*table(base, quality))) == sorted(steps[place])


@pytest.mark.parametrize(("channels", "height", "width"), [(3, 32, 32), (1, 28, 28), (3, 45, 37)])
@pytest.mark.parametrize("severity", SHIFTS["jpeg"].severities)
def test_jpeg_is_pillows(channels, height, width, severity):
    """A coefficient near the middle of two steps may fall on either side; nearly all fall on the same."""
    image = pytest.importorskip("PIL.Image")
    x = pictures(20, channels, height, width)
    quality = round(100 * (1 - severity))
    theirs = np.stack([_saved(image, picture, quality) for picture in (x * 255).to(torch.uint8).numpy()])
    ours = shifted("jpeg", x, severity).numpy() * 255
    assert np.abs(ours - np.rint(ours)).max() < 1e-3
    apart, lost = np.abs(ours - theirs), np.abs(x.numpy() * 255 - theirs).mean()
    assert apart.mean() < 0.06 * lost
    assert apart.mean() < 0.4
    assert (apart <= 1.5).mean() > 0.9


def _saved(image, picture: np.ndarray, quality: int) -> np.ndarray:
    """A picture `[C, H, W]` of bytes after Pillow has written and read it, colours at half size."""
    file = io.BytesIO()
    colour = len(picture) == 3
    flat = image.fromarray(picture.transpose(1, 2, 0) if colour else picture[0])
    flat.save(file, "JPEG", quality=quality, **({"subsampling": "4:2:0"} if colour else {}))
    back = np.asarray(image.open(file), dtype=float)
    return back.transpose(2, 0, 1) if colour else back[None]


def test_jpeg_of_one_colour_keeps_it():
    x = torch.tensor([[200, 30, 90], [0, 255, 0]]).view(2, 3, 1, 1).expand(-1, -1, 20, 20) / 255
    got = shifted("jpeg", x, 0.05)
    assert (got - x).abs().max() <= 3 / 255
    assert torch.allclose(got, got[:, :, :1, :1].expand_as(got))
