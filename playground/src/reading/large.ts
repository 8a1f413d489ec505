/** Handles tensors larger than the page can show: crops the call, and builds a command for the whole call. */

import type { Tensor } from "ndscatter";
import { resolve } from "ndscatter/operators";
import { readState } from "../document/read-state.ts";
import { attempt } from "../values/attempt.ts";
import { MOST_ELEMENTS } from "../values/limits.ts";
import { sizeOf } from "../values/shape.ts";
import type { State } from "../values/state.ts";
import { commandOf } from "./command.ts";
import { cropOf } from "./crop.ts";
import { TENSOR } from "./file-kinds.ts";
import type { FileChoice } from "./from-file.ts";
import { matched, operatorRemark, withAssignment, type NamedTensor } from "./named.ts";
import type { NamedFile } from "./npz.ts";

export interface Large {
  readonly choices: readonly FileChoice[];
  readonly remarks: readonly string[];
  readonly command: string;
}

/** Returns the tensor in a `.npy` or `.pb` file of any size; null if the file cannot be read. */
export async function tensorIn({ name, bytes }: NamedFile): Promise<Tensor | null> {
  const { readNpy } = await import("ndscatter/npy");
  const { readTensor } = await import("./model-files.ts");
  const found = attempt(() => ({
    tensor: (/\.npy$/i.test(name) ? readNpy(bytes) : readTensor(bytes)) as Tensor,
  }));
  return "error" in found ? null : found.tensor;
}

/** Returns the crop and the command; null if the page can show all tensors, or if a file cannot be read. */
export async function largeOf(files: readonly NamedFile[], state: State): Promise<Large | null> {
  const read = await Promise.all(files.map(tensorIn));
  const tensors = read.filter((one) => one !== null);
  const big = tensors.filter(({ shape }) => sizeOf(shape) > MOST_ELEMENTS);
  if (big.length === 0 || tensors.length < files.length) return null;
  const named = tensors.map(({ dtype, shape }, number): NamedTensor => {
    const name = files[number].name.replace(/^.*[/\\]/s, "").replace(TENSOR, "");
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
  const names = [
    ...order,
    ...files.map(({ name }) => name).filter((name) => !order.includes(name)),
  ];
  const sizes = big.map(({ shape }) => sizeOf(shape).toLocaleString("en")).join(" and ");
  const remarks = [
    `The page shows up to ${MOST_ELEMENTS.toLocaleString("en")} elements of a tensor, but the files have ${sizes}.`,
  ];
  const crop = cropOf(base, given);
  const command = commandOf(names, base);
  if (crop === null) return { choices: [], remarks, command };
  const parts = assignment.flatMap((number, position) =>
    number === null ? [] : [`${named[number].name} as ${inputs[position]}`],
  );
  const title = `Show the relevant part: ${parts.join(", ")}`;
  // The crop keeps the data types of the files.
  const made = withAssignment(crop.state, [], []);
  const choice = { kind: "node", title, state: made.state, remarks: made.remarks } as const;
  return {
    choices: [choice],
    remarks: [...remarks, ...crop.remarks, operatorRemark(base)],
    command,
  };
}
