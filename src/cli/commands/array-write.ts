/** Writes an array into a slice of an existing array. */

import { printCount } from "../../core/foreign.ts";
import { printShape } from "../../entries/operators.ts";
import type { ChunkedArray } from "../../entries/zarr.ts";
import { wrongData, wrongUsage } from "../failure.ts";
import { partOf } from "../input/places.ts";
import { isSameFile } from "../input/write-files.ts";
import type { Io } from "../io.ts";
import { coordinatesOf } from "../text/cells.ts";
import { ProgressLine } from "../text/progress.ts";
import type { CopyOptions } from "./array-copy.ts";
import { checkUnused, failureAt, openNamed, openToCopy } from "./array-facts.ts";

/** Writes a part of the array, and returns a line that describes the part. */
export async function writePart(
  io: Io,
  name: string,
  output: string,
  options: CopyOptions,
): Promise<string> {
  const odd = Object.keys(options).find((option) => !["force", "unfinished"].includes(option));
  if (odd !== undefined) {
    throw wrongUsage(
      `--${odd} needs a new array, but ${output} is a part of an existing array; leave --${odd} out`,
    );
  }
  if (isSameFile(io, partOf(io, name).place, partOf(io, output).place)) {
    throw wrongUsage(
      `${name} and ${output} are parts of the same array; copy ${name} to another array first`,
    );
  }
  const from = await openToCopy(io, name, options.unfinished);
  const into = await openNamed(io, output);
  if (printKind(from) !== printKind(into)) {
    const sentence = `${name} is ${printKind(from)}, but ${output} is ${printKind(into)}`;
    throw wrongData(`${sentence}; the data type and the shape must be the same`);
  }
  const check = (): Promise<void> => checkUnused(io, output, into);
  await check();
  const progress = new ProgressLine(io.stderr);
  try {
    await writeChunks(io, { name, from }, { name: output, into }, progress);
    // A concurrent job may have read old values from some chunks and new values from others.
    await check();
    return `${output}: ${printKind(into)} written`;
  } finally {
    progress.clear();
  }
}

const printKind = ({ dtype, shape }: ChunkedArray): string => `${dtype} ${printShape(shape)}`;

/** Copies the slice chunk by chunk, so that only one chunk is in memory. */
async function writeChunks(
  io: Io,
  { name, from }: { readonly name: string; readonly from: ChunkedArray },
  { name: output, into }: { readonly name: string; readonly into: ChunkedArray },
  progress: ProgressLine,
): Promise<void> {
  const { shape, chunkShape } = into;
  const grid = shape.map((dim, axis) => Math.ceil(dim / chunkShape[axis]));
  const count = grid.reduce((all, one) => all * one, 1);
  for (let number = 0; number < count; number++) {
    const start = coordinatesOf(number, grid).map((one, axis) => one * chunkShape[axis]);
    const box = start.map((one, axis) => Math.min(chunkShape[axis], shape[axis] - one));
    // oxlint-disable-next-line no-await-in-loop -- one chunk in memory at a time
    const values = await from.read(start, box).catch((error: unknown) => {
      throw failureAt(io, name, error);
    });
    // oxlint-disable-next-line no-await-in-loop
    await into.write(values, start).catch((error: unknown) => {
      throw failureAt(io, output, error);
    });
    progress.show(() => `${number + 1} of ${printCount(count, "chunk")} written`);
  }
}
