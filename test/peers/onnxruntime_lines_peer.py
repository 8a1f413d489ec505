"""ONNX Runtime: requests {line, inputs}, with a line that makes the node of `y`."""

import base64

import onnxruntime as ort
from onnx import helper
from onnxruntime_peer import answer as answer_model
from peer import serve, to_array


def answer(request):
    names = {"make_node": helper.make_node}
    exec(request["line"], names)
    arrays = {name: to_array(tensor) for name, tensor in request["inputs"].items()}
    types = {name: helper.np_dtype_to_tensor_dtype(array.dtype) for name, array in arrays.items()}
    values = [helper.make_tensor_value_info(name, types[name], array.shape) for name, array in arrays.items()]
    graph = helper.make_graph([names["y"]], "g", values, [helper.make_tensor_value_info("y", types["data"], None)])
    opset = 24 if "TensorScatter" in request["line"] else 18
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=10)
    return answer_model({**request, "model": base64.b64encode(model.SerializeToString())})


if __name__ == "__main__":
    serve({"onnxruntime": ort.__version__}, answer)
