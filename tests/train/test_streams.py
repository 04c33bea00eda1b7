"""Random numbers of runs: even, unrelated, functions of seed, stream, step and place, and never changed."""

from __future__ import annotations

import pytest
import torch
from scipy import stats

from evenhand.errors import InputError
from evenhand.records import NoiseSpec
from evenhand.train.streams import Streams, mix, name_code

SEEDS = [0, 1, 2, 77, 2**31, 2**40, 2**63 + 5, -1, -(2**63)]


def plain_mix(x):
    """The mixer in whole numbers of any size."""
    for shift, factor in ((16, 0x7FEB352D), (15, 0x846CA68B)):
        x = (x ^ (x >> shift)) * factor & 0xFFFFFFFF
    return x ^ (x >> 16)


def plain_bits(seed, stream, step, place):
    """One number of a stream, written out."""
    low, high = seed & 0xFFFFFFFF, seed >> 32 & 0xFFFFFFFF
    root = plain_mix(plain_mix(low) ^ (high + 1) & 0xFFFFFFFF)
    key = plain_mix(plain_mix(root ^ name_code(stream)) ^ step)
    found = plain_mix(plain_mix(place + 1) ^ key)
    return found - (1 << 32) if found >= 1 << 31 else found


def test_bits_are_those_of_the_formula_for_any_seed():
    found = Streams(SEEDS).bits("order", 123_456, 5).tolist()
    assert found == [[plain_bits(seed, "order", 123_456, place) for place in range(5)] for seed in SEEDS]


def test_known_values_never_change():
    """Results of earlier versions can be had again only as long as these hold."""
    streams = Streams([0, 2**40])
    assert [name_code(name) for name in ("a", "foobar")] == [0xE40C292C, 0xBF9CF968]  # of FNV-1a, published
    assert streams.bits("order", 0, 4).tolist() == [
        [-1240139838, 77692157, 546449693, 945781783],
        [1029448486, -1402020606, -611081874, 1710655928],
    ]
    assert streams.uniform("order", 1, 2).tolist()[0] == [0.1607232689857483, 0.23263174295425415]
    assert streams.order("o", 3, 6).tolist()[0] == [4, 1, 0, 2, 3, 5]
    assert streams.normal("x", 0, 2)[0].tolist() == pytest.approx([1.2527132, 0.88197565], abs=1e-6)


def test_a_run_draws_what_it_draws_alone():
    together = Streams(SEEDS)
    for run, seed in enumerate(SEEDS):
        alone = Streams([seed])
        for draw in ("bits", "uniform", "fine", "normal", "order"):
            one, other = (getattr(streams, draw)("noise", 9, 33) for streams in (together, alone))
            assert torch.equal(one[run], other[0]), draw
        assert torch.equal(together.keep("d", 1, 9, 0.25)[run], alone.keep("d", 1, 9, 0.25)[0])


def test_any_step_can_be_drawn_without_the_steps_before_it():
    used = Streams([5])
    for step in range(10):
        used.bits("order", step, 8)
    assert torch.equal(used.bits("order", 10, 8), Streams([5]).bits("order", 10, 8))
    assert torch.equal(used.bits("order", 10, 8), used.bits("order", 10, 20)[:, :8])


def test_mix_is_a_bijection_on_a_stretch_of_numbers():
    assert len(mix(torch.arange(1 << 16, dtype=torch.int32)).unique()) == 1 << 16


@pytest.mark.parametrize("shift", [0, 8, 16, 24])
def test_every_byte_is_uniform_over_places_seeds_and_steps(shift):
    by_place = Streams([3]).bits("a", 0, 1 << 16)[0]
    by_seed = Streams(range(1 << 16)).bits("a", 0, 1)[:, 0]
    streams = Streams([3])
    by_step = torch.stack([streams.bits("a", step, 16) for step in range(1 << 12)]).flatten()
    for bits in (by_place, by_seed, by_step):
        counts = torch.bincount((bits >> shift) & 0xFF, minlength=256)
        assert stats.chisquare(counts.numpy()).pvalue > 1e-4


def test_every_bit_is_one_half_of_the_time():
    bits = Streams(range(64)).bits("a", 7, 4096).flatten()
    for place in range(32):
        share = ((bits >> place) & 1).double().mean()
        assert abs(share - 0.5) < 5 * 0.5 / len(bits) ** 0.5


def test_seeds_steps_and_streams_are_unrelated():
    n = 20_000
    runs = Streams([0, 1, 2, 3, 2**32, 2**33])
    rows = [
        runs.uniform(stream, step, n) for stream in ("order", "train/model.dropout1") for step in (0, 1, 2)
    ]
    table = torch.cat(rows).double()
    correlation = torch.corrcoef(table) - torch.eye(len(table), dtype=torch.float64)
    assert correlation.abs().max() < 5 / n**0.5
    assert len({tuple(row[:4].tolist()) for row in table}) == len(table)  # and no two are the same


def test_neighbouring_places_are_unrelated():
    u = Streams([11]).uniform("a", 0, 1 << 16)[0].double()
    for lag in (1, 2, 16, 256):
        assert abs(torch.corrcoef(torch.stack([u[:-lag], u[lag:]]))[0, 1]) < 5 / len(u) ** 0.5
    pairs = (u[:-1:2] * 16).long() * 16 + (u[1::2] * 16).long()
    assert stats.chisquare(torch.bincount(pairs, minlength=256).numpy()).pvalue > 1e-4


def test_uniform_is_in_the_unit_interval_and_even():
    u = Streams(range(8)).uniform("u", 0, 20_000)
    assert u.dtype == torch.float32
    assert u.min() >= 0
    assert u.max() < 1
    assert stats.kstest(u.flatten().numpy(), "uniform").pvalue > 1e-3


def test_fine_tells_more_places_apart_than_uniform():
    fine = Streams([1]).fine("u", 0, 1 << 17)[0]
    assert 0 <= fine.min() < fine.max() < 1
    assert stats.kstest(fine.numpy(), "uniform").pvalue > 1e-3
    assert len(fine.unique()) == 1 << 17  # a place is a bijection of its number; uniform has but 2^24 values
    assert len(Streams([1]).uniform("u", 0, 1 << 17).unique()) < 1 << 17


def test_normal_is_normal():
    z = Streams(range(20)).normal("z", 3, 10_000).double()
    assert torch.isfinite(z).all()
    assert abs(z.mean()) < 5 / z.numel() ** 0.5
    assert abs(z.var() - 1) < 5 * (2 / z.numel()) ** 0.5
    assert stats.kstest(z.flatten().numpy(), "norm").pvalue > 1e-3


@pytest.mark.parametrize("p", [0.0, 0.1, 0.25, 0.5, 0.9])
def test_keep_has_the_right_share_and_an_exact_scale(p):
    mask = Streams(range(10)).keep("d", 0, 10_000, p)
    assert set(mask.unique().tolist()) <= {0.0, torch.tensor(1 / (1 - p)).item()}
    share = (mask == 0).double().mean()
    assert abs(share - p) <= 5 * (p * (1 - p) / mask.numel()) ** 0.5


def test_keep_of_one_drops_all():
    assert Streams([0]).keep("d", 0, 1000, 1.0).abs().max() == 0


def test_order_is_a_permutation_and_each_place_equally_likely():
    order = Streams(range(500)).order("order", 0, 10)
    assert torch.equal(order.sort(dim=1).values, torch.arange(10).expand(500, 10))
    many = torch.cat([Streams(range(500)).order("order", step, 10) for step in range(20)])
    for place in range(10):
        assert stats.chisquare(torch.bincount(many[:, place], minlength=10).numpy()).pvalue > 1e-4


def test_draw_gives_what_was_asked_for():
    streams = Streams([0, 1])
    kinds = {
        "keep": NoiseSpec("keep", (3,), 0.5),
        "uniform": NoiseSpec("uniform", (3, 2)),
        "normal": NoiseSpec("normal"),
        "permutation": NoiseSpec("permutation"),
    }
    found = {kind: streams.draw(spec, "s", 4, 5) for kind, spec in kinds.items()}
    assert [tuple(found[kind].shape) for kind in kinds] == [(2, 5, 3), (2, 5, 3, 2), (2, 5), (2, 5)]
    assert torch.equal(found["permutation"], streams.order("s", 4, 5))
    assert torch.equal(found["normal"], streams.normal("s", 4, 5))
    assert found["keep"].unique().tolist() == [0.0, 2.0]


@pytest.mark.parametrize("seed", [2**64, -(2**63) - 1])
def test_a_seed_that_would_be_cut_is_refused(seed):
    with pytest.raises(InputError, match="is not within"):
        Streams([0, seed])
