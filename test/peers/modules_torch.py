"""Small modules of torch that index tensors, each with its inputs."""

from functools import partial

import draws
import numpy as np
import torch
from draws import B, F, X

I, P = partial(draws.I, dtype=np.int64), partial(draws.P, dtype=np.int64)


def assigned(x, at, values):
    y = x.clone()
    y[at] = values
    return y


def sums_of_neighbours(x, edges, size):
    return torch.zeros(size, x.shape[1]).index_add(0, edges[1], x[edges[0]])


def walk(x, i):
    row = lambda n: x.index_select(0, i.index_select(0, n.reshape(1)))[0]
    return torch.while_loop(lambda n, y: n < 3, lambda n, y: (n + 1, y + row(n)), (torch.tensor(0), x[0]))


def branch(x, i):
    return torch.cond(x.sum() > 0, lambda x, i: x[i], lambda x, i: x[i] + 1, (x, i))


AT = (I(-5, 5, 6),)
SCATTER = (F(*X), I(0, 2, 3, 4), F(3, 4))  # Three updates for two rows, so some repeat.
MODULES = {
    "x[i]": (lambda x, i: x[i], F(*X), *AT),
    "x[:, i]": (lambda x, i: x[:, i], F(*X), I(-4, 4, 6)),
    "x[i, j]": (lambda x, i, j: x[i, j], F(*X), *AT, I(-4, 4, 6)),
    "x[i[:, None], j]": (lambda x, i, j: x[i[:, None], j], F(*X), *AT, I(-4, 4, 3)),
    "x[i, :, j]": (lambda x, i, j: x[i, :, j], F(3, 4, 5), I(-3, 3, 6), I(-5, 5, 6)),
    "x[..., i, None]": (lambda x, i: x[..., i, None], F(2, *X), I(-4, 4, 6)),
    "x[mask]": (lambda x, m: x[m], F(*X), B(*X)),
    "x[i] of bool": (lambda x, i: x[i], B(*X), *AT),
    "x[i] of float16": (lambda x, i: x[i], F(*X).astype(np.float16), *AT),
    "x[i] of bfloat16": (lambda x, i: x.bfloat16()[i].float(), F(*X), *AT),
    "x[i] of no elements": (lambda x, i: x[i], F(*X), I(0, 5, 0)),
    "x[-1, ::2]": (lambda x: x[-1, ::2], F(*X)),
    "x[mask] = 0": (lambda x, m: assigned(x, m, 0.0), F(*X), B(*X)),
    "x[i] = u": (lambda x, i, u: assigned(x, i, u), F(*X), P(5)[:3], F(3, 4)),
    "x[i, j] = u": (lambda x, i, j, u: assigned(x, (i, j), u), F(*X), P(5)[:3], I(0, 4, 3), F(3)),
    "x[:, i] = u": (lambda x, i, u: assigned(x, (slice(None), i), u), F(*X), P(4)[:2], F(5, 2)),
    "x[1:3] = u": (lambda x, u: assigned(x, slice(1, 3), u), F(*X), F(2, 4)),
    "x[::2, 1] = u": (lambda x, u: assigned(x, (slice(None, None, 2), 1), u), F(*X), F(3)),
    "index_put": (lambda x, i, u: torch.index_put(x, [i], u), F(*X), P(5)[:3], F(3, 4)),
    "index_put, accumulated": (lambda x, i, u: torch.index_put(x, [i], u, True), F(*X), *AT, F(6, 4)),
    "index_put of pairs, accumulated": (lambda x, i, j, u: torch.index_put(x, [i, j], u, True), F(*X), *AT, I(0, 4, 6), F(6)),
    "index_put of integers, accumulated": (lambda x, i, u: torch.index_put(x, [i], u, True), I(0, 9, *X), *AT, I(0, 9, 6, 4)),
    "index_copy": (lambda x, i, u: x.index_copy(0, i, u), F(*X), P(5)[:3], F(3, 4)),
    "index_add": (lambda x, i, u: x.index_add(0, i, u), F(*X), I(0, 5, 6), F(6, 4)),
    "index_add along 1": (lambda x, i, u: x.index_add(1, i, u, alpha=2), F(*X), I(0, 4, 6), F(5, 6)),
    "index_fill": (lambda x, i: x.index_fill(0, i, 2.0), F(*X), I(0, 5, 3)),
    "index_reduce": (lambda x, i, u: x.index_reduce(0, i, u, "amax"), F(*X), I(0, 5, 6), F(6, 4)),
    "index_select": (lambda x, i: x.index_select(1, i), F(*X), I(0, 4, 6)),
    "gather": (lambda x, i: x.gather(1, i), F(*X), I(0, 4, 3, 2)),
    "take_along_dim": (lambda x, i: torch.take_along_dim(x, i, 1), F(*X), I(0, 4, 5, 2)),
    "take": (lambda x, i: torch.take(x, i), F(*X), I(0, 20, 2, 3)),
    "scatter": (lambda x, i, u: x.scatter(0, i, u), F(*X), np.stack([P(5)[:3] for _ in range(4)], 1), F(3, 4)),
    "scatter_add": (lambda x, i, u: x.scatter_add(0, i, u), *SCATTER),
    "scatter_add of int64": (lambda x, i, u: x.scatter_add(0, i, u), I(0, 9, *X), SCATTER[1], I(0, 9, 3, 4)),
    **{
        f"scatter_reduce {kind}{' without self' * (1 - own)}": (
            lambda x, i, u, kind=kind, own=own: x.scatter_reduce(0, i, u, reduce=kind, include_self=own),
            *SCATTER,
        )
        for kind in ("sum", "prod", "mean", "amax", "amin")
        for own in (True, False)
    },
    "masked_fill": (lambda x, m: x.masked_fill(m, 0.5), F(*X), B(*X)),
    "masked_scatter": (lambda x, m, u: x.masked_scatter(m, u), F(*X), B(*X), F(20)),
    "embedding": (lambda x, i: torch.nn.functional.embedding(i, x), F(*X), I(0, 5, 2, 3)),
    "embedding bag": (lambda x, i: torch.nn.functional.embedding_bag(i, x, mode="sum"), F(*X), I(0, 5, 2, 3)),
    "key-value cache": (lambda x, i, u: assigned(x, (slice(None), i), u), F(2, 6, 4), I(0, 6, 1), F(2, 1, 4)),
    "key-value cache by slice_scatter": (lambda x, u: torch.slice_scatter(x, u, 1, 2, 4), F(2, 6, 4), F(2, 2, 4)),
    "diagonal": (lambda x: torch.diagonal(x, 1), F(*X)),
    "roll": (lambda x: torch.roll(x, (1, -2), (0, 1)), F(*X)),
    "unfold": (lambda x: x.unfold(0, 3, 1), F(*X)),
    "one-hot": (lambda i: torch.nn.functional.one_hot(i, 6), I(0, 6, 5)),
    "top values": (lambda x: x[x.argsort(0)[:, 0]], P(20).reshape(X).astype(np.float32)),
    "graph convolution": (lambda x, e, w: torch.relu(sums_of_neighbours(x @ w, e, 5)), F(*X), I(0, 5, 2, 9), F(4, 3)),
    "mean of neighbours": (
        lambda x, e: sums_of_neighbours(x, e, 5) / torch.bincount(e[1], minlength=5).clamp(min=1)[:, None],
        *(F(*X), I(0, 5, 2, 9)),
    ),
    "while_loop": (walk, F(*X), I(0, 5, 3)),
    "cond": (branch, F(*X), *AT),
    "unique": (lambda i: torch.unique(i, return_inverse=True)[1], I(0, 4, 9)),
    "bincount": (lambda i: torch.zeros(5, dtype=torch.int64).scatter_add(0, i, torch.ones_like(i)), I(0, 5, 9)),
    "nonzero": (lambda x: x[torch.nonzero(x > 0)[:, 0]], F(6)),
}
