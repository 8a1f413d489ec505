"""Records bodies of ONNX's function operators in src/models/model/standard-bodies.ts: those that contain a scatter or
gather, and those that a conversion to an older opset needs. Run by hand, with onnx-weekly 1.24.0.dev20261026:

    python scripts/record-functions.py && npm run format

The schemas of most of these operators build a body from a node and its types. This script asks for the bodies of nodes
with every combination of the features below, and writes each line once, with the values of features that it needs. A
slot marks where a body depends on a number attribute of the node, or on the data type of its first input.
"""

import itertools
import json
import pathlib

import onnx
from onnx import TensorProto, defs, helper, numpy_helper

TARGET = pathlib.Path(__file__).parent.parent / "src/models/model/standard-bodies.ts"

# Values of number attributes that no body contains otherwise: where one appears in a body, a slot is written.
ODD = {"num_heads": 7001, "rotary_embedding_dim": 7002, "ignore_index": 7003, "blocksize": 7005}
ODD["blocksize*blocksize"] = ODD["blocksize"] ** 2
INT = TensorProto.INT64

# Features: ("given", input), ("output", output), ("set", attribute), ("positive", attribute),
# ("is", attribute, default, values...), ("rank", input, ranks...), and ("float", input): the input is float32.
# Types: the data types of the inputs, with "T" for the type that varies. Other ranks do not affect the body.
LOSS = dict(
    inputs=["x", "t", "w"],
    types=["T", INT, "T"],
    features=[
        ("given", 2),
        ("set", "ignore_index"),
        ("is", "reduction", "mean", "none", "mean", "sum"),
        ("float", 0),
    ],
)
FUNCTIONS = [
    dict(op="AffineGrid", versions=[20], inputs=["theta", "size"], types=["T", INT]),
    # A conversion replaces Celu-28 and SpaceToDepth-28 only where the older version does not suffice.
    dict(op="Celu", versions=[28], inputs=["x"], types=["T"]),
    dict(op="CenterCropPad", versions=[18], inputs=["x", "s"], types=["T", INT], features=[("set", "axes")]),
    dict(
        op="GroupedMatMul",
        versions=[29],
        inputs=["x", "w", "i", "b"],
        types=["T", "T", INT, "T"],
        features=[("given", 3)],
    ),
    dict(op="NegativeLogLikelihoodLoss", versions=[12, 13, 22], **LOSS),
    dict(
        op="RotaryEmbedding",
        versions=[23],
        inputs=["x", "c", "s", "p"],
        types=["T", "T", "T", INT],
        features=[
            ("rank", 0, 3, 4),
            ("given", 3),
            ("positive", "rotary_embedding_dim"),
            ("is", "interleaved", 0, 0, 1),
        ],
        always={"num_heads": ODD["num_heads"]},
    ),
    dict(
        op="SoftmaxCrossEntropyLoss",
        versions=[12, 13],
        outputs=2,
        inputs=LOSS["inputs"],
        types=LOSS["types"],
        features=[("given", 2), ("output", 1)],
    ),
    dict(
        op="SpaceToDepth",
        versions=[28],
        inputs=["x"],
        types=["T"],
        features=[("is", "mode", "DCR", "DCR", "CRD")],
        always={"blocksize": ODD["blocksize"]},
    ),
    # A conversion of SwiGLU needs Swish, too.
    dict(op="SwiGLU", versions=[28], inputs=["a", "b"], types=["T", "T"]),
    dict(op="Swish", versions=[24], inputs=["x"], types=["T"]),
]


def tensor(value, dtype):
    number = value.data_type
    values = numpy_helper.to_array(value)
    dims = list(values.shape)
    flat = [next((f"@{name}" for name, odd in ODD.items() if one == odd), one) for one in values.ravel().tolist()]
    return ["tensor", "@0" if number == dtype else number, dims, flat]


def attribute(one, dtype):
    if one.ref_attr_name:
        return ["reference", one.ref_attr_name]
    value = helper.get_attribute_value(one)
    if one.type == onnx.AttributeProto.TENSOR:
        return tensor(value, dtype)
    if one.type == onnx.AttributeProto.GRAPH:
        return ["graph", [each.name for each in value.output], [line(node, dtype) for node in value.node]]
    if one.type == onnx.AttributeProto.INT:
        return ["int", "@0" if one.name == "to" and value == dtype else value]
    if one.type == onnx.AttributeProto.INTS:
        return ["ints", list(value)]
    if one.type == onnx.AttributeProto.FLOAT:
        return ["float", value]
    assert one.type == onnx.AttributeProto.STRING, one
    return ["string", value.decode()]


def line(node, dtype):
    attributes = {one.name: attribute(one, dtype) for one in node.attribute}
    parts = [" ".join(node.output), node.op_type, ",".join(node.input)]
    return [*parts, attributes] if attributes else parts


def body(function, version, chosen, dtype):
    """The lines of a body, as JSON."""
    slot = dtype
    op, types = function["op"], function["types"]
    inputs, attributes, ranks, count = list(function["inputs"]), dict(function.get("always", {})), {}, 1
    for (kind, name, *values), value in zip(function.get("features", []), chosen):
        if kind == "given" and not value:
            inputs[name] = ""
        if kind in ("set", "positive") and value:
            attributes[name] = ODD.get(name, [0])
        if kind == "is":
            attributes[name] = value
        if kind == "rank":
            ranks[name] = value
        if kind == "output" and value:
            count = 2
        if kind == "float" and value:
            dtype, slot = TensorProto.FLOAT, None
    while inputs[-1] == "":
        inputs.pop()
    node = helper.make_node(op, inputs, [f"y{at}" for at in range(count)], **attributes)
    schema = defs.get_schema(op, version)
    if schema.has_function:
        made = schema.function_body
    else:
        shapes = [[None] * ranks[at] if at in ranks else [None, None] for at in range(len(inputs))]
        known = [
            helper.make_tensor_type_proto(dtype if kind == "T" else kind, shape) if name else onnx.TypeProto()
            for name, kind, shape in zip(inputs, types, shapes)
        ]
        answer = schema.get_context_dependent_function(
            node.SerializeToString(), [one.SerializeToString() for one in known]
        )
        made = onnx.FunctionProto.FromString(answer)
    return [json.dumps(line(node, slot)) for node in made.node]


def choices(features):
    return list(itertools.product(*[values[1:] if kind == "is" else values or (False, True) for kind, _, *values in features]))


def conditions(members, features, every):
    """Returns sets of feature values, of which at least one holds for exactly the choices in members."""
    fixed = {}
    for at in range(len(features)):
        values = {one[at] for one in members}
        if len(values) == 1 and len({one[at] for one in every}) > 1:
            fixed[at] = values.pop()
    if all(one in members for one in every if all(one[at] == value for at, value in fixed.items())):
        return [fixed]
    at = next(at for at in range(len(features)) if len({one[at] for one in members}) > 1 and at not in fixed)
    parts = {one[at] for one in every}
    return [
        each
        for value in sorted(parts)
        if (some := {one for one in members if one[at] == value})
        for each in [
            {at: value, **found} for found in conditions(some, features, [one for one in every if one[at] == value])
        ]
    ]


def merged(bodies):
    """All lines in an order that agrees with every body."""
    after = {one: set() for lines in bodies.values() for one in lines}
    for lines in bodies.values():
        for one, other in zip(lines, lines[1:]):
            after[other].add(one)
    order = []
    while after:
        first = next(one for one, before in after.items() if not before - set(order))
        order.append(first)
        del after[first]
    return order


def record(function, version):
    features = function.get("features", [])
    every = choices(features)
    bodies = {chosen: body(function, version, chosen, TensorProto.DOUBLE) for chosen in every}
    for dtype in (TensorProto.BFLOAT16, TensorProto.FLOAT16):
        assert bodies == {chosen: body(function, version, chosen, dtype) for chosen in every}, "another slot"
    if ("float", 0) not in features:
        # In float32, constants that are always float32 look like slots, so both are compared as type number 1.
        plain = [[each.replace('"@0"', "1") for each in lines] for lines in bodies.values()]
        floats = [body(function, version, chosen, TensorProto.FLOAT) for chosen in every]
        assert plain == [[each.replace('"@0"', "1") for each in lines] for lines in floats], "float32 differs"
    lines = []
    for text in merged(bodies):
        members = {chosen for chosen, known in bodies.items() if text in known}
        for needs in conditions(members, features, every):
            one = json.loads(text)
            if needs:
                one = [*one, *([{}] if len(one) == 3 else []), sorted(needs.items())]
            lines.append(one)
    schema = defs.get_schema(function["op"], version)
    return dict(
        op=function["op"],
        versions=[version],
        inputs=[one.name for one in schema.inputs],
        outputs=[one.name for one in schema.outputs],
        defaults={
            name: attribute(one.default_value, 0) for name, one in sorted(schema.attributes.items()) if one.default_value.name
        },
        required=schema.min_input,
        features=features,
        lines=lines,
    )


def records_of(function):
    """A record for the versions that have one body."""
    found = []
    for version in function["versions"]:
        made = record(function, version)
        last = found[-1] if found else {}
        if {**made, "versions": 0} == {**last, "versions": 0}:
            last["versions"].append(version)
        else:
            found.append(made)
    return found


records = [one for function in FUNCTIONS for one in records_of(function)]
names = sorted({one["op"] for one in records})
bodies = {name: [json.dumps(one, separators=(",", ":")) for one in records if one["op"] == name] for name in names}
text = "".join(f"  {name}: [\n" + "".join(f"    `{one}`,\n" for one in bodies[name]) + "  ],\n" for name in names)
assert "\\" not in text and "$" not in text
TARGET.write_text(
    f"""/**
 * Bodies of ONNX's function operators: generated by scripts/record-functions.py from the schemas of onnx-weekly
 * {onnx.__version__}. `standard-function.ts` describes the records, which are JSON.
 */

/** The records of the versions of each operator, oldest first. */
// prettier-ignore
export const BODIES: Readonly<Record<string, readonly string[]>> = {{
{text}}};
"""
)
print(len(records), "bodies,", len(text), "bytes")
