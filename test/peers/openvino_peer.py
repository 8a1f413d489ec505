"""OpenVINO: requests {xml, weights, inputs, plugin}; `plugin` chooses the CPU plugin or the reference evaluation."""

import base64

import numpy as np
import openvino as ov
from peer import DTYPES, NAMES, serve, to_array, to_tensor

core = ov.Core()
# Types without a type of NumPy's own.
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


def answer(request):
    model = core.read_model(request["xml"].encode(), base64.b64decode(request["weights"]))
    arrays = [value_of(to_array(request["inputs"][one.get_friendly_name()])) for one in model.get_parameters()]
    if request.get("plugin", True):
        hints = {"INFERENCE_PRECISION_HINT": "f32", "INFERENCE_NUM_THREADS": 2}
        compiled = core.compile_model(model, "CPU", hints)
        ask = compiled.create_infer_request()
        ask.infer(dict(enumerate(arrays)))
        results = [ask.get_output_tensor(at) for at in range(len(compiled.outputs))]
    else:
        results = [room_for(one) for one in model.outputs]
        if not model.evaluate(results, arrays):
            raise RuntimeError("the reference does not evaluate this")
    return {"outputs": [result_of(one) for one in results]}


if __name__ == "__main__":
    serve({"openvino": ov.__version__.split("-")[0]}, answer)
