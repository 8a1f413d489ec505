"""NumPy: requests {line, inputs}. The answer is the line's result `y`."""

import numpy as np
from peer import serve, to_array, to_tensor


def answer(request):
    names = {"np": np, **{name: to_array(tensor) for name, tensor in request["inputs"].items()}}
    exec(request["line"], names)
    return {"outputs": [to_tensor(names["y"])]}


if __name__ == "__main__":
    serve({"numpy": np.__version__}, answer)
