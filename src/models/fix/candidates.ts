/** Faulty nodes, with a test that runs each node in a separate session. */

import { buildModel } from "../model/build-model.ts";
import type { Model, ModelNode } from "../model/model.ts";
import type { NodeIndex } from "../model/node-index.ts";
import { Names } from "../convert/context.ts";
import { writeModel } from "../onnx/write-model.ts";
import type { Tensor } from "../../core/tensor/tensor.ts";
import type { CreateSession } from "../verify/session.ts";
import type { VerifiedNode } from "../verify/node-state.ts";
import {
  cureOf,
  dependsOnCaller,
  intentionOf,
  type Intention,
  type NodeCure,
} from "./cured-node.ts";
import type { Meant } from "./faulty-node.ts";
import { opener, type NodeCheck } from "./measure.ts";
import { Words } from "./words.ts";

/** A faulty node, with the known facts about its fix. */
export interface Candidate {
  readonly verified: VerifiedNode;
  readonly node: ModelNode;
  readonly opsets: Readonly<Record<string, number>>;
  /** The intended call; null if the inputs are unknown, or if no intended call can be inferred. */
  readonly intention: Intention | null;
  readonly cure: NodeCure | null;
  /** Explains why the node cannot be rewritten; null if it can. */
  readonly uncured: string | null;
}

export const isFaulty = ({ verdict, isReproducible }: VerifiedNode): boolean =>
  !isReproducible || !["not-run", "equal", "near", "behind"].includes(verdict);

export function candidateOf(verified: VerifiedNode, index: NodeIndex): Candidate {
  const { node, place } = index.find(verified.path);
  const common = { verified, node, opsets: place.opsets };
  const none = (uncured: string): Candidate => ({
    ...common,
    intention: null,
    cure: null,
    uncured,
  });
  const { call, verdict, isReproducible } = verified;
  if (call === null || call.inputs.includes(undefined)) return none("the inputs are unknown");
  const meant: Meant = { node: call.node, inputs: call.inputs as readonly Tensor[] };
  const intention = intentionOf(meant);
  if (intention === null) return none("this call is an error according to the specification");
  const cure = cureOf({ verdict, isReproducible, call: meant }, intention);
  if (cure === null)
    return { ...common, intention, cure, uncured: "no equivalent nodes are known" };
  if (dependsOnCaller(node)) {
    const uncured = "the attributes depend on the caller of the function";
    return { ...common, intention, cure: null, uncured };
  }
  return { ...common, intention, cure, uncured: null };
}

/** Returns a model that contains only the node or its replacement. */
export function nodeCheck(
  { verified, node, opsets, intention, cure }: Candidate,
  isCured: boolean,
  createSession: CreateSession,
): NodeCheck {
  const { call } = verified;
  const feeds = new Map(node.inputs.map((name, at) => [name, call?.inputs[at] as Tensor]));
  const names = node.outputs.map((name, at) => [name, intention?.outputs[at] as Tensor] as const);
  const exact = new Map(names.filter(([name]) => name !== ""));
  const open = (): ReturnType<NodeCheck["open"]> => {
    const { op, domain = "ai.onnx", opset = 1, attributes = {} } = call?.node ?? { op: node.op };
    const model: Model = buildModel({
      opsets: isCured
        ? { ...opsets, "ai.onnx": Math.max(opset, cure?.opset ?? 1) }
        : { [domain]: opset },
      inputs: Object.fromEntries(
        [...feeds].map(([name, { dtype, shape }]) => [name, { dtype, shape }]),
      ),
      outputs: Object.fromEntries([...exact.keys()].map((name) => [name, null])),
      nodes: [
        {
          op: op ?? node.op,
          domain,
          inputs: node.inputs,
          outputs: node.outputs,
          attributes: attributes as never,
        },
      ],
    });
    if (isCured && cure !== null) {
      const words = new Words(new Names(model.graph), node.outputs[0] || node.op);
      model.graph.nodes = [...cure.write(node, words)];
    }
    return opener(createSession, writeModel(model))();
  };
  return { open, feeds, exact };
}
