/** The fix of one faulty node: the intended call, and the nodes that compute it. */

import type { Reduction } from "../../core/tensor/dtype.ts";
import { normalizeAxis } from "../../core/operators/shapes.ts";
import type { Tensor } from "../../core/tensor/tensor.ts";
import { isReference, type Attribute, type ModelNode } from "../model/model.ts";
import {
  axisIn,
  exactOutputs,
  isScatter,
  reductionIn,
  type FaultyNode,
  type Meant,
} from "./faulty-node.ts";
import { REPAIRS, REWRITES, type KnownFault } from "./known-faults.ts";
import { plainScatter, type Scatter } from "./scatters.ts";
import type { Words } from "./words.ts";

/** The call that a faulty node was meant to be. */
export interface Intention {
  readonly call: Meant;
  /** The known faults that describe the repair; empty for a node that is valid in its version. */
  readonly repairs: readonly KnownFault[];
  readonly outputs: readonly Tensor[];
}

/** Infers the intended call; null if the call stays invalid, or if its meaning is unknown. */
export function intentionOf(given: Meant): Intention | null {
  const repairs: KnownFault[] = [];
  let call = given;
  for (const row of REPAIRS) {
    if (!row.applies(call)) continue;
    call = row.meant(call);
    repairs.push(row);
  }
  const outputs = exactOutputs(call);
  return outputs && { call, repairs, outputs };
}

export interface NodeCure {
  readonly faults: readonly KnownFault[];
  readonly opset: number;
  readonly write: (node: ModelNode, words: Words) => readonly ModelNode[];
}

/**
 * The number of updates above which a node is assumed to race. ONNX Runtime races above 10,000 updates, but other
 * inputs may be larger than the captured ones.
 */
const MOST_UPDATES = 5000;

/** Returns equivalent nodes that the runtime computes correctly; null for an unknown fault. */
export function cureOf(faulty: FaultyNode, intention: Intention): NodeCure | null {
  const { call, repairs } = intention;
  const row = REWRITES.find((one) => one.applies({ ...faulty, call }));
  if (row === undefined && repairs.length === 0) return null;
  const opset = Math.max(row?.opset ?? 1, repairs.length > 0 ? neededOpset(call) : 1);
  return {
    faults: [...repairs, ...(row === undefined ? [] : [row])],
    opset,
    write(node, words) {
      const { indices, ...inputs } = namesOf(node);
      const [, given] = faulty.call.inputs;
      const [, meant] = call.inputs;
      const cast = given.dtype === meant.dtype ? indices : words.cast(indices, "int64");
      const isColumn = given.shape.length < meant.shape.length;
      const own = isColumn ? words.put("Unsqueeze", [cast, words.list(-1)]) : cast;
      if (!isScatter(call)) rewritten(node, call, [inputs.data, own], words);
      else {
        const all = { ...inputs, indices: own };
        (row?.write ?? plainScatter)(words, scatterOf(faulty, call, all));
      }
      return withResult(words.nodes, node);
    },
  };
}

/** Returns the opset that supports the repaired call. A call in opset 18 or later keeps its opset. */
const neededOpset = ({ node }: Meant): number => Math.min(node.opset ?? 1, 18);

function scatterOf(
  { isReproducible }: FaultyNode,
  call: Meant,
  names: Pick<Scatter, "data" | "indices" | "updates">,
): Scatter {
  const [data, indices] = call.inputs;
  const form = call.node.op === "ScatterND" ? "tuples" : "elements";
  const updates = indices.size / (form === "tuples" ? Math.max(indices.shape.at(-1) ?? 1, 1) : 1);
  const reduction: Reduction = reductionIn(call);
  const mayRace = !isReproducible || updates > MOST_UPDATES;
  const axis = isScatter(call)
    ? axisIn(call)
    : normalizeAxis(axisIn(call), data.shape.length, { op: call.node.op });
  return { form, axis, reduction, dtype: data.dtype, mayRace, ...names };
}

const namesOf = ({ inputs: [data, indices, updates = ""] }: ModelNode) =>
  ({ data, indices, updates }) as const;

/** Returns a gather with its own attributes. */
function rewritten(
  { op, attributes }: ModelNode,
  { node }: Meant,
  inputs: readonly string[],
  words: Words,
): void {
  words.put(node.op ?? op, inputs, attributes);
}

/** Gives the last replacement node the name and the output of the faulty node. */
function withResult(nodes: readonly ModelNode[], { name, outputs }: ModelNode): ModelNode[] {
  const last = nodes.length - 1;
  const result = { ...nodes[last], outputs: [...outputs], ...(name !== "" && { name }) };
  return [...nodes.slice(0, last), result];
}

/** Returns true if a function's caller sets one of the node's attributes. Such a node cannot be rewritten. */
export const dependsOnCaller = ({ attributes }: ModelNode): boolean =>
  Object.values(attributes).some((one: Attribute) => isReference(one));
