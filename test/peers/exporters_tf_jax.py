"""Exports small functions of TensorFlow and JAX that index tensors to ONNX.

Requests are {list: true, exporter}, answered with the names of the functions, or {module, exporter}, answered with the
model's file, its inputs by name, and the framework's outputs.
"""

import base64
import os

os.environ.update(TF_CPP_MIN_LOG_LEVEL="3", CUDA_VISIBLE_DEVICES="-1", JAX_PLATFORMS="cpu", JAX_ENABLE_X64="0")

import numpy as np
from draws import B, F, I, P, X
from peer import serve, to_tensor

TUPLES = I(0, 4, 6, 2)
UNIQUE = np.stack([P(5)[:3], P(4)[:3]], 1)


def tf_modules():
    import tensorflow as tf

    def walk(x, i):
        body = lambda n, y: (n + 1, y + tf.gather(x, i[n]))
        return tf.while_loop(lambda n, y: n < 3, body, (0, x[0]), shape_invariants=(tf.TensorShape([]), tf.TensorShape([4])))[1]

    def at(name):
        function = getattr(tf, f"tensor_scatter_nd_{name}")
        return lambda x, i, u: function(x, i, u)

    return {
        "gather": (lambda x, i: tf.gather(x, i), F(*X), I(0, 5, 6)),
        "gather along 1": (lambda x, i: tf.gather(x, i, axis=1), F(*X), I(0, 4, 2, 3)),
        "gather with batch_dims": (lambda x, i: tf.gather(x, i, axis=1, batch_dims=1), F(*X), I(0, 4, 5, 2)),
        "gather of int32": (lambda x, i: tf.gather(x, i), I(-9, 9, *X), I(0, 5, 6)),
        "gather of bool": (lambda x, i: tf.gather(x, i), B(*X), I(0, 5, 6)),
        "gather_nd": (lambda x, i: tf.gather_nd(x, i), F(*X), TUPLES),
        "gather_nd of rows": (lambda x, i: tf.gather_nd(x, i), F(*X), I(0, 5, 6, 1)),
        "gather_nd with batch_dims": (lambda x, i: tf.gather_nd(x, i, batch_dims=1), F(*X), I(0, 4, 5, 1)),
        "scatter_nd": (lambda i, u: tf.scatter_nd(i, u, [5, 4]), TUPLES, F(6)),
        "scatter_nd of rows": (lambda i, u: tf.scatter_nd(i, u, [5, 4]), I(0, 5, 6, 1), F(6, 4)),
        "tensor_scatter_nd_update": (at("update"), F(*X), UNIQUE, F(3)),
        "tensor_scatter_nd_update of rows": (at("update"), F(*X), P(5)[:3, None], F(3, 4)),
        **{f"tensor_scatter_nd_{name}": (at(name), F(*X), TUPLES, F(6)) for name in ("add", "sub", "max", "min")},
        "embedding_lookup": (lambda x, i: tf.nn.embedding_lookup(x, i), F(*X), I(0, 5, 2, 3)),
        "boolean_mask": (lambda x, m: tf.boolean_mask(x, m), F(*X), B(5)),
        "x[1:, ::2]": (lambda x: x[1:, ::2], F(*X)),
        "one_hot": (lambda i: tf.one_hot(i, 6), I(0, 6, 5)),
        "roll": (lambda x: tf.roll(x, 2, 0), F(*X)),
        "reverse_sequence": (lambda x, n: tf.reverse_sequence(x, n, 1), F(*X), I(1, 4, 5)),
        "unsorted_segment_sum": (lambda x, i: tf.math.unsorted_segment_sum(x, i, 3), F(*X), I(0, 3, 5)),
        "segment_sum": (lambda x, i: tf.math.segment_sum(x, i), F(*X), np.array([0, 0, 1, 1, 2], np.int32)),
        "where": (lambda m: tf.where(m), B(*X)),
        "dynamic_partition": (lambda x, i: tf.dynamic_partition(x, i, 2), F(5), I(0, 2, 5)),
        "while_loop": (walk, F(*X), I(0, 5, 3)),
    }


def jax_modules():
    import jax
    import jax.numpy as jnp

    def at(kind, **settings):
        return lambda x, i, u: getattr(x.at[i], kind)(u, **settings)

    def step(y, row):
        return y + row, y[0]

    rows = (F(*X), I(0, 5, 6), F(6, 4))
    return {
        "x[i]": (lambda x, i: x[i], F(*X), I(-5, 5, 6)),
        "x[:, i]": (lambda x, i: x[:, i], F(*X), I(-4, 4, 6)),
        "x[i, j]": (lambda x, i, j: x[i, j], F(*X), I(-5, 5, 6), I(-4, 4, 6)),
        "x[i] of int32": (lambda x, i: x[i], I(-9, 9, *X), I(-5, 5, 6)),
        "x[-1, ::2]": (lambda x: x[-1, ::2], F(*X)),
        "take": (lambda x, i: jnp.take(x, i, axis=1), F(*X), I(0, 4, 6)),
        "take, clipped": (lambda x, i: jnp.take(x, i, axis=0, mode="clip"), F(*X), I(-2, 7, 6)),
        "take, wrapped": (lambda x, i: jnp.take(x, i, axis=0, mode="wrap"), F(*X), I(-7, 9, 6)),
        "take_along_axis": (lambda x, i: jnp.take_along_axis(x, i, axis=1), F(*X), I(0, 4, 5, 2)),
        "at set": (at("set"), F(*X), P(5)[:3], F(3, 4)),
        **{f"at {kind}": (at(kind), *rows) for kind in ("add", "multiply", "max", "min")},
        "at add, dropped": (at("add", mode="drop"), F(*X), I(0, 7, 6), F(6, 4)),
        "at[i, j] set": (lambda x, i, j, u: x.at[i, j].set(u), F(*X), P(5)[:3], P(4)[:3], F(3)),
        "at[:, i] add": (lambda x, i, u: x.at[:, i].add(u), F(*X), I(0, 4, 3), F(5, 3)),
        "at[1:3] set": (lambda x, u: x.at[1:3].set(u), F(*X), F(2, 4)),
        "dynamic_slice": (lambda x, i: jax.lax.dynamic_slice(x, (i, 0), (2, 4)), F(*X), I(0, 4)),
        "dynamic_update_slice": (lambda x, u, i: jax.lax.dynamic_update_slice(x, u, (i, 0)), F(*X), F(2, 4), I(0, 4)),
        "roll": (lambda x: jnp.roll(x, 2, 0), F(*X)),
        "one_hot": (lambda i: jax.nn.one_hot(i, 6), I(0, 6, 5)),
        "segment_sum": (lambda x, i: jax.ops.segment_sum(x, i, 3), F(*X), I(0, 3, 5)),
        "graph convolution": (lambda x, s, t, w: jnp.zeros((5, 3)).at[t].add((x @ w)[s]), F(*X), I(0, 5, 9), I(0, 5, 9), F(4, 3)),
        "fori_loop": (lambda x, i: jax.lax.fori_loop(0, 3, lambda n, y: y + jnp.take(x, jnp.take(i, n), axis=0), x[0]), F(*X), I(0, 5, 3)),
        "scan": (lambda x, i: jax.lax.scan(step, x[0], x[i])[1], F(*X), I(0, 5, 6)),
        "where": (lambda x, m: jnp.where(m, x, x[::-1]), F(*X), B(*X)),
    }


def by_tf2onnx(function, inputs, names):
    import tensorflow as tf
    import tf2onnx

    traced = tf.function(function)
    signature = [tf.TensorSpec(one.shape, one.dtype, name=name) for name, one in zip(names, inputs)]
    model, _ = tf2onnx.convert.from_function(traced, input_signature=signature, opset=18)
    return model, tf.nest.flatten(traced(*map(tf.constant, inputs)))


def by_jax2onnx(function, inputs, names):
    import jax
    import jax2onnx

    shapes = [jax.ShapeDtypeStruct(one.shape, one.dtype) for one in inputs]
    model = jax2onnx.to_onnx(function, inputs=shapes, input_names=names)
    return model, jax.tree.leaves(jax.jit(function)(*inputs))


EXPORTERS = {"tf2onnx": (tf_modules, by_tf2onnx), "jax2onnx": (jax_modules, by_jax2onnx)}
made = {}


def answer(request):
    modules, convert = EXPORTERS[request["exporter"]]
    if request["exporter"] not in made:
        made[request["exporter"]] = modules()
    rows = made[request["exporter"]]
    if request.get("list"):
        return {"modules": list(rows)}
    function, *inputs = rows[request["module"]]
    names = [f"in{at}" for at in range(len(inputs))]
    model, outputs = convert(function, inputs, names)
    return {
        "model": base64.b64encode(model.SerializeToString()).decode(),
        "inputs": {name: to_tensor(one) for name, one in zip(names, inputs)},
        "outputs": [to_tensor(np.asarray(one)) for one in outputs],
    }


if __name__ == "__main__":
    from importlib.metadata import version

    serve({name: version(name) for name in ("jax", "jax2onnx", "tensorflow-cpu", "tf2onnx")}, answer)
