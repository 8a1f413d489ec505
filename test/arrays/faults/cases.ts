/** Draws small random jobs: a call, how its arrays are stored, and how it is made. A number determines a case. */

import { contiguousChunks, Grid } from "../../../src/arrays/boxes/grid.ts";
import { resolveCall } from "../../../src/arrays/chunked/job/request.ts";
import { reductionsOf, type DType } from "../../../src/core/tensor/dtype.ts";
import { product } from "../../../src/core/tensor/shape.ts";
import type { Tensor } from "../../../src/core/tensor/tensor.ts";
import {
  gatherCase,
  gatherElementsCase,
  gatherNDCase,
  scatterElementsCase,
  scatterNDCase,
  specOf,
  type Case,
} from "../../support/random-calls.ts";
import { randomFrom, type Random } from "../../support/random.ts";
import type { InputName, Made, Storage } from "./calls.ts";

export interface FaultCase {
  readonly made: Made;
  readonly inputs: Readonly<Partial<Record<InputName, Tensor>>>;
  readonly expected: Tensor;
  /** The number of processes that make the call at the same time. */
  readonly processes: number;
  /** The number of attempts with faults. */
  readonly attempts: number;
  /** True if the job is removed after the attempts with faults. */
  readonly isGivenUp: boolean;
  readonly title: string;
}

const DTYPES: readonly DType[] = [
  ...(["float32", "float32", "float64", "float16", "int8", "int16", "int32"] as const),
  ...(["int64", "uint8", "uint16", "bool", "complex64", "bfloat16"] as const),
];

const MOST_CHUNKS = 12;

const CODECS: readonly (readonly string[])[] = [[], [], ["gzip"], ["zstd"], ["blosc"]];

/** @param number different cases have different numbers; the seed of the run is part of the draw */
export function caseOf(number: number): FaultCase {
  const random = randomFrom(0x5eed + number * 7919);
  const call = callOf(random);
  const { operator, inputs: tensors } = call;
  const isGather = operator.kind === "gather";
  const [data, indices, updates] = tensors;
  const isInPlace = !isGather && random(5) < 2;
  // Without a folder that stays, a call that is repeated changes data again.
  const how = (["tasks", "tasks", "kept", isInPlace ? "kept" : "whole"] as const)[random(4)];
  const onServer = how === "whole" ? "out.zarr" : "s3";
  const out = isInPlace
    ? "data"
    : (["out.npy", "out.npy", "out.zarr", "out.zarr", "out.zarr", onServer] as const)[random(6)];
  const storage = {
    data: storageOf(data, random, isInPlace),
    indices: storageOf(indices, random),
    ...(updates && { updates: storageOf(updates, random) }),
  };
  const { layout } = resolveCall(specOf(call), { data, indices, updates });
  const count = product(layout.positions);
  const least = Math.max(1, Math.ceil(count / MOST_CHUNKS));
  const blockShape =
    count === 0
      ? layout.positions.map(() => 1)
      : contiguousChunks(layout.positions, Math.max(least, 1 + random(Math.ceil(count / 2))));
  const made: Made = {
    ...{ number, spec: specOf(call), storage, out, how },
    blockShape: random(3) === 0 ? undefined : blockShape,
    encoding: out === "out.zarr" || out === "s3" ? encodingOf(isGather ? null : data, random) : {},
    threads: [0, 0, 0, 0, 0, 0, 1, 2][random(8)],
  };
  const drawn = {
    processes: [1, 1, 2, 3][random(4)],
    attempts: 1 + random(3),
    isGivenUp: random(8) === 0,
  };
  const title = `${JSON.stringify(made.spec)} ${data.dtype} [${data.shape}] into ${out}, ${how}, ${made.threads} threads, ${drawn.processes} processes${drawn.isGivenUp ? ", given up" : ""}`;
  return { made, inputs: { data, indices, updates }, expected: call.expected, ...drawn, title };
}

function callOf(random: Random): Case {
  const dims = Array.from({ length: 1 + random(3) }, () => 2 + random(8));
  const lead = Array.from({ length: 1 + random(2) }, () => 2 + random(7));
  const shapes = { dims, lead, pick: random(1000), seed: random(2 ** 30) };
  const dtype = DTYPES[random(DTYPES.length)];
  const reductions = reductionsOf(dtype);
  const reduction = reductions[random(reductions.length)];
  const index = random(2) === 0 ? "int32" : "int64";
  switch (random(8)) {
    case 0:
      return gatherCase(dtype, index, shapes);
    case 1:
      return gatherNDCase(dtype, index, shapes);
    case 2:
      return gatherElementsCase(dtype, index, shapes);
    case 3:
    case 4:
      return scatterElementsCase(dtype, reduction, index, shapes);
    default:
      return scatterNDCase(dtype, reduction, index, shapes);
  }
}

/** Sizes of chunks, of which an array has few. */
function chunksOf(shape: readonly number[], random: Random): number[] {
  const chunks = shape.map((dim) => 1 + random(Math.max(1, dim)));
  for (let axis = 0; new Grid(shape, chunks).size > MOST_CHUNKS; axis++) {
    chunks[axis] = Math.max(1, shape[axis]);
  }
  return chunks;
}

function storageOf({ shape, dtype }: Tensor, random: Random, isInPlace = false): Storage {
  const formats = ["npy", 2, 3, 3] as const;
  const drawn = formats[isInPlace ? 1 + random(3) : random(4)];
  // Zarr v2 lacks some data types.
  const format = drawn === 2 && dtype === "bfloat16" ? 3 : drawn;
  const chunkShape = chunksOf(shape, random);
  const isSharded = format === 3 && random(3) === 0;
  return {
    format,
    chunkShape,
    shards: isSharded ? chunkShape.map((chunk) => chunk * (1 + random(2))) : null,
    codecs: CODECS[random(CODECS.length)],
    isRemote: !isInPlace && random(8) === 0,
  };
}

/** Options of a new Zarr array. Those of a gather have the chunks that the job chooses. */
function encodingOf(data: Tensor | null, random: Random): Made["encoding"] {
  const codecs = [...CODECS[random(CODECS.length)]];
  if (data === null || random(2) === 0) return random(2) === 0 ? { codecs } : {};
  const chunkShape = chunksOf(data.shape, random);
  const shards = random(2) === 0 ? { shards: chunkShape.map((chunk) => 2 * chunk) } : {};
  return { codecs, chunkShape, ...shards };
}
