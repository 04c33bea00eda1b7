"""torchvision for tests, where the environment has it.

Its ordinary build is made for torch with CUDA. Beside a CPU build of torch it can be imported once the two
operators that it looks for are declared; in the environment's own folder it would break every package that
tries to import it, so it may lie in a folder of its own: `pip install --no-deps --target .venv/vision`.
"""

from __future__ import annotations

import sys
from pathlib import Path
from types import ModuleType

import pytest
import torch


def load_torchvision() -> ModuleType:
    """torchvision, or the test is skipped."""
    if "torchvision" in sys.modules:
        return sys.modules["torchvision"]
    beside = Path(sys.prefix) / "vision"
    if not (beside / "torchvision").is_dir():
        return pytest.importorskip("torchvision", exc_type=(ImportError, RuntimeError))
    library = torch.library.Library("torchvision", "DEF")
    for name in ("nms", "qnms"):
        library.define(f"{name}(Tensor dets, Tensor scores, float iou_threshold) -> Tensor")
    sys.path.insert(0, str(beside))
    try:
        import torchvision
    finally:
        sys.path.remove(str(beside))
    torchvision.declared_for_tests = library  # a library that nobody holds takes its operators with it
    return torchvision
