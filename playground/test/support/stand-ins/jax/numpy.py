"""
The parts of jax.numpy that the page's programs use. Each follows the document that it names; where a document promises
nothing, the stand-in raises.
"""

import numpy as np

from jax import config
from open_order import NotPromised, scattered

nan, inf = np.nan, np.inf

# https://docs.jax.dev/en/latest/jax.numpy.html lists these scalar types. bfloat16 is not in NumPy.
bool_ = np.bool_
float16, float32, float64 = np.float16, np.float32, np.float64
complex64, complex128 = np.complex64, np.complex128
int8, int16, int32, int64 = np.int8, np.int16, np.int32, np.int64
uint8, uint16, uint32, uint64 = np.uint8, np.uint16, np.uint32, np.uint64


def _promoted(one, other):
    """https://docs.jax.dev/en/latest/type_promotion.html: an integer and a float make the float, of whatever width."""
    one, other = np.dtype(one), np.dtype(other)
    if one == other:
        return one
    inexact = [dtype for dtype in (one, other) if dtype.kind in "fc"]
    if len(inexact) == 1:
        return inexact[0]
    promoted = np.promote_types(one, other)
    if not inexact and promoted.kind == "f":
        raise NotPromised(f"{one} and {other} have no common integer type")
    return promoted


class Array:
    def __init__(self, held):
        self.held = np.asarray(held)
        if self.held.dtype.itemsize == 8 and self.held.dtype.kind in "iuf" and not config.is_wide:
            raise NotPromised("64 bits need jax_enable_x64")

    shape = property(lambda self: self.held.shape)
    dtype = property(lambda self: self.held.dtype)
    at = property(lambda self: _At(self.held))

    def __array__(self, dtype=None):
        return self.held if dtype is None else self.held.astype(dtype)

    def __iter__(self):
        return (Array(part) for part in self.held)

    def __getitem__(self, key):
        return self.at[key].get()

    def reshape(self, *shape):
        return Array(self.held.reshape(*shape))

    def astype(self, dtype):
        return Array(self.held.astype(dtype))

    def __neg__(self):
        return Array(-self.held)

    def _with(self, other, function):
        # The same document: Python's numbers take the array's type.
        held = other.held if isinstance(other, Array) else np.asarray(other, dtype=self.dtype)
        dtype = _promoted(self.dtype, held.dtype)
        return Array(function(self.held.astype(dtype), held.astype(dtype)))

    def __add__(self, other):
        return self._with(other, np.add)

    def __mod__(self, other):
        return self._with(other, np.remainder)

    def __floordiv__(self, other):
        return self._with(other, np.floor_divide)

    def __truediv__(self, other):
        if self.dtype.kind not in "fc":
            raise NotPromised("only floats are divided here")
        return self._with(other, np.true_divide)


class _At:
    """https://docs.jax.dev/en/latest/_autosummary/jax.Array.at.html"""

    def __init__(self, held):
        self.held = held

    def __getitem__(self, key):
        parts = key if isinstance(key, tuple) else (key,)
        return _Place(self.held, tuple(part.held if isinstance(part, Array) else part for part in parts))


class _Place:
    def __init__(self, held, key):
        self.held = held
        self.key = key

    def _inside(self):
        """Each index within its axis; negative ones count from the end ("wrap_negative_indices", on by default)."""
        found = []
        for size, part in zip(self.held.shape, self.key):
            if isinstance(part, slice):
                continue
            if np.asarray(part).dtype.kind not in "iu":
                raise TypeError("indices must be integers")
            found.append((-size <= np.asarray(part)) & (np.asarray(part) < size))
        return found

    def _promise(self):
        # "promise_in_bounds", the default: "The user promises that indices are in bounds."
        if not all(np.all(inside) for inside in self._inside()):
            raise NotPromised("an index is out of bounds, and the user promised that none is")

    def get(self, mode=None, fill_value=None):
        if mode is None:
            self._promise()
            return Array(self.held[self.key])
        # "fill": "the fill value to return for out-of-bounds slices".
        if mode != "fill" or fill_value is None or len(self.key) != self.held.ndim:
            raise NotPromised("this form of get is not used")
        inside = np.logical_and.reduce(np.broadcast_arrays(*self._inside()))
        if self.held.size == 0:
            return Array(np.full(inside.shape, fill_value, dtype=self.held.dtype))
        safe = tuple(np.where(inside, part, 0) for part in self.key)
        return Array(np.where(inside, self.held[safe], self.held.dtype.type(fill_value)))

    def _scattered(self, updates, function):
        """
        "all updates will be applied"; "The order in which conflicting updates are applied is implementation-defined and
        may be nondeterministic".
        """
        self._promise()
        flat = np.arange(self.held.size).reshape(self.held.shape)[self.key]
        updates = updates.held if isinstance(updates, Array) else np.asarray(updates)
        spread = np.broadcast_to(updates.astype(self.held.dtype), flat.shape)
        return Array(scattered(self.held, flat, spread, function))

    def set(self, updates):
        return self._scattered(updates, None)

    def add(self, updates):
        return self._scattered(updates, np.add)

    def multiply(self, updates):
        return self._scattered(updates, np.multiply)

    def min(self, updates):
        return self._scattered(updates, np.minimum)

    def max(self, updates):
        return self._scattered(updates, np.maximum)


def array(values, dtype):
    return Array(np.array(values, dtype=dtype))


def zeros(shape, dtype):
    return Array(np.zeros(shape, dtype=dtype))


def ones(shape, dtype):
    return Array(np.ones(shape, dtype=dtype))


def moveaxis(a, source, destination):
    """https://docs.jax.dev/en/latest/_autosummary/jax.numpy.moveaxis.html: NumPy's."""
    return Array(np.moveaxis(a.held, source, destination))


def indices(dimensions, sparse):
    """https://docs.jax.dev/en/latest/_autosummary/jax.numpy.indices.html: NumPy's; a tuple of arrays if sparse."""
    if not sparse:
        raise NotPromised("dense indices are not used")
    return tuple(Array(part) for part in np.indices(dimensions, dtype=np.int64, sparse=True))


def take(a, indices, axis):
    """
    https://docs.jax.dev/en/latest/_autosummary/jax.numpy.take.html: `mode="fill"`, the default, gives NaN or the largest
    value for an index out of bounds, which no exported program wants.
    """
    return a[(slice(None),) * (axis % len(a.shape)) + (indices,)]


def take_along_axis(arr, indices, axis):
    """
    https://docs.jax.dev/en/latest/_autosummary/jax.numpy.take_along_axis.html: the ranks are the same, and the other
    dimensions must be broadcast-compatible.
    """
    if len(arr.shape) != len(indices.shape):
        raise ValueError("the ranks differ")
    size = arr.shape[axis]
    if not np.all((-size <= indices.held) & (indices.held < size)):
        raise NotPromised("an index is out of bounds")
    return Array(np.take_along_axis(arr.held, indices.held, axis))
