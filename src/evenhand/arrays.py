"""Any array-like in, one numpy array out: without importing the library it came from.

Lists, numpy, pandas, polars and torch are told apart by what they can do, never by an import, so that an
audit of a numpy array costs no second library.
"""

from __future__ import annotations

from typing import Any, TypeGuard

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]
FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]

MOST_WHOLE = 2.0**53  # floats below this hold every whole number


def is_torch(values: object) -> TypeGuard[Any]:
    """Whether `values` is a torch tensor (torch is not imported to find out)."""
    return type(values).__module__.split(".", 1)[0] == "torch" and hasattr(values, "device")


def is_array_like(values: object) -> bool:
    """Whether `values` holds several values: a sequence, an array, a column, but not a text."""
    return not isinstance(values, (str, bytes)) and (
        hasattr(values, "__len__") or hasattr(values, "__array__")
    )


def as_array(values: object) -> Array:
    """The values as a numpy array; a torch tensor is brought to the CPU, a column loses its index.

    >>> as_array([1, 2, 3]).tolist()
    [1, 2, 3]
    """
    if isinstance(values, np.ma.MaskedArray):
        return _unmasked(values)
    if isinstance(values, np.ndarray):
        return values
    if is_torch(values):
        tensor: Any = values.detach().cpu()
        array: Array = (tensor.float() if str(tensor.dtype) == "torch.bfloat16" else tensor).numpy()
        return array
    if hasattr(values, "to_numpy"):
        return np.asarray(values.to_numpy())
    try:
        array = np.asarray(values)
        if array.dtype.kind != "U" or array.ndim != 1:
            return array
        kept = np.array(values, dtype=object)  # numpy turns None, NaN and numbers among texts into texts
        return array if all(isinstance(value, str) for value in kept) else kept
    except ValueError as error:
        raise ValueError("the values do not form an array: the rows have different lengths") from error


def _unmasked(values: np.ma.MaskedArray[Any, Any]) -> Array:
    """Masked entries become None, which is missing everywhere."""
    if not np.ma.is_masked(values):
        return np.asarray(values)
    plain = np.asarray(values.data).astype(object)
    plain[np.ma.getmaskarray(values)] = None
    return plain


def as_codes(values: object, what: str) -> Array:
    """The values as whole numbers (booleans and integral floats included).

    >>> as_codes([True, False], "labels").tolist()
    [1, 0]
    """
    array = as_array(values)
    if array.dtype.kind in "iu":
        return array
    if array.dtype.kind == "b":
        return array.view(np.uint8)
    if array.dtype.kind == "f" and bool(np.all(np.abs(array) < MOST_WHOLE)):
        whole: Array = array.astype(np.int64)
        if np.array_equal(whole, array):
            return whole
    if array.size == 0:
        return array.astype(np.int64)
    raise ValueError(
        f"{what} must be whole-number codes 0, 1, 2, ..., not {array.dtype}; evenhand.audit takes any values"
    )
