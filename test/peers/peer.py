"""Code that all peers' programs share: answers requests of the tests, one JSON text per line.

A tensor is {dtype, shape, data}, with the bytes in base64, or a list of texts for strings. An answer is what the
program's function returns, or {error}. The first line has the versions of the packages.
"""

import base64
import json
import sys

import ml_dtypes
import numpy as np

DTYPES = {
    "bfloat16": ml_dtypes.bfloat16,
    "float8e4m3fn": ml_dtypes.float8_e4m3fn,
    "float8e4m3fnuz": ml_dtypes.float8_e4m3fnuz,
    "float8e5m2": ml_dtypes.float8_e5m2,
    "float8e5m2fnuz": ml_dtypes.float8_e5m2fnuz,
    "float8e8m0": ml_dtypes.float8_e8m0fnu,
}
NAMES = {np.dtype(dtype): name for name, dtype in DTYPES.items()}


def to_array(tensor):
    if tensor["dtype"] == "string":
        return np.array(tensor["data"], dtype=object).reshape(tensor["shape"])
    dtype = np.dtype(DTYPES.get(tensor["dtype"], tensor["dtype"]))
    return np.frombuffer(base64.b64decode(tensor["data"]), dtype).reshape(tensor["shape"]).copy()


def to_tensor(array):
    array = np.asarray(array)
    if array.dtype.kind in "OSUT":
        texts = [one.decode() if isinstance(one, bytes) else str(one) for one in array.reshape(-1).tolist()]
        return {"dtype": "string", "shape": list(array.shape), "data": texts}
    data = base64.b64encode(np.ascontiguousarray(array).tobytes()).decode()
    return {"dtype": NAMES.get(array.dtype, array.dtype.name), "shape": list(array.shape), "data": data}


def serve(versions, answer):
    """Answers each line of standard input with answer(request)."""
    print(json.dumps({"versions": versions}), flush=True)
    for line in sys.stdin:
        try:
            result = answer(json.loads(line))
        except Exception as error:  # Any exception of a package is an answer.
            result = {"error": f"{type(error).__name__}: {error}".strip()[:400]}
        print(json.dumps(result), flush=True)
