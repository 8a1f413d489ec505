/** Converts a checked node to a call that the page shows, with the output of the runtime. */

import { isTensorError, type Tensor } from "ndscatter";
import {
  buildModel,
  captureCalls,
  verifyModel,
  writeModel,
  type CreateSession,
  type NodeCall,
} from "ndscatter/onnx";
import { resolve } from "ndscatter/operators";
import { readState } from "../document/read-state.ts";
import { cropOf } from "../reading/crop.ts";
import { MOST_ELEMENTS } from "../values/limits.ts";
import { defaultText } from "../values/schema.ts";
import { sizeOf } from "../values/shape.ts";
import type { State } from "../values/state.ts";
import { textOf } from "../values/tensor-text.ts";
import type { Run } from "./check-model.ts";
import type { ShownNode } from "./messages.ts";

/** Throws an error whose message is a sentence for the user if the page cannot show the call. */
export async function shownNode(run: Run, row: number): Promise<ShownNode> {
  const { nodes, createSession } = run;
  const { result, path, difference, verdict } = nodes[row];
  const { node, inputs } = nodes[row].call ?? (await captured(run, path));
  const version = resolve(node);
  const { domain, op, opset = version.sinceVersion, attributes = {} } = node;
  const texts = Object.entries(attributes).flatMap(([name, value]) =>
    String(value) === defaultText(version, name) ? [] : [[name, String(value)]],
  );
  const base = {
    ...{ domain: version.domain, op: version.name, opset: version.sinceVersion },
    attributes: Object.fromEntries(texts),
    inputs: [],
  };
  const given = version.inputs.map((_, position) => inputs[position] ?? null);
  const isLarge = [...given, result].some(
    (one) => one !== null && sizeOf(one.shape) > MOST_ELEMENTS,
  );
  if (!isLarge) {
    const state = { ...base, inputs: given.map((one) => one && textOf(one)) };
    return { state, remarks: [], ...(result && { actual: textOf(result) }) };
  }
  const crop = cropOf(base, given, difference?.at);
  if (crop === null) throw new Error(`The page cannot show a part of ${op} of ${domain}-${opset}.`);
  const isEqual = verdict === "equal";
  const part = isEqual ? null : await runAgain(crop.state, createSession);
  const alone = part === null ? " The part alone does not differ." : "";
  const again = isEqual ? "." : `, run again.${alone}`;
  const remarks = [
    `${path} is too large to show, so this is a part of it${again}`,
    ...crop.remarks,
  ];
  return { state: crop.state, remarks, ...(part && { actual: textOf(part) }) };
}

/** Captures an equal node again, whose inputs were dropped, because the weights of many nodes would fill the memory. */
async function captured(
  { bytes, feeds, createSession, external }: Run,
  path: string,
): Promise<NodeCall> {
  let problem: unknown = null;
  try {
    const options = { createSession, external, node: path };
    for await (const one of captureCalls(bytes, feeds, options)) {
      if (one.call !== null) return one.call;
      ({ problem } = one);
    }
  } catch (error) {
    // A large model may not fit in memory a second time.
    problem = error instanceof Error ? error.message : error;
  }
  throw new Error(`its inputs were not kept, to save memory, and cannot be read again: ${problem}`);
}

/** Runs a part of a call in the runtime. Returns its result, or null if it is equal to the exact one. */
async function runAgain(state: State, createSession: CreateSession): Promise<Tensor | null> {
  const { node, inputs } = readState(state);
  const call: NodeCall = { node, inputs };
  try {
    const { nodes } = await verifyModel(...modelOf(call), { createSession });
    return nodes[0]?.result ?? null;
  } catch (error) {
    if (isTensorError(error)) return null;
    throw error;
  }
}

/** Returns a model that consists of a single node, and its feeds. */
function modelOf({ node, inputs }: NodeCall): [Uint8Array, Record<string, Tensor>] {
  const { domain, op, attributes = {} } = node;
  const opset = node.opset ?? 1;
  const entries = inputs.flatMap((one, at) =>
    one === undefined ? [] : [[`in${at}`, one] as const],
  );
  const names = inputs.map((one, at) => (one === undefined ? "" : `in${at}`));
  const types = entries.map(([name, { dtype, shape }]) => [name, { dtype, shape }] as const);
  const model = buildModel({
    opsets: { [domain ?? "ai.onnx"]: opset },
    inputs: Object.fromEntries(types),
    nodes: [{ op, domain, inputs: names, outputs: ["out"], attributes: attributes as never }],
    outputs: { out: null },
  });
  return [writeModel(model), Object.fromEntries(entries)];
}
