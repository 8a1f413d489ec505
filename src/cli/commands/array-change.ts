/** Appends to an array or resizes an array in place. */

import { printCount } from "../../core/foreign.ts";
import { printShape } from "../../entries/operators.ts";
import { append, resize, type ChunkedArray } from "../../entries/zarr.ts";
import { wrongUsage } from "../failure.ts";
import type { Io } from "../io.ts";
import { ProgressLine } from "../text/progress.ts";
import { checkUnused, failureAt, openNamed } from "./array-facts.ts";

export interface ChangeOptions {
  readonly append?: string;
  readonly axis?: string;
  readonly resize?: readonly number[];
}

/** Changes the array, and returns a line with its new shape. */
export async function changeArray(io: Io, name: string, options: ChangeOptions): Promise<string> {
  const { append: more, axis = "0", resize: shape } = options;
  if (more !== undefined && shape !== undefined) {
    throw wrongUsage("--append and --resize cannot be used together; leave one out");
  }
  if (more === undefined && options.axis !== undefined) {
    throw wrongUsage("--axis is only used with --append; give --append too");
  }
  const array = await openNamed(io, name);
  const values = more === undefined ? null : await openNamed(io, more);
  await checkUnused(io, name, array);
  if (more !== undefined && values !== null) await checkUnused(io, more, values);
  try {
    if (shape !== undefined) return printNow(name, await resize(array, shape), "");
    return await appendTo(io, name, array, values as ChunkedArray, axis);
  } catch (error) {
    throw failureAt(io, name, error);
  }
}

async function appendTo(
  io: Io,
  name: string,
  array: ChunkedArray,
  values: ChunkedArray,
  axis: string,
): Promise<string> {
  const progress = new ProgressLine(io.stderr);
  let written = 0;
  try {
    const now = await append(array, values, {
      axis: /^-?\d{1,3}$/.test(axis) ? Number(axis) : axis,
      onProgress: ({ done, chunks }) => {
        written = done;
        progress.show(() => `${done} of ${printCount(chunks, "chunk")} written`);
      },
    });
    return printNow(name, now, `, ${printCount(written, "chunk")} written`);
  } finally {
    progress.clear();
  }
}

const printNow = (name: string, { dtype, shape }: ChunkedArray, rest: string): string =>
  `${name}: ${dtype} ${printShape(shape)}${rest}`;
