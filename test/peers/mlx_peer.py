"""MLX on a CPU: requests {line, inputs}. The answer is the line's result `y`."""

from importlib.metadata import version

import mlx.core as mx
import numpy as np
from peer import serve, to_array, to_tensor


def answer(request):
    names = {"mx": mx, **{name: mx.array(to_array(tensor)) for name, tensor in request["inputs"].items()}}
    exec(request["line"], names)
    return {"outputs": [to_tensor(np.array(names["y"]))]}


if __name__ == "__main__":
    mx.set_default_device(mx.cpu)
    serve({"mlx": version("mlx")}, answer)
