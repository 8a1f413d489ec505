"""OpenVINO: requests {xml, weights, inputs, plugin}; `plugin` chooses the CPU plugin or the reference evaluation."""

import base64
import os

import numpy as np
import openvino as ov
from peer import serve, to_array, to_tensor

core = ov.Core()


def value_of(array):
    if array.dtype == object:
        return ov.Tensor(array.astype("U"))
    name = array.dtype.name
    if name == "bfloat16":
        return ov.Tensor(array.view(np.uint16), ov.Shape(array.shape), ov.Type.bf16)
    return ov.Tensor(np.ascontiguousarray(array))


def result_of(tensor):
    if tensor.get_element_type() == ov.Type.bf16:
        return {**to_tensor(np.array(tensor.data).view(np.uint16)), "dtype": "bfloat16"}
    if tensor.get_element_type() == ov.Type.string:
        return to_tensor(tensor.str_data)
    return to_tensor(np.array(tensor.data))


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
        results = [ov.Tensor(one.get_element_type(), ov.Shape(one.get_shape())) for one in model.outputs]
        if not model.evaluate(results, arrays):
            raise RuntimeError("the reference does not evaluate this")
    return {"outputs": [result_of(one) for one in results]}


if __name__ == "__main__":
    serve({"openvino": ov.__version__.split("-")[0]}, answer)
