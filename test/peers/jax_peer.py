"""JAX: requests {line, inputs, gradient}. Without `gradient`, the answer is the line's result `y`; with it, the
gradients of data and updates for this gradient of `y`.
"""

import os

os.environ["JAX_ENABLE_X64"] = "1"
os.environ["JAX_PLATFORMS"] = "cpu"
# Each new shape is compiled, but runs only once.
os.environ["JAX_DISABLE_MOST_OPTIMIZATIONS"] = "1"

import jax
import jax.numpy as jnp
from peer import serve, to_array, to_tensor


def answer(request):
    given = {name: jnp.asarray(to_array(tensor)) for name, tensor in request["inputs"].items()}

    def y_of(values):
        names = {"jax": jax, "jnp": jnp, **values}
        exec(request["line"], names)
        return names["y"]

    if "gradient" not in request:
        return {"outputs": [to_tensor(y_of(given))]}
    indices = given.pop("indices")

    def gradients_of(values, indices, gradient):
        return jax.vjp(lambda values: y_of({**values, "indices": indices}), values)[1](gradient)[0]

    found = jax.jit(gradients_of)(given, indices, jnp.asarray(to_array(request["gradient"])))
    return {"outputs": [to_tensor(found[name]) for name in ("data", "updates") if name in found]}


if __name__ == "__main__":
    serve({"jax": jax.__version__}, answer)
