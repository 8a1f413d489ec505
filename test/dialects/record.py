"""Runs lines of dialects in the Python packages that are installed.

Reads [{dialect, line, inputs: {name: {dtype, shape, values}}}, ...] from standard input and writes a list of results:
{tool, version} with shape and values, or with an error; null where the package is not installed.
"""

import importlib.util
import json
import os
import sys

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
os.environ["JAX_ENABLE_X64"] = "1"
os.environ["JAX_PLATFORMS"] = "cpu"

import ml_dtypes
import numpy as np


def array(tensor):
    dtype = ml_dtypes.bfloat16 if tensor["dtype"] == "bfloat16" else tensor["dtype"]
    return np.array([float(v) if isinstance(v, str) else v for v in tensor["values"]]).astype(dtype).reshape(
        tensor["shape"]
    )


def word(value):
    if isinstance(value, (int, np.integer)):
        return int(value)
    value = float(value)
    if value != value:
        return "NaN"
    if value in (float("inf"), float("-inf")):
        return "Infinity" if value > 0 else "-Infinity"
    if value == 0 and str(value) == "-0.0":
        return "-0"
    return int(value) if value == int(value) else value


def with_numpy(line, inputs):
    names = {"np": np, **inputs}
    exec(line, names)
    return names["y"]


def with_torch(line, inputs):
    import torch

    def put(a):
        if a.dtype == ml_dtypes.bfloat16:
            return torch.from_numpy(a.astype(np.float32)).bfloat16()
        return torch.from_numpy(a)

    names = {"torch": torch, **{name: put(a) for name, a in inputs.items()}}
    exec(line, names)
    y = names["y"]
    return (y.float() if y.dtype == torch.bfloat16 else y).numpy()


def with_tensorflow(line, inputs):
    import tensorflow as tf

    with tf.device("/CPU:0"):
        names = {"tf": tf, **{name: tf.constant(a) for name, a in inputs.items()}}
        exec(line, names)
        return names["y"].numpy()


def with_jax(line, inputs):
    import jax.numpy as jnp

    names = {"jnp": jnp, **{name: jnp.asarray(a) for name, a in inputs.items()}}
    exec(line, names)
    return np.asarray(names["y"])


def with_onnxruntime(line, inputs):
    import onnxruntime as ort
    from onnx import helper

    names = {"make_node": helper.make_node}
    exec(line, names)
    values = [
        helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(a.dtype), a.shape)
        for name, a in inputs.items()
    ]
    result = helper.make_tensor_value_info("y", helper.np_dtype_to_tensor_dtype(inputs["data"].dtype), None)
    graph = helper.make_graph([names["y"]], "g", values, [result])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=8)
    options = ort.SessionOptions()
    options.log_severity_level = 4
    session = ort.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
    feeds = dict(inputs)
    if inputs["data"].dtype != ml_dtypes.bfloat16:
        return session.run(None, feeds)[0]
    feeds = {
        name: ort.OrtValue.ortvalue_from_numpy_with_onnx_type(a.view(np.uint16), 16)
        if a.dtype == ml_dtypes.bfloat16
        else ort.OrtValue.ortvalue_from_numpy(a)
        for name, a in inputs.items()
    }
    (y,) = session.run_with_ort_values(None, feeds)
    return y.numpy().view(ml_dtypes.bfloat16)


TOOLS = {
    "numpy": ("numpy", with_numpy),
    "torch-index-put": ("torch", with_torch),
    "torch-scatter": ("torch", with_torch),
    "torch-scatter-reduce": ("torch", with_torch),
    "tensorflow-cpu": ("tensorflow", with_tensorflow),
    "jax": ("jax", with_jax),
    "onnxruntime-cpu": ("onnxruntime", with_onnxruntime),
}


def run(job):
    if job["dialect"] not in TOOLS:
        return None
    package, runner = TOOLS[job["dialect"]]
    if importlib.util.find_spec(package) is None:
        return None
    version = importlib.import_module(package).__version__
    about = {"tool": package, "version": version}
    try:
        y = runner(job["line"], {name: array(t) for name, t in job["inputs"].items()})
        values = [word(value) for value in y.reshape(-1).tolist()]
        return {**about, "shape": list(y.shape), "values": values}
    except Exception as error:  # Whatever a package throws is what it does with a call.
        return {**about, "error": type(error).__name__ + ": " + str(error).strip().split("\n")[0][:160]}


if __name__ == "__main__":
    print(json.dumps([run(job) for job in json.load(sys.stdin)]))
