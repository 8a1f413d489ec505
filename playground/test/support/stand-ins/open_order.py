"""What the stand-ins share: updates in an order that the documents leave open, and errors where they promise nothing."""

import numpy as np

RANDOM = np.random.default_rng(7)


class NotPromised(Exception):
    """The program relies on something that the library's documents leave undefined."""


def scattered(data, flat, updates, function):
    """A copy of data, in which updates were combined at flat positions, in any order; without a function they replace."""
    output = data.copy()
    flat, updates = flat.reshape(-1), updates.reshape(-1)
    order = RANDOM.permutation(flat.size)
    if function is not None:
        function.at(output.reshape(-1), flat[order], updates[order])
        return output
    if np.unique(flat).size < flat.size:
        raise NotPromised("several updates replace one element, and their order is open")
    output.reshape(-1)[flat[order]] = updates[order]
    return output
