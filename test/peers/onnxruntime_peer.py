"""ONNX Runtime: requests {model, inputs, names}; `names` are the outputs, by default all."""

import base64
import ctypes

import numpy as np
import onnxruntime as ort
from peer import DTYPES, NAMES, serve, to_array, to_tensor

ort.set_default_logger_severity(4)
# ONNX's data types that NumPy lacks, by their numbers in TensorProto.
NUMBERS = {"bfloat16": 16, "float8e4m3fn": 17, "float8e4m3fnuz": 18, "float8e5m2": 19, "float8e5m2fnuz": 20}


def value_of(array):
    name = NAMES.get(array.dtype)
    if name is None:
        return ort.OrtValue.ortvalue_from_numpy(array)
    bits = array.view(np.uint16 if array.dtype.itemsize == 2 else np.uint8)
    return ort.OrtValue.ortvalue_from_numpy_with_onnx_type(bits, NUMBERS[name])


def result_of(value):
    name = value.data_type()[7:-1]
    if name not in DTYPES:
        return to_tensor(value.numpy())
    # Values of these types cannot become arrays, but their memory can be read.
    dtype = np.dtype(DTYPES[name])
    size = int(np.prod(value.shape())) * dtype.itemsize
    data = ctypes.string_at(value.data_ptr(), size) if size > 0 else b""
    return to_tensor(np.frombuffer(data, dtype).reshape(value.shape()))


def answer(request):
    options = ort.SessionOptions()
    options.log_severity_level = 4
    options.intra_op_num_threads = 1
    options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_DISABLE_ALL
    session = ort.InferenceSession(base64.b64decode(request["model"]), options, providers=["CPUExecutionProvider"])
    names = request.get("names")
    arrays = {name: to_array(tensor) for name, tensor in request["inputs"].items()}
    if any(array.dtype == object for array in arrays.values()):
        return {"outputs": [to_tensor(one) for one in session.run(names, arrays)]}
    feeds = {name: value_of(array) for name, array in arrays.items()}
    return {"outputs": [result_of(one) for one in session.run_with_ort_values(names, feeds)]}


if __name__ == "__main__":
    serve({"onnxruntime": ort.__version__}, answer)
