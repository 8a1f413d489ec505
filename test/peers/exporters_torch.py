"""Exports small modules of PyTorch to ONNX and to IR.

Requests are {list: true}, answered with the names of the modules, or {module, exporter, packages}, answered with the
model's file, its inputs by name, and PyTorch's outputs.
"""

import base64
import io
import os
import sys
import tempfile
import warnings

import torch
from modules_torch import MODULES
from peer import serve, to_tensor

warnings.filterwarnings("ignore")
torch.set_num_threads(1)


class Module(torch.nn.Module):
    def __init__(self, function):
        super().__init__()
        self.function = function

    def forward(self, *inputs):
        return self.function(*inputs)


def exported(module, inputs, names, exporter):
    if exporter == "openvino":
        import openvino

        model = openvino.convert_model(module, example_input=inputs)
        for port, name in zip(model.inputs, names):
            port.get_tensor().set_names({name})
        with tempfile.TemporaryDirectory() as folder:
            openvino.save_model(model, os.path.join(folder, "m.xml"), compress_to_fp16=False)
            xml, weights = (open(os.path.join(folder, name), "rb").read() for name in ("m.xml", "m.bin"))
        return {"xml": xml.decode(), "weights": base64.b64encode(weights).decode()}
    if exporter == "dynamo":
        program = torch.onnx.export(module, inputs, input_names=names, dynamo=True, verbose=False)
        return {"model": base64.b64encode(program.model_proto.SerializeToString()).decode()}
    target = io.BytesIO()
    torch.onnx.export(module, inputs, target, input_names=names, dynamo=False, opset_version=18)
    return {"model": base64.b64encode(target.getvalue()).decode()}


def answer(request):
    if request.get("packages") not in [None, *sys.path]:
        sys.path.append(request["packages"])  # Packages of another environment, which come after those of this one.
    if request.get("list"):
        return {"modules": list(MODULES)}
    function, *arrays = MODULES[request["module"]]
    inputs = [torch.from_numpy(one.copy()) for one in arrays]
    module = Module(function).eval()
    names = [f"in{at}" for at in range(len(inputs))]
    outputs = module(*inputs)
    outputs = outputs if isinstance(outputs, tuple) else (outputs,)
    file = exported(module, tuple(inputs), names, request["exporter"])
    return {
        **file,
        "inputs": {name: to_tensor(one) for name, one in zip(names, arrays)},
        "outputs": [to_tensor(one.numpy()) for one in outputs],
    }


if __name__ == "__main__":
    serve({"torch": torch.__version__}, answer)
