"""OpenVINO: requests {xml, weights, inputs, plugin}; `plugin` chooses the CPU plugin or the reference evaluation.

With `names`, the CPU plugin takes the inputs by name, and returns the outputs of these names. With `onnx` instead of
`xml` and `weights`, the answer also has the IR that OpenVINO makes of an ONNX file.
"""

import base64
import io
import os
import tempfile

import numpy as np
import openvino as ov
from peer import DTYPES, NAMES, serve, to_array, to_tensor

core = ov.Core()
# Data types that NumPy lacks.
TYPES = {
    "bfloat16": ov.Type.bf16,
    "float8e4m3fn": ov.Type.f8e4m3,
    "float8e5m2": ov.Type.f8e5m2,
    "float8e8m0": ov.Type.f8e8m0,
}


def value_of(array):
    if array.dtype == object:
        return ov.Tensor(array.astype("U"))
    name = NAMES.get(array.dtype)
    if name is None:
        return ov.Tensor(array)
    return ov.Tensor(array.view(f"u{array.dtype.itemsize}"), ov.Shape(array.shape), TYPES[name])


def result_of(tensor):
    if tensor.get_element_type() == ov.Type.string:
        return to_tensor(tensor.str_data)
    name = next((name for name, one in TYPES.items() if one == tensor.get_element_type()), None)
    array = np.array(tensor.data)
    return to_tensor(array if name is None else array.view(DTYPES[name]))


def room_for(output):
    shape = output.get_partial_shape()
    return ov.Tensor(output.get_element_type(), shape.to_shape() if shape.is_static else ov.Shape([0]))


def evaluated(model, arrays):
    results = [room_for(one) for one in model.outputs]
    if not model.evaluate(results, arrays):
        raise RuntimeError("the reference does not evaluate this")
    return results


def by_name(model, request):
    feeds = {name: value_of(to_array(tensor)) for name, tensor in request["inputs"].items()}
    if request.get("plugin", True):
        compiled = core.compile_model(model, "CPU", {"INFERENCE_PRECISION_HINT": "f32", "INFERENCE_NUM_THREADS": 1})
        ask = compiled.create_infer_request()
        ask.infer(feeds)
        results = [ask.get_tensor(name) for name in request["names"]]
    else:
        made = evaluated(model, [next(feeds[name] for name in port.names if name in feeds) for port in model.inputs])
        results = [next(one for port, one in zip(model.outputs, made) if name in port.names) for name in request["names"]]
    return {"outputs": [result_of(one) for one in results]}


def converted(request):
    model = ov.convert_model(io.BytesIO(base64.b64decode(request["onnx"])))
    with tempfile.TemporaryDirectory() as folder:
        ov.save_model(model, os.path.join(folder, "m.xml"), compress_to_fp16=False)
        xml, weights = (open(os.path.join(folder, name), "rb").read() for name in ("m.xml", "m.bin"))
    try:
        outputs = by_name(model, request)["outputs"]
    except RuntimeError as error:  # The answer has the IR even if it does not run.
        outputs = str(error)[:400]
    return {"xml": xml.decode(), "weights": base64.b64encode(weights).decode(), "outputs": outputs}


def answer(request):
    if "onnx" in request:
        return converted(request)
    model = core.read_model(request["xml"].encode(), base64.b64decode(request["weights"]))
    if "names" in request:
        return by_name(model, request)
    arrays = [value_of(to_array(request["inputs"][one.get_friendly_name()])) for one in model.get_parameters()]
    if request.get("plugin", True):
        hints = {"INFERENCE_PRECISION_HINT": "f32", "INFERENCE_NUM_THREADS": 2}
        compiled = core.compile_model(model, "CPU", hints)
        ask = compiled.create_infer_request()
        ask.infer(dict(enumerate(arrays)))
        results = [ask.get_output_tensor(at) for at in range(len(compiled.outputs))]
    else:
        results = evaluated(model, arrays)
    return {"outputs": [result_of(one) for one in results]}


if __name__ == "__main__":
    serve({"openvino": ov.__version__.split("-")[0]}, answer)
