/** Sequences and optionals in a graph, which cannot be passed between sessions. */

import type { Graph, ModelNode } from "../model/model.ts";

const MAKES_NO_TENSOR: ReadonlySet<string> = new Set([
  "Optional",
  "SequenceConstruct",
  "SequenceEmpty",
  "SequenceErase",
  "SequenceInsert",
  "SequenceMap",
  "SplitToSequence",
]);

/** Returns the names of a graph's sequences and optionals. The names of enclosing graphs are given in `outer`. */
export function namesOfNoTensors(graph: Graph, outer: ReadonlySet<string>): ReadonlySet<string> {
  const names = new Set(outer);
  for (const { name } of [...graph.inputs, ...graph.constants]) names.delete(name);
  const wrapped = new Map<string, string>();
  for (const node of graph.nodes) {
    const [input = ""] = node.inputs;
    const [output = ""] = node.outputs;
    for (const name of node.outputs) names.delete(name);
    if (node.domain !== "ai.onnx") continue;
    if (MAKES_NO_TENSOR.has(node.op)) names.add(output);
    if (node.op === "Optional") wrapped.set(output, input);
    if (node.op === "Identity" && names.has(input)) names.add(output);
    // An optional of unknown origin is assumed to contain a tensor.
    if (node.op === "OptionalGetElement" && names.has(wrapped.get(input) ?? "")) names.add(output);
    for (const name of madeByBodies(node, names)) names.add(name);
  }
  names.delete("");
  return names;
}

/** Returns the outputs of an If or a Loop that are sequences or optionals in its bodies. */
function madeByBodies(node: ModelNode, names: ReadonlySet<string>): readonly string[] {
  const skipped = node.op === "Loop" ? 1 : 0;
  return Object.values(node.attributes).flatMap((attribute) =>
    attribute.type !== "other"
      ? []
      : (attribute.graphs ?? []).flatMap((body) => {
          const states = node.op === "Loop" ? node.inputs.slice(2) : [];
          const given = new Set(names);
          for (const [at, name] of states.entries()) {
            if (names.has(name)) given.add(body.inputs[at + 2]?.name ?? "");
          }
          const inner = namesOfNoTensors({ ...body, inputs: [] }, given);
          return body.outputs
            .slice(skipped)
            .flatMap(({ name }, at) => (inner.has(name) ? [node.outputs[at] ?? ""] : []));
        }),
  );
}
