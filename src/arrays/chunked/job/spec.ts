/**
 * Defines and checks the contents of `job.json`. The contents are plain data, which is checked on reading, because any
 * program may have written the file.
 */

import { createRequire } from "node:module";
import { factOf, freeze } from "../../../core/foreign.ts";
import { malformed } from "../../../core/errors.ts";
import type { ArrayLocation } from "../../boxes/array.ts";
import type { CreateOptions } from "../../zarr/create.ts";
import type { CallSpec, Chunking } from "./request.ts";

export interface JobSpec {
  readonly version: 1;
  /** The id of the job, in hexadecimal digits. Every temporary file next to the output contains the id in its name. */
  readonly id: string;
  /** A hash of the call and its inputs, because only an identical request may resume the job. */
  readonly request: string;
  readonly call: CallSpec;
  readonly data: ArrayLocation;
  readonly indices: ArrayLocation;
  readonly updates?: ArrayLocation | undefined;
  /** The location of the output, which is that of data if the job changes data in place. */
  readonly out: ArrayLocation;
  readonly inPlace: boolean;
  /** The codecs of a new Zarr array; by default, data's codecs. */
  readonly codecs?: CreateOptions["codecs"];
  /** The requested chunks of a new Zarr array. */
  readonly chunking?: Chunking | undefined;
  /** True if each thread keeps all updates in memory, so `partition` writes no fragments. */
  readonly isFew?: true | undefined;
  /** The shape of a block of positions. */
  readonly blockShape: readonly number[];
  /** The number of chunks in data, and the number of consecutive chunks per task of `apply`. */
  readonly chunks: number;
  readonly chunksPerTask: number;
  readonly stages: readonly Stage[];
  readonly planned?: Planned | undefined;
}

/** Upper bounds for a job's tasks, which are computed when the job is created. */
export interface Planned {
  /** The bytes that each stage adds to the disks of the job's folder and of the output. */
  readonly disk: readonly (readonly [job: number, output: number])[];
}

/** The maximum number of tasks, because each task takes a name in a folder and space in memory. */
export const MOST_TASKS = 2 ** 24;

/** The maximum number of chunks per task, because a task writes its chunk names into one file. */
export const MOST_CHUNKS_PER_TASK = 2 ** 12;

/** Name of a job stage. */
export type StageName = "partition" | "merge" | "check" | "apply" | "place" | "finish";

/** A stage of a job, with the tasks 0 to `tasks - 1`. A stage begins when all tasks of the previous stage are done. */
export interface Stage {
  readonly name: StageName;
  readonly tasks: number;
}

/** The names of all stages, in order. */
export const STAGE_NAMES: readonly StageName[] = [
  "partition",
  "merge",
  "check",
  "apply",
  "place",
  "finish",
];

export const printSpec = (spec: JobSpec): string =>
  `${JSON.stringify({ package: packageVersion(), ...spec }, null, 2)}\n`;

/** Throws a `malformed-file` error unless the text is a spec of this package version. */
export function parseSpec(text: string): JobSpec {
  const given = parseObject(text);
  checkPackage(given.package);
  const fields: Partial<Record<keyof JobSpec, unknown>> = {};
  let areRight = true;
  for (const [name, isRight] of Object.entries(FIELDS) as [keyof JobSpec, Check][]) {
    if (given[name] !== undefined) fields[name] = given[name];
    areRight &&= isRight(given[name]);
  }
  const spec = fields as JobSpec;
  if (!areRight || !arePartsRight(spec))
    throw malformed("job.json must describe a job of this ndscatter version, but does not");
  // For a change in place, data and the output must be the same part of the array.
  return Object.freeze({ ...spec, out: spec.inPlace ? spec.data : spec.out });
}

/** Returns true if the fields of a spec, each of which is right, fit each other. */
const arePartsRight = ({ data, inPlace, out, planned, stages }: JobSpec): boolean =>
  inPlace === (out.path === data.path) &&
  (planned === undefined || planned.disk.length === stages.length);

/** Rejects jobs of other package versions, which may divide a call differently or write other files. */
function checkPackage(made: unknown): void {
  const own = packageVersion();
  if (typeof made !== "string" || made === own) return;
  throw malformed(
    `the job was created by ndscatter ${made.slice(0, 40)}, but this is ndscatter ${own}; ` +
      "use one version on all machines until the job is done",
    { key: "version", got: factOf(made), expected: own },
  );
}

function parseObject(text: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(text);
    // Parsed specs are kept, and callers get them, so they are frozen.
    if (isObject(value) && freeze(value, DEPTH)) return value;
  } catch (cause) {
    throw malformed("job.json must be JSON, but is not", {}, { cause });
  }
  throw malformed(`job.json must hold an object of at most ${DEPTH} levels`, { limit: DEPTH });
}

/**
 * The maximum nesting depth, because thousands of levels would overflow the stack. Node attributes have three levels.
 */
const DEPTH = 32;

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

const isSizes = (value: unknown): value is readonly number[] =>
  Array.isArray(value) && value.every((size) => Number.isSafeInteger(size) && Number(size) >= 1);

const isChunking = (value: unknown): value is Chunking =>
  isObject(value) && isSizes(value.chunkShape) && (value.shards === null || isSizes(value.shards));

const isAmount = (value: unknown): value is number =>
  typeof value === "number" && value >= 0 && Number.isFinite(value);

/** Older jobs have more figures here. */
const isPlanned = (value: unknown): value is Planned =>
  isObject(value) &&
  Array.isArray(value.disk) &&
  value.disk.every((one) => Array.isArray(one) && one.length === 2 && one.every(isAmount));

const isStage = (value: unknown): value is Stage =>
  isObject(value) &&
  STAGE_NAMES.some((name) => name === value.name) &&
  Number.isSafeInteger(value.tasks) &&
  Number(value.tasks) >= 0 &&
  Number(value.tasks) <= MOST_TASKS;

/** Returns true if the stages are in order and the last stage has a single task. */
function areStages(value: unknown): value is readonly Stage[] {
  if (!Array.isArray(value) || !value.every(isStage)) return false;
  const places = value.map(({ name }) => [...STAGE_NAMES].indexOf(name));
  return (
    places.every((place, i) => i === 0 || place > places[i - 1]) &&
    value.at(-1)?.name === "finish" &&
    value.at(-1)?.tasks === 1
  );
}

const isLocation = (value: unknown): value is ArrayLocation =>
  isObject(value) &&
  (value.format === "npy" || value.format === "zarr") &&
  typeof value.path === "string" &&
  (value.chunkShape === undefined || isSizes(value.chunkShape)) &&
  (value.slice === undefined || (Array.isArray(value.slice) && value.slice.every(isAxisPart))) &&
  (value.isExclusive === undefined || value.isExclusive === true) &&
  (value.readAs === undefined || (value.slice !== undefined && isSizes(value.readAs)));

/** Returns true for a part of an axis. The bounds are checked later, when the array is open. */
const isAxisPart = (value: unknown): boolean =>
  Number.isSafeInteger(value) ||
  (Array.isArray(value) && value.length === 3 && value.every(Number.isSafeInteger));

/** Returns true if the value has the form of a call, whose fields are checked later. */
const isCall = (value: unknown): value is CallSpec =>
  isObject(value) &&
  (isObject(value.node) || (typeof value.function === "string" && isObject(value.options)));

type Check = (value: unknown) => boolean;

const orAbsent =
  (check: Check): Check =>
  (value) =>
    value === undefined || check(value);

/** The fields of `job.json`, besides the version of the package. */
const FIELDS: Readonly<Record<keyof JobSpec, Check>> = {
  version: (value) => value === 1,
  id: (value) => typeof value === "string" && /^[0-9a-f]{8,64}$/.test(value),
  request: (value) => typeof value === "string",
  call: isCall,
  data: isLocation,
  indices: isLocation,
  updates: orAbsent(isLocation),
  out: isLocation,
  inPlace: (value) => typeof value === "boolean",
  codecs: orAbsent(Array.isArray),
  chunking: orAbsent(isChunking),
  isFew: orAbsent((value) => value === true),
  blockShape: isSizes,
  chunks: Number.isSafeInteger,
  chunksPerTask: (value) => isSizes([value]) && Number(value) <= MOST_CHUNKS_PER_TASK,
  stages: areStages,
  planned: orAbsent(isPlanned),
};

/** Searches for the package.json with the package's name, because build/ and dist/ have different depths. */
export function packageVersion(): string {
  const manifest: { readonly version: string } = createRequire(import.meta.url)(
    "ndscatter/package.json",
  );
  return manifest.version;
}
