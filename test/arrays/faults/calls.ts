/** Makes the calls of cases, in processes that may be killed: what a process needs to know is data. */

import * as path from "node:path";
import type { ChunkedArray } from "../../../src/arrays/boxes/array.ts";
import type { CallSpec } from "../../../src/arrays/chunked/job/request.ts";
import {
  createJob,
  gatherChunked,
  removeJob,
  runJob,
  scatterChunked,
  type JobRequest,
} from "../../../src/entries/chunked.ts";
import { openArray } from "../../../src/entries/zarr.ts";

export type InputName = "data" | "indices" | "updates";

/** How an input is stored. */
export interface Storage {
  readonly format: "npy" | 2 | 3;
  readonly chunkShape: readonly number[];
  readonly shards: readonly number[] | null;
  readonly codecs: readonly string[];
  /** True if the job reads the array over HTTP. */
  readonly isRemote: boolean;
}

/** The call of a case. */
export interface Made {
  readonly number: number;
  readonly spec: CallSpec;
  /** How each input is stored. A gather has no updates. */
  readonly storage: Readonly<Partial<Record<InputName, Storage>>>;
  /** The output: a new array, in this folder or in object storage, or data itself. */
  readonly out: "out.npy" | "out.zarr" | "s3" | "data";
  readonly encoding: Pick<JobRequest, "codecs" | "chunkShape" | "shards">;
  /** `whole`: a chunked call; `kept`: a chunked call with a folder of the job; `tasks`: a job of tasks. */
  readonly how: "whole" | "kept" | "tasks";
  /** The blocks of a job of tasks; undefined if the job chooses them, which keeps few updates in memory. */
  readonly blockShape: readonly number[] | undefined;
  readonly threads: number;
}

/** Where the arrays of a case are. */
export interface Place {
  /** The folder of the output and of the job. */
  readonly home: string;
  /** The folder of inputs. */
  readonly inputs: string;
  /** The address of that folder. */
  readonly address: string;
  /** The location of the output in object storage. */
  readonly bucket: string;
}

export const fileOf = ({ storage }: Made, name: InputName): string =>
  `${name}.${storage[name]?.format === "npy" ? "npy" : "zarr"}`;

export const outputOf = (one: Made, { home, inputs, bucket }: Place): string =>
  one.out === "data"
    ? path.join(inputs, fileOf(one, "data"))
    : one.out === "s3"
      ? bucket
      : path.join(home, one.out);

export const jobOf = ({ home }: Place): string => path.join(home, "job");

const MEMORY = 2 ** 29;

/** Makes the call of a case, or resumes or removes its job. */
export async function makeCall(
  one: Made,
  place: Place,
  what: "call" | "resume" | "remove",
): Promise<void> {
  const { spec, how, out, threads, blockShape, encoding } = one;
  const folder = jobOf(place);
  const limits = { memory: MEMORY, threads };
  const open = (name: InputName): Promise<ChunkedArray> => {
    const file = fileOf(one, name);
    const isRemote = one.storage[name]?.isRemote === true;
    return openArray(isRemote ? `${place.address}/${file}` : path.join(place.inputs, file));
  };
  if (what === "remove") return removeJob(how === "whole" ? `${outputOf(one, place)}.job` : folder);
  if (what === "resume") return runJob(folder, limits);
  const data = await open("data");
  const indices = await open("indices");
  const updates = one.storage.updates && (await open("updates"));
  const output = outputOf(one, place);
  if (how === "tasks") {
    const format = out === "out.npy" ? "npy" : "zarr";
    await createJob({
      folder,
      call: spec,
      ...{ data, indices, updates, ...encoding, ...limits, blockShape },
      out: out === "data" ? null : { format, path: output },
    });
    return runJob(folder, limits);
  }
  const { options, ...called } = spec as { function: string; options: object };
  const own = {
    ...{ ...options, ...called, ...encoding, ...limits },
    out: out === "data" ? data : output,
    job: how === "kept" ? folder : undefined,
  };
  if (updates === undefined) await gatherChunked(data, indices, own);
  else await scatterChunked(data, indices, updates, own);
}
