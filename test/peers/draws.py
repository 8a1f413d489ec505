"""Random inputs for small modules. Floats are multiples of 1/8, so their sums are exact in any order."""

import numpy as np

random = np.random.default_rng(45)
X = (5, 4)


def F(*shape):
    return (random.integers(-64, 65, shape) / 8).astype(np.float32)


def I(low, high, *shape, dtype=np.int32):
    return random.integers(low, high, shape).astype(dtype)


def B(*shape):
    return random.integers(0, 2, shape).astype(bool)


def P(size, dtype=np.int32):
    return random.permutation(size).astype(dtype)
