"""What the attacks share: a good set of rows, and what a refusal must look like."""

import numpy as np
import pytest


@pytest.fixture
def rows():
    """60 rows: labels, predictions, two groups."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 60)
    return y, np.where(rng.random(60) < 0.8, y, 1 - y), rng.choice(["a", "b"], 60)


@pytest.fixture
def assert_refused():
    """`assert_refused(call, *words)`: the call raises one clear sentence that has the words."""

    def check(call, *words):
        with pytest.raises((ValueError, TypeError)) as caught:
            call()
        said = str(caught.value)
        assert "\n" not in said
        assert 10 < len(said) < 400, said
        for word in words:
            assert word in said, said

    return check
