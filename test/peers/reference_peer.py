"""ONNX's reference evaluation and its checker: requests {model, inputs}, or {model, check: true}."""

import base64

import onnx
from onnx.reference import ReferenceEvaluator
from peer import serve, to_array, to_tensor


def answer(request):
    model = onnx.load_from_string(base64.b64decode(request["model"]))
    if request.get("check"):
        onnx.checker.check_model(model, full_check=True)
        return {"outputs": []}
    feeds = {name: to_array(tensor) for name, tensor in request["inputs"].items()}
    return {"outputs": [to_tensor(one) for one in ReferenceEvaluator(model).run(None, feeds)]}


if __name__ == "__main__":
    serve({"onnx": onnx.__version__}, answer)
