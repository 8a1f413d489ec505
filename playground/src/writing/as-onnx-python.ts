/** Exports a state as a program for ONNX's Python package, which runs a one-node model in the reference evaluator. */

import { DTYPES, infer, type Tensor } from "ndscatter";
import { importsOf, printArray } from "./as-numpy.ts";
import { writableCall, oneLine, type WritableCall } from "./source-text.ts";
import type { State } from "../values/state.ts";
import { attempt } from "../values/attempt.ts";

/**
 * Returns Python code that prints the output, or only comments for OpenVINO's operators and for values that must be
 * corrected.
 */
export function asOnnxPython(state: State): string {
  const call = writableCall(state, "#");
  if (typeof call === "string") return call;
  const { version, node, inputs, refusal } = call;
  if (version.domain !== "ai.onnx")
    return `# ${version.domain}'s ${version.name} is not an ONNX operator.\n`;
  const given = version.inputs.flatMap(({ name }, position) => {
    const input = inputs[position];
    return input === undefined ? [] : [{ name, input }];
  });
  // Omitted trailing inputs need no name.
  const names = version.inputs.map(({ name }, position) =>
    inputs[position] === undefined ? "" : name,
  );
  while (names[names.length - 1] === "") names.pop();
  const [{ name: output }] = version.outputs;
  const attributes = Object.entries(node.attributes ?? {}).map(
    ([name, value]) => `, ${name}=${JSON.stringify(value)}`,
  );
  const data = inputs[0] as Tensor;
  return [
    ...importsOf(inputs),
    "import onnx",
    "from onnx import TensorProto, helper",
    "from onnx.reference import ReferenceEvaluator",
    "",
    ...given.map(({ name, input }) => `${name} = ${printArray(input)}`),
    "",
    `node = helper.make_node("${version.name}", ${JSON.stringify(names)}, ["${output}"]${attributes.join("")})`,
    "inputs = [",
    ...given.map(
      ({ name, input }) =>
        `    helper.make_tensor_value_info("${name}", ${protoName(input)}, ${name}.shape),`,
    ),
    "]",
    `outputs = [helper.make_tensor_value_info("${output}", ${protoName(data)}, [${shapeOf(call).join(", ")}])]`,
    `graph = helper.make_graph([node], "${version.name}", inputs, outputs)`,
    `model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", ${version.sinceVersion})])`,
    ...(version.deprecated === undefined
      ? []
      : [
          `# ONNX itself refuses ${version.name}-${version.sinceVersion}, which ${version.deprecated} replaces.`,
        ]),
    "onnx.checker.check_model(model)",
    ...(refusal === null ? [] : [`# ndscatter refuses this call: ${oneLine(refusal)}`]),
    "session = ReferenceEvaluator(model)",
    `[${output}] = session.run(None, {${given.map(({ name }) => `"${name}": ${name}`).join(", ")}})`,
    `print(repr(${output}))`,
    "",
  ].join("\n");
}

/** Returns the output shape. An invalid call needs a shape too, so that ONNX itself can report the error. */
function shapeOf({ node, inputs }: WritableCall): readonly unknown[] {
  const types = attempt(() => infer(node, inputs));
  return ("error" in types ? inputs[0]?.shape : types[0].shape) ?? [];
}

/** Returns a type name such as `TensorProto.FLOAT`. */
function protoName({ dtype }: Tensor): string {
  const { onnx } = DTYPES[dtype];
  return `TensorProto.${("name" in onnx ? onnx.name : dtype).toUpperCase()}`;
}
