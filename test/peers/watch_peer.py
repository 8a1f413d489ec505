"""Lists facts about the newest packages: the request {system} is answered with {version, lines}."""

import importlib
import re

from peer import serve

FAMILY = re.compile("^(Scatter|Gather|TensorScatter)")


def with_onnx():
    import onnx
    from onnx import defs

    lines = [f"opset {defs.onnx_opset_version()}", f"IR {onnx.IR_VERSION}"]
    lines += [f"data type {name} = {number}" for name, number in onnx.TensorProto.DataType.items()]
    for schema in defs.get_all_schemas_with_history():
        if schema.domain != "" or not FAMILY.match(schema.name):
            continue
        at = f"{schema.name}-{schema.since_version}"
        lines += [f"{at} attribute {one.name}: {one.type.name.lower()}" for one in schema.attributes.values()]
        for one in [*schema.inputs, *schema.outputs]:
            optional = " or nothing" if one.option.name == "Optional" else ""
            lines.append(f"{at} {one.name}: {one.type_str}{optional}")
        for one in schema.type_constraints:
            lines += [f"{at} {one.type_param_str} {name}" for name in one.allowed_type_strs]
        lines += [f"{at} is deprecated"] if schema.deprecated else [f"{at}"]
    return lines


def with_openvino():
    import numpy as np

    lines = []
    for number in range(1, 100):
        try:
            opset = importlib.import_module(f"openvino.opset{number}")
        except ImportError:
            continue
        names = [name for name in dir(opset) if re.match("(gather|scatter|slice_scatter)", name)]
        if not hasattr(opset, "parameter"):
            continue
        lines.append(f"opset {number}")
        ops = {name: getattr(opset, name) for name in names}
        data, indices = opset.parameter([2, 2], np.float32), opset.parameter([1, 1], np.int32)
        updates, axis = opset.parameter([1, 2], np.float32), opset.constant(0)
        small = opset.parameter([1, 1], np.float32)
        makers = {
            "gather": lambda make: make(data, indices, axis),
            "gather_nd": lambda make: make(data, indices),
            "gather_elements": lambda make: make(data, opset.parameter([2, 1], np.int32), 1),
            "scatter_nd_update": lambda make: make(data, indices, updates),
            "scatter_elements_update": lambda make: make(data, indices, small, axis),
            "scatter_update": lambda make: make(data, opset.parameter([1], np.int32), updates, axis),
        }
        for name, make in ops.items():
            if name not in makers:
                lines.append(f"{name} in opset {number}")
                continue
            node = makers[name](make)
            kind = node.get_type_info()
            for attribute in node.get_attributes():
                lines.append(f"{kind.name} of {kind.version_id} attribute {attribute}")
            lines.append(f"{kind.name} of {kind.version_id}")
    return lines


def with_onnxruntime():
    from onnxruntime.capi import onnxruntime_pybind11_state as state

    lines = []
    for kernel in state.get_all_opkernel_def():
        if kernel.domain == "" and kernel.provider == "CPUExecutionProvider" and FAMILY.match(kernel.op_name):
            types = kernel.type_constraints.get("T", [])
            lines += [f"{kernel.op_name}-{kernel.version_range[0]} {name}" for name in types]
    return lines


def with_zarr():
    import numcodecs.zarr3
    import zarr.codecs
    from zarr import registry
    from zarr.core.dtype import data_type_registry

    codecs = next(value for key, value in vars(registry).items() if key.endswith("__codec_registries"))
    return [f"data type {name}" for name in data_type_registry.contents] + [f"codec {name}" for name in codecs]


SYSTEMS = {"onnx": with_onnx, "openvino": with_openvino, "onnxruntime": with_onnxruntime, "zarr": with_zarr}


def answer(request):
    system = request["system"]
    version = importlib.import_module(system).__version__
    return {"version": version, "lines": sorted(set(SYSTEMS[system]()))}


if __name__ == "__main__":
    serve({}, answer)
