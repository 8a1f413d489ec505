/** Returns the content of tensor files. If a tensor is larger than the page can show, the call is cropped. */

import { resolve } from "ndscatter/operators";
import { readState } from "../document/read-state.ts";
import { MOST_ELEMENTS } from "../values/limits.ts";
import { sizeOf } from "../values/shape.ts";
import type { State } from "../values/state.ts";
import { commandOf } from "./command.ts";
import { cropOf } from "./crop.ts";
import { lastOf, TENSOR } from "./file-kinds.ts";
import { matched, operatorRemark, withAssignment, type NamedTensor } from "./named.ts";
import type { Content, Refusal } from "./offer.ts";
import { tensorIn, textIn, textsIn, type NamedFile } from "./tensor-files.ts";

/** Reads tensor files, of which a single one is for one input, and several are for a whole call. */
export async function fromTensors(
  files: readonly NamedFile[],
  state: State,
): Promise<Content | Refusal> {
  const cropped = await croppedFrom(files, state);
  if (cropped !== null) return cropped;
  if (files.length === 1) {
    const found = await textIn(files[0]);
    if ("error" in found) return found;
    return { choices: [{ kind: "tensor", title: lastOf(files[0].name), ...found }], remarks: [] };
  }
  const { tensors, remarks } = await textsIn(files);
  return tensors.length === 0 ? { error: remarks.join("; ") } : { choices: [], tensors, remarks };
}

/** Returns the crop and the command; null if the page can show all tensors, or if a file cannot be read. */
async function croppedFrom(files: readonly NamedFile[], state: State): Promise<Content | null> {
  const read = await Promise.all(files.map(tensorIn));
  const tensors = read.flatMap((one) => ("error" in one ? [] : [one]));
  const big = tensors.filter(({ shape }) => sizeOf(shape) > MOST_ELEMENTS);
  if (big.length === 0 || tensors.length < files.length) return null;
  const named = tensors.map(({ dtype, shape }, number): NamedTensor => {
    const name = lastOf(files[number].name).replace(TENSOR, "");
    // Tensors are assigned by name, type and shape, so the elements are not read.
    return { name, input: { dtype, shape, values: [] } };
  });
  const { base, assignment } = matched(named, state);
  const own = readState(base).inputs;
  const given = assignment.map((number, position) =>
    number === null ? (own[position] ?? null) : tensors[number],
  );
  const inputs = resolve(base).inputs.map(({ name }) => name);
  const order = assignment.flatMap((number) => (number === null ? [] : [files[number].name]));
  const names = new Set([...order, ...files.map(({ name }) => name)]);
  const command = commandOf([...names], base);
  const sizes = big.map(({ shape }) => sizeOf(shape).toLocaleString("en")).join(" and ");
  const remark = `The page shows up to ${MOST_ELEMENTS.toLocaleString("en")} elements of a tensor, but the files have ${sizes}.`;
  const crop = cropOf(base, given);
  if (crop === null) return { choices: [], remarks: [remark], command };
  const parts = assignment.flatMap((number, position) =>
    number === null ? [] : [`${named[number].name} as ${inputs[position]}`],
  );
  const title = `Show the relevant part: ${parts.join(", ")}`;
  // The crop has the data types of the files, which the operator may not accept.
  const choice = { kind: "node", title, ...withAssignment(crop.state, [], []) } as const;
  const remarks = [remark, ...crop.remarks, operatorRemark(base)];
  return { choices: [choice], remarks, command };
}
