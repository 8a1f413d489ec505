"""NumPy: requests {do: save, order, endian, version, …tensor}, {do: save, descr}, {do: load, dtype, file} or
{do: index, shape, texts}."""

import base64
import io
import json

import numpy as np
from peer import DTYPES, serve, to_array, to_tensor


def written(array, version=None):
    file = io.BytesIO()
    if version is None:
        np.save(file, array)
    else:
        np.lib.format.write_array(file, array, version)
    return base64.b64encode(file.getvalue()).decode()


def save(request):
    """Writes an NPY file with a given version, order and byte order, or one of any data type."""
    if "descr" in request:
        descr = request["descr"]
        dtype = np.dtype([tuple(field) for field in descr] if isinstance(descr, list) else descr)
        return {"file": written(np.zeros(3, dtype))}
    array = to_array(request)
    if request["dtype"] == "string":
        array = array.astype("U")
    if request["dtype"] not in DTYPES:
        array = array.astype(array.dtype.newbyteorder(request["endian"]))
    version = request["version"]
    return {"file": written(np.array(array, order=request["order"]), version and tuple(version))}


def load(request):
    array = np.load(io.BytesIO(base64.b64decode(request["file"])))
    if request["dtype"] in DTYPES:
        array = array.view(DTYPES[request["dtype"]])
    return {"file": written(array), **to_tensor(array.astype(array.dtype.newbyteorder("<")))}


def part(array, text):
    try:
        values = eval(f"array[{text}]", {"array": array})
        return [np.shape(values), np.ravel(values).tolist()]
    except IndexError:
        return None


def index(request):
    array = np.arange(np.prod(request["shape"])).reshape(request["shape"])
    return {"listing": json.dumps([part(array, text) for text in request["texts"]])}


ACTIONS = {"save": save, "load": load, "index": index}

if __name__ == "__main__":
    serve({"numpy": np.__version__}, lambda request: ACTIONS[request["do"]](request))
