"""Measures a native runtime on the workloads of workloads.js: `python peer.py RUNTIME THREADS SECONDS FOLDER`.

RUNTIME is onnxruntime (IO binding, output allocated in advance) or openvino (an infer request with shared tensors).
FOLDER has a file workloads.json, and the inputs of each workload as raw bytes. Prints the version of the runtime and
the least milliseconds of each workload as JSON. The time is processor time for one thread, and wall time for more.
Each result is compared with the file of ndscatter's result: moves must have the same bits; sums may differ by the order
of their steps.
"""

import json
import os
import sys
import time

import numpy as np

RUNTIME, THREADS, SECONDS, FOLDER = sys.argv[1], int(sys.argv[2]), float(sys.argv[3]), sys.argv[4]
CLOCK = time.process_time if THREADS == 1 else time.perf_counter


def least(call):
    """Returns the least milliseconds of a call within the given time, and of five calls at least."""
    call()
    call()
    best, count, end = float("inf"), 0, time.perf_counter() + SECONDS
    while count < 5 or time.perf_counter() < end:
        start = CLOCK()
        call()
        best = min(best, CLOCK() - start)
        count += 1
    return best * 1000


def onnxruntime_runner():
    """Returns the version of ONNX Runtime, and a function that prepares a workload."""
    import onnx
    import onnxruntime
    from onnx import helper

    onnxruntime.set_default_logger_severity(4)

    def prepare(op, attributes, inputs, shape):
        names = [f"x{i}" for i in range(len(inputs))]
        types = [helper.np_dtype_to_tensor_dtype(value.dtype) for value in inputs]
        graph = helper.make_graph(
            [helper.make_node(op, names, ["y"], **attributes)],
            "workload",
            [
                helper.make_tensor_value_info(name, kind, value.shape)
                for name, kind, value in zip(names, types, inputs)
            ],
            [helper.make_tensor_value_info("y", types[0], shape)],
        )
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=9)
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = THREADS
        session = onnxruntime.InferenceSession(
            model.SerializeToString(), options, providers=["CPUExecutionProvider"]
        )
        binding = session.io_binding()
        values = [onnxruntime.OrtValue.ortvalue_from_numpy(value) for value in inputs]
        for name, value in zip(names, values):
            binding.bind_ortvalue_input(name, value)
        output = onnxruntime.OrtValue.ortvalue_from_numpy(np.zeros(shape, inputs[0].dtype))
        binding.bind_ortvalue_output("y", output)
        return (lambda: session.run_with_iobinding(binding)), output.numpy

    return onnxruntime.__version__, prepare


def openvino_runner():
    """Returns the version of OpenVINO, and a function that prepares a workload."""
    import openvino

    def node(op, attributes, parameters):
        reduction = "sum" if attributes.get("reduction") == "add" else "none"
        axis = openvino.opset1.constant(np.int64(attributes.get("axis", 0)))
        if op == "ScatterND":
            return openvino.opset15.scatter_nd_update(*parameters, reduction)
        if op == "ScatterElements":
            return openvino.opset12.scatter_elements_update(*parameters, axis, reduction)
        if op == "GatherND":
            return openvino.opset8.gather_nd(*parameters, attributes.get("batch_dims", 0))
        if op == "Gather":
            return openvino.opset8.gather(*parameters, axis)
        return openvino.opset6.gather_elements(*parameters, attributes.get("axis", 0))

    def prepare(op, attributes, inputs, shape):
        parameters = [openvino.opset1.parameter(list(v.shape), v.dtype) for v in inputs]
        model = openvino.Model([node(op, attributes, parameters)], parameters, "workload")
        config = {
            "INFERENCE_NUM_THREADS": THREADS,
            "NUM_STREAMS": 1,
            "INFERENCE_PRECISION_HINT": "f32",
        }
        compiled = openvino.Core().compile_model(model, "CPU", config)
        request = compiled.create_infer_request()
        tensors = [openvino.Tensor(value, shared_memory=True) for value in inputs]
        for position, tensor in enumerate(tensors):
            request.set_input_tensor(position, tensor)

        def run(kept=(compiled, tensors, inputs)):  # shared tensors do not keep their memory
            request.infer()

        return run, lambda: request.get_output_tensor().data

    return openvino.__version__, prepare


def read(tensor):
    values = np.fromfile(os.path.join(FOLDER, tensor["file"]), tensor["dtype"])
    return values.reshape(tensor["shape"])


def agrees(found, expected, attributes):
    """Compares results; a sum of many float16 may differ by the rounding of each step."""
    if attributes.get("reduction") is None:
        return found.tobytes() == expected.tobytes()
    bound = 0.05 if found.dtype == np.float16 else 1e-3
    return bool(np.allclose(found.astype(np.float64), expected.astype(np.float64), bound, bound))


def main():
    with open(os.path.join(FOLDER, "workloads.json")) as file:
        workloads = json.load(file)
    version, prepare = onnxruntime_runner() if RUNTIME == "onnxruntime" else openvino_runner()
    times, wrong = {}, []
    for name, op, attributes, inputs, output in (
        (w["name"], w["op"], w["attributes"], w["inputs"], w["output"]) for w in workloads
    ):
        expected = read(output)
        # ONNX Runtime does not implement reductions of float16, and ends by SIGSEGV if two threads try.
        if RUNTIME == "onnxruntime" and expected.dtype == np.float16 and "reduction" in attributes:
            continue
        try:
            run, result = prepare(op, attributes, [read(tensor) for tensor in inputs], expected.shape)
            times[name] = least(run)
        except Exception as error:  # a runtime lacks some operators and data types
            print(f"{name}: {str(error).splitlines()[0]}", file=sys.stderr)
            continue
        if not agrees(result(), expected, attributes):
            wrong.append(name)
    print(json.dumps({"version": version, "times": times, "wrong": wrong}))


main()
