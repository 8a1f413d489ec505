"""PyTorch: requests {line, inputs, gradient}. Without `gradient`, the answer is the line's result `y`; with it, the
gradients of data and updates for this gradient of `y`.
"""

import ml_dtypes
import numpy as np
import torch
from peer import serve, to_array, to_tensor


def value_of(tensor):
    array = to_array(tensor)
    if array.dtype == ml_dtypes.bfloat16:
        return torch.from_numpy(array.view(np.int16)).view(torch.bfloat16)
    return torch.from_numpy(array)


def result_of(value):
    value = value.detach().contiguous()
    if value.dtype == torch.bfloat16:
        return to_tensor(value.view(torch.int16).numpy().view(ml_dtypes.bfloat16))
    return to_tensor(value.numpy())


def answer(request):
    given = {name: value_of(tensor) for name, tensor in request["inputs"].items()}
    wanted = [given[name] for name in ("data", "updates") if name in given and "gradient" in request]
    for one in wanted:
        one.requires_grad_()
    names = {"torch": torch, **given}
    exec(request["line"], names)
    if not wanted:
        return {"outputs": [result_of(names["y"])]}
    names["y"].backward(value_of(request["gradient"]))
    return {"outputs": [result_of(torch.zeros_like(one) if one.grad is None else one.grad) for one in wanted]}


if __name__ == "__main__":
    torch.set_num_threads(1)
    serve({"torch": torch.__version__.split("+")[0]}, answer)
