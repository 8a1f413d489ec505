"""TensorStore: requests {do: create | read | other, format, path, …}."""

import json
from importlib.metadata import version

import numpy as np
import tensorstore as ts
from peer import serve, to_array, to_tensor


def opened(request, **more):
    kvstore = {"driver": "file", "path": request["path"] + "/"}
    return ts.open({"driver": "zarr3" if request["format"] == 3 else "zarr", "kvstore": kvstore, **more}).result()


def read(request):
    return to_tensor(np.asarray(opened(request).read().result()))


def create(request):
    """Writes metadata as TensorStore formats it, and boxes of the values."""
    document = json.loads(request["metadata"])
    if request["format"] == 2:
        del document["attributes"]
    array = opened(request, metadata=document, create=True, store_data_equal_to_fill_value=request["empty"])
    values = to_array({"dtype": "uint8", "shape": [-1], "data": request["data"]})
    values = values.view(array.dtype.numpy_dtype).reshape(array.shape)
    for start, shape in request["boxes"]:
        box = tuple(slice(at, at + length) for at, length in zip(start, shape))
        array[box].write(values[box]).result()
    return read(request)


def other(request):
    """Creates an array with a data type or a codec that the package does not support."""
    names = {"dtype", "data_type", "compressor"} & set(request)
    grid = {"chunk_grid": {"name": "regular", "configuration": {"chunk_shape": [2]}}} if request["format"] == 3 else {}
    metadata = {"shape": [3], **grid, **{name: request[name] for name in names}}
    opened(request, metadata=metadata, create=True, **({"field": request["field"]} if "field" in request else {}))
    return {}


if __name__ == "__main__":
    actions = {"create": create, "read": read, "other": other}
    serve({"tensorstore": version("tensorstore")}, lambda request: actions[request["do"]](request))
