"""
A stand-in of TensorFlow on NumPy, with what the page's programs use. Each function follows the document that it names;
where a document promises nothing, the stand-in raises.
"""

import numpy as np

from open_order import NotPromised, scattered

# https://www.tensorflow.org/api_docs/python/tf/dtypes. bfloat16 is not in NumPy.
bool, string = np.dtype(np.bool_), np.dtype(object)
float16, float32, float64 = (np.dtype(name) for name in ("f2", "f4", "f8"))
complex64, complex128 = np.dtype("c8"), np.dtype("c16")
int8, int16, int32, int64 = (np.dtype(name) for name in ("i1", "i2", "i4", "i8"))
uint8, uint16, uint32, uint64 = (np.dtype(name) for name in ("u1", "u2", "u4", "u8"))


class Tensor:
    """https://www.tensorflow.org/guide/tensor: types are not promoted; Python's numbers take the tensor's type."""

    def __init__(self, held):
        self.held = np.asarray(held)

    shape = property(lambda self: self.held.shape)
    dtype = property(lambda self: self.held.dtype)

    def __array__(self, dtype=None):
        return self.held if dtype is None else self.held.astype(dtype)

    def _with(self, other, function):
        return Tensor(function(*(one.held for one in _alike(self, other))))

    def __add__(self, other):
        return self._with(other, np.add)

    def __mod__(self, other):
        """https://www.tensorflow.org/api_docs/python/tf/math/floormod"""
        return self._with(other, np.remainder)

    def __lt__(self, other):
        return self._with(other, np.less)

    def __ge__(self, other):
        return self._with(other, np.greater_equal)

    def __and__(self, other):
        return self._with(other, np.logical_and)


def _alike(one, other):
    """Two tensors of one type."""
    first = one if isinstance(one, Tensor) else other
    found = [
        tensor if isinstance(tensor, Tensor) else Tensor(np.asarray(tensor, dtype=first.dtype))
        for tensor in (one, other)
    ]
    if found[0].dtype != found[1].dtype:
        raise TypeError(f"{found[0].dtype} and {found[1].dtype} do not mix")
    return found


def constant(value, dtype):
    """https://www.tensorflow.org/api_docs/python/tf/constant; text is held as bytes."""
    held = np.array(value, dtype=dtype)
    if dtype == string:
        held = np.array([one.encode() for one in held.ravel()], dtype=object).reshape(held.shape)
    return Tensor(held)


def zeros(shape, dtype):
    return Tensor(np.full(shape, b"", dtype=object) if dtype == string else np.zeros(shape, dtype=dtype))


def zeros_like(input):
    return zeros(input.shape, input.dtype)


def cast(x, dtype):
    return Tensor(x.held.astype(dtype))


def range(limit, dtype):
    return Tensor(np.arange(limit, dtype=dtype))


def meshgrid(*args, indexing):
    """https://www.tensorflow.org/api_docs/python/tf/meshgrid: a list of tensors of all of the axes."""
    return [Tensor(part) for part in np.meshgrid(*(one.held for one in args), indexing=indexing)]


def stack(values, axis):
    """https://www.tensorflow.org/api_docs/python/tf/stack: tensors of one shape and one type."""
    if len({(one.shape, one.dtype) for one in values}) != 1:
        raise ValueError("the shapes or the types differ")
    return Tensor(np.stack([one.held for one in values], axis))


def reshape(tensor, shape):
    return Tensor(tensor.held.reshape(shape))


def expand_dims(input, axis):
    return Tensor(np.expand_dims(input.held, axis))


def transpose(a, perm):
    return Tensor(np.transpose(a.held, perm))


def where(condition, x, y):
    """https://www.tensorflow.org/api_docs/python/tf/where: all three are broadcast together."""
    one, other = _alike(x, y)
    return Tensor(np.where(condition.held, one.held, other.held))


def _bounded(indices, sizes):
    """Indices "must be in range [0, params.shape[axis])"; on a CPU another is an error, on a GPU it gives 0."""
    if indices.dtype not in (int32, int64):
        raise TypeError(f"indices of {indices.dtype}")
    if not np.all((indices.held >= 0) & (indices.held < np.asarray(sizes))):
        raise IndexError("an index is out of bounds")


def gather(params, indices, axis, batch_dims=0):
    """
    https://www.tensorflow.org/api_docs/python/tf/gather: `params.shape[:batch_dims]` and `indices.shape[:batch_dims]` are
    the same, `axis` is not below `batch_dims`, and the output has the shape
    `params.shape[:axis] + indices.shape[batch_dims:] + params.shape[axis + 1:]`.
    """
    if params.shape[:batch_dims] != indices.shape[:batch_dims] or not batch_dims <= axis < len(params.shape):
        raise ValueError("the batches or the axis are wrong")
    _bounded(indices, params.shape[axis])
    shape = params.shape[:axis] + indices.shape[batch_dims:] + params.shape[axis + 1 :]
    output = np.zeros(shape, dtype=params.dtype)
    for batch in np.ndindex(params.shape[:batch_dims]):
        output[batch] = np.take(params.held[batch], indices.held[batch], axis=axis - batch_dims)
    return Tensor(output)


def gather_nd(params, indices, batch_dims=0):
    """
    https://www.tensorflow.org/api_docs/python/tf/gather_nd: the last axis of indices addresses the first axes of params
    behind the batches, which "exactly match".
    """
    depth = indices.shape[-1]
    if params.shape[:batch_dims] != indices.shape[:batch_dims] or batch_dims + depth > len(params.shape):
        raise ValueError("the batches or the depth are wrong")
    _bounded(indices, params.shape[batch_dims : batch_dims + depth])
    shape = indices.shape[:-1] + params.shape[batch_dims + depth :]
    output = np.zeros(shape, dtype=params.dtype)
    for batch in np.ndindex(params.shape[:batch_dims]):
        output[batch] = params.held[batch][tuple(np.moveaxis(indices.held[batch], -1, 0))]
    return Tensor(output)


def _scattered(tensor, indices, updates, function):
    """
    https://www.tensorflow.org/api_docs/python/tf/raw_ops/TensorScatterUpdate: "`indices` must have at least 2 axes"; its
    last axis is not longer than the rank; updates have the shape `indices.shape[:-1] + tensor.shape[indices.shape[-1]:]`.
    On a GPU "The order in which updates are applied is nondeterministic", for
    https://www.tensorflow.org/api_docs/python/tf/tensor_scatter_nd_add too.
    """
    if len(indices.shape) < 2:
        raise NotPromised("indices must have at least 2 axes")
    depth = indices.shape[-1]
    if updates.shape != indices.shape[:-1] + tensor.shape[depth:] or depth > len(tensor.shape):
        raise ValueError(f"updates of the shape {updates.shape}")
    if updates.dtype != tensor.dtype:
        raise TypeError("the types differ")
    _bounded(indices, tensor.shape[:depth])
    flat = np.arange(tensor.held.size).reshape(tensor.shape)[tuple(np.moveaxis(indices.held, -1, 0))]
    return Tensor(scattered(tensor.held, flat, updates.held, function))


def tensor_scatter_nd_update(tensor, indices, updates):
    return _scattered(tensor, indices, updates, None)


def tensor_scatter_nd_add(tensor, indices, updates):
    return _scattered(tensor, indices, updates, np.add)


def tensor_scatter_nd_sub(tensor, indices, updates):
    return _scattered(tensor, indices, updates, np.subtract)


def tensor_scatter_nd_max(tensor, indices, updates):
    """https://www.tensorflow.org/api_docs/python/tf/tensor_scatter_nd_max"""
    return _scattered(tensor, indices, updates, np.maximum)


def tensor_scatter_nd_min(tensor, indices, updates):
    """https://www.tensorflow.org/api_docs/python/tf/tensor_scatter_nd_min"""
    return _scattered(tensor, indices, updates, np.minimum)
