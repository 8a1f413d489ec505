"""TensorFlow on a CPU: requests {line, inputs, gradient}. Without `gradient`, the answer is the line's result `y`; with
it, the gradients of data and updates for this gradient of `y`.
"""

import os

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
os.environ["CUDA_VISIBLE_DEVICES"] = "-1"

import tensorflow as tf
from peer import serve, to_array, to_tensor


def answer(request):
    given = {name: tf.constant(to_array(tensor)) for name, tensor in request["inputs"].items()}
    wanted = [given[name] for name in ("data", "updates") if name in given and "gradient" in request]
    names = {"tf": tf, **given}
    with tf.GradientTape() as tape:
        for one in wanted:
            tape.watch(one)
        exec(request["line"], names)
    if not wanted:
        return {"outputs": [to_tensor(names["y"].numpy())]}
    gradient = tf.constant(to_array(request["gradient"]))
    found = tape.gradient(names["y"], wanted, gradient, unconnected_gradients=tf.UnconnectedGradients.ZERO)
    return {"outputs": [to_tensor(tf.convert_to_tensor(one).numpy()) for one in found]}


if __name__ == "__main__":
    serve({"tensorflow": tf.__version__}, answer)
