"""Arrays that are strided, read-only, mapped from a file or shared; inputs that must stay as they were."""

import copy
import pickle
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pandas as pd
import pytest

import evenhand


def values(found):
    """Everything but the time of day."""
    body = found.to_dict()
    body["method"].pop("created")
    return body


def frozen(array):
    array = array.copy()
    array.setflags(write=False)
    return array


LAYOUTS = {
    "every second": lambda a: np.repeat(a, 2)[::2],
    "backwards": lambda a: a[::-1].copy()[::-1],
    "a column of a matrix": lambda a: np.stack([a, a], axis=1)[:, 0],
    "fortran": lambda a: np.asfortranarray(np.stack([a, a]))[1],
    "read-only": frozen,
    "big-endian": lambda a: a.astype(a.dtype.newbyteorder(">")),
    "unaligned": lambda a: np.frombuffer(b"x" + a.tobytes(), dtype=np.uint8)[1:].view(a.dtype),
    "subclass": lambda a: a.view(np.recarray) if a.dtype.names else a.view(type("Own", (np.ndarray,), {})),
}


@pytest.mark.parametrize("layout", LAYOUTS.values(), ids=LAYOUTS)
def test_any_memory_layout(rows, layout):
    y, p, g = rows
    codes = (g == "b").astype(np.int64)
    plain = evenhand.audit(y, p, codes, weights=y + 1.0, scores=(p + 0.5) / 2, replicates=30)
    found = evenhand.audit(
        layout(y),
        layout(p),
        layout(codes),
        weights=layout(y + 1.0),
        scores=layout((p + 0.5) / 2),
        replicates=30,
    )
    assert values(found) == values(plain)


def test_runs_in_any_order_of_memory(rows):
    y, p, g = rows
    runs = np.stack([p, y, 1 - p])
    plain = evenhand.audit(y, runs, g, replicates=20)
    for layout in (np.asfortranarray(runs), runs.T.copy().T, np.repeat(runs, 2, axis=0)[::2], runs.tolist()):
        assert values(evenhand.audit(y, layout, g, replicates=20)) == values(plain)


def test_arrays_mapped_from_a_file(rows, tmp_path):
    y, p, g = rows
    mapped = []
    for name, array in (("y", y), ("p", p), ("g", (g == "b").astype(int))):
        np.save(tmp_path / f"{name}.npy", array)
        mapped.append(np.load(tmp_path / f"{name}.npy", mmap_mode="r"))
    plain = evenhand.audit(y, p, (g == "b").astype(int), replicates=20)
    assert values(evenhand.audit(*mapped, replicates=20)) == values(plain)


def test_nothing_given_is_changed(rows):
    y, p, g = rows
    some = y.astype(float)
    some[3] = np.nan
    given = {
        "y": some,
        "p": np.stack([p, 1 - p]),
        "g": pd.DataFrame({"g": g, "h": pd.Categorical(g, categories=["b", "a", "z"])}),
        "w": np.linspace(0.5, 2, 60),
        "s": np.linspace(0, 1, 60),
    }
    before = copy.deepcopy(given)
    evenhand.audit(given["y"], given["p"], given["g"], scores=given["s"], weights=given["w"], replicates=20)
    evenhand.compare(given["y"], {"a": given["p"], "b": p}, given["g"], weights=given["w"], replicates=20)
    for name, value in given.items():
        if isinstance(value, pd.DataFrame):
            pd.testing.assert_frame_equal(value, before[name])
        else:
            np.testing.assert_array_equal(value, before[name])


def test_a_list_given_is_not_changed(rows):
    y, p, g = (list(column) for column in rows)
    before = copy.deepcopy((y, p, g))
    evenhand.audit(y, p, g, positive=0, replicates=0)
    assert (y, p, g) == before


def test_changing_the_input_later_does_not_change_the_audit(rows):
    y, p, g = rows
    y = y.copy()
    found = evenhand.audit(y, p, g, replicates=20)
    before = values(found)
    y[:] = 1 - y
    assert values(found) == before


def test_threads_do_not_disturb_each_other(rows):
    y, p, g = rows
    expected = [values(evenhand.audit(y, np.roll(p, k), g, replicates=50)) for k in range(4)]
    with ThreadPoolExecutor(8) as pool:
        found = list(
            pool.map(lambda k: values(evenhand.audit(y, np.roll(p, k % 4), g, replicates=50)), range(24))
        )
    assert all(one == expected[k % 4] for k, one in enumerate(found))


@pytest.mark.parametrize(
    "again",
    [lambda x: pickle.loads(pickle.dumps(x)), copy.copy, copy.deepcopy],
    ids=["pickle", "copy", "deep"],
)
def test_results_can_be_stored_and_copied(rows, again):
    y, p, g = rows
    runs = np.stack([p, y])
    for found in (
        evenhand.audit(y, p, g, scores=(p + 0.5) / 2, replicates=20),
        evenhand.audit(y, runs, g, replicates=20),
        evenhand.audit(np.stack([y, p], 1), np.stack([p, p], 1), g, replicates=20),
        evenhand.compare(y, {"a": runs, "b": runs[::-1]}, groups=g, replicates=20),
    ):
        copied = again(found)
        assert copied.to_json() == found.to_json()
        assert repr(copied) == repr(found)
        assert copied.to_html() == found.to_html()


def test_results_cannot_be_changed_by_mistake(rows):
    y, p, g = rows
    found = evenhand.audit(y, p, g, replicates=0)
    with pytest.raises(AttributeError):
        found.groups = ()
    with pytest.raises(AttributeError):
        found.metrics["dp"].value = 0.0


def test_random_numbers_of_the_caller_are_left_alone(rows):
    y, p, g = rows
    np.random.seed(5)  # noqa: NPY002  # the global state is what is looked at
    expected = np.random.random()  # noqa: NPY002
    np.random.seed(5)  # noqa: NPY002
    evenhand.audit(y, p, g, replicates=50)
    assert np.random.random() == expected  # noqa: NPY002
