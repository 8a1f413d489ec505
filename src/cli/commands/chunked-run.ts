/**
 * Implements `ndscatter run` for arrays that may exceed memory. A chunked job runs in this process, in queue workers,
 * or on Slurm.
 */

import * as path from "node:path";
import { availableParallelism } from "node:os";
import {
  createJob,
  openJob,
  remainingTasks,
  removeJob,
  slurmScript,
  type JobRequest,
} from "../../entries/chunked.ts";
import { isTensorError, type Tensor } from "../../entries/index.ts";
import { roleOf } from "../../entries/operators.ts";
import { openArray, type ChunkedArray } from "../../entries/zarr.ts";
import { errorAt, printFile, STDIN, wrongData, wrongUsage } from "../failure.ts";
import { printResult, printNote, type Io } from "../io.ts";
import {
  gatherHere,
  printPlan,
  runHere,
  runWithRedis,
  stageLines,
  type StageTimes,
  redisOf,
} from "./job-run.ts";
import { quote, didYouMean } from "../text/layout.ts";
import { isOperator, parseCall, type Call, type CallOptions } from "../input/operator-call.ts";
import {
  bindFiles,
  bindInputFiles,
  DEFAULT_MEMORY,
  folderOf,
  isUrl,
  openPart,
  partOf,
  placeOf,
} from "../input/arguments.ts";
import { readTensorFile, checkArrayFormat } from "../input/read-files.ts";
import { printType } from "../text/cells.ts";

export interface ChunkedOptions extends CallOptions {
  readonly memory?: number;
  readonly job?: string;
  readonly inPlace?: boolean;
  readonly threads?: number;
  readonly redis?: string | true;
  readonly queue?: string;
  readonly slurm?: boolean;
  readonly tasksPerElement?: number;
  readonly plan?: boolean;
  readonly codec?: JobRequest["codecs"];
  readonly chunks?: readonly number[];
  readonly shards?: readonly number[];
  readonly output?: readonly string[];
  readonly expect?: readonly string[];
  readonly json?: boolean;
}

function checkUsage(target: string, options: ChunkedOptions): void {
  const { expect, queue, redis, job, slurm, tasksPerElement } = options;
  if (!isOperator(target)) {
    throw wrongUsage(
      `${printFile(target)} must be an operator, such as ScatterND, because models cannot run chunk by chunk`,
    );
  }
  if (expect !== undefined) {
    throw wrongUsage("--expect cannot be used in a run chunk by chunk; leave --expect out");
  }
  if (queue !== undefined && redis === undefined) {
    throw wrongUsage("--queue needs --redis; give the URL of the queue's Redis");
  }
  if (tasksPerElement !== undefined && slurm !== true) {
    throw wrongUsage("--tasks-per-element needs --slurm; give --slurm too");
  }
  if (job === "") throw wrongUsage("--job needs the name of a folder");
}

export async function runChunked(
  io: Io,
  target: string,
  texts: readonly string[],
  options: ChunkedOptions,
): Promise<void> {
  checkUsage(target, options);
  const { plan, slurm, queue, json = false } = options;
  const redis = options.redis === undefined ? undefined : redisOf(io, options.redis);
  const { call, request } = await requestOf(io, target, texts, options);
  const { folder } = request;
  if (plan === true) return printPlan(io, request, json);
  const isPlain = options.job === undefined && redis === undefined && slurm !== true;
  if (isPlain && request.updates === undefined && request.out !== null) {
    const stages = await gatherHere(io, request);
    if (stages !== null) return printOutput(io, call, request.out.path, stages, options);
  }
  const spec = await createJob(request);
  const wasDone = (await remainingTasks(await openJob(folder), "finish")).length === 0;
  if (slurm === true) {
    const { memory, threads, tasksPerElement } = options;
    const script = await slurmScript(await openJob(folder), { memory, threads, tasksPerElement });
    return void (await io.stdout.write(script));
  }
  let stages: readonly StageTimes[] = [];
  try {
    if (redis === undefined) stages = await runHere(io, folder, options);
    else await runWithRedis(io, folder, { redis, queue });
  } catch (error) {
    if (isTensorError(error, "index-out-of-range", "duplicate-index")) {
      await endFolder(folder, spec.id, options);
    }
    throw error;
  }
  await endFolder(folder, spec.id, options);
  await printOutput(io, call, spec.out.path, stages, options);
  if (wasDone && !json)
    await printNote(io, `this job is already finished; remove ${folder} to run it again`);
}

/** Prints the output of a finished call, and the times of its stages. */
async function printOutput(
  io: Io,
  { version }: Call,
  place: string,
  stages: readonly StageTimes[],
  { json = false }: ChunkedOptions,
): Promise<void> {
  const out = await openArray(place);
  const { dtype, shape } = out;
  const [{ name }] = version.outputs;
  const file = isUrl(place) ? place : path.relative(io.cwd, place);
  const text = [`${name}: ${printType(out)}`, `  written to ${file}`, ...stageLines(stages)].join(
    "\n",
  );
  await printResult(io, json ? { outputs: [{ name, dtype, shape, file }], stages } : text);
}

/** Removes a finished job's folder, unless the user specified it with --job. */
async function endFolder(folder: string, id: string, { job }: ChunkedOptions): Promise<void> {
  if (job === undefined) await removeJob(folder, id);
}

function axisNumber(axis: string, { dimensionNames }: ChunkedArray): string {
  const number = dimensionNames?.indexOf(axis) ?? -1;
  if (number >= 0) return String(number);
  const names = (dimensionNames ?? []).flatMap((name) => (name === null ? [] : [name]));
  const known =
    names.length === 0
      ? "the axes have no names; give a number"
      : `the axes have the names ${names.join(", ")}`;
  throw wrongUsage(`data has no axis named ${quote(axis)}; ${didYouMean(axis, names, known)}`);
}

const ROLES = ["data", "indices", "updates", "axis"] as const;

async function requestOf(
  io: Io,
  target: string,
  texts: readonly string[],
  options: ChunkedOptions,
): Promise<{ readonly call: Call; readonly request: JobRequest }> {
  // Files are assigned before the axis name is resolved, because resolving the name may require reading data.
  const { axis } = options;
  const isNamed = axis !== undefined && !/^[+-]?\d/.test(axis);
  const typed = parseCall(target, isNamed ? { ...options, axis: "0" } : options);
  const { version, title, given } = typed;
  const optional = new Set<string>();
  const inputs = version.inputs.map(({ name }) => name).filter((name) => !given.has(name));
  const sources = bindInputFiles(texts, { title, inputs, optional });
  const [dataFile, indicesFile, updatesFile, axisFile] = ROLES.map((role) =>
    sources.get(version.inputs.find((input) => roleOf(input) === role)?.name ?? ""),
  );
  if (dataFile === undefined || indicesFile === undefined) {
    throw wrongUsage(`${title} needs data and indices; give their files`);
  }
  const out = outOf(io, version.outputs[0].name, title, options);
  const place = out?.path ?? partOf(io, dataFile).place;
  if (options.job === undefined && isUrl(place)) {
    throw wrongUsage(`a job for ${place} needs a folder on this machine; give --job FOLDER`);
  }
  const { memory = DEFAULT_MEMORY, threads = availableParallelism(), job } = options;
  const data = await open(io, dataFile);
  const call = isNamed ? parseCall(target, { ...options, axis: axisNumber(axis, data) }) : typed;
  const request = {
    folder: folderOf(io, job ?? `${place}.job`),
    call: { node: call.node, axis: axisOf(io, call.given, axisFile) },
    data,
    indices: await open(io, indicesFile),
    updates: updatesFile === undefined ? undefined : await open(io, updatesFile),
    out,
    ...(options.codec !== undefined && { codecs: options.codec }),
    ...(options.chunks !== undefined && { chunkShape: options.chunks }),
    ...(options.shards !== undefined && { shards: options.shards }),
    memory,
    threads,
  };
  return { call, request };
}

function axisOf(
  io: Io,
  given: ReadonlyMap<string, Tensor>,
  file: string | undefined,
): number | undefined {
  const [typed] = given.values();
  const axis = file === undefined ? typed : readTensorFile(io, file);
  if (axis === undefined) return undefined;
  const isOne = axis.size === 1 && axis.shape.length < 2;
  if (isOne && /^u?int/.test(axis.dtype)) return Number(axis.data[0]);
  const sentence = `axis must be a single integer, as a scalar or with shape [1], got ${printType(axis)}`;
  throw wrongData(sentence);
}

async function open(io: Io, file: string): Promise<ChunkedArray> {
  if (file === STDIN || file.toLowerCase().endsWith(".pb")) {
    const what = file === STDIN ? "standard input" : file;
    throw wrongUsage(`${what} cannot be read in parts; give an .npy file or a Zarr array`);
  }
  return openPart(io, file).catch((error: unknown) => {
    throw errorAt(file, error);
  });
}

function outOf(
  io: Io,
  name: string,
  title: string,
  { output = [], inPlace = false }: ChunkedOptions,
): JobRequest["out"] {
  const file = bindFiles(output, [name], "output", title).get(name);
  if (inPlace && file !== undefined) {
    throw wrongUsage(
      "--in-place changes data, so it cannot be used with -o; leave one of them out",
    );
  }
  if (inPlace) return null;
  if (file === undefined) {
    throw wrongUsage("a run chunk by chunk needs an output; give -o new.zarr, or --in-place");
  }
  if (partOf(io, file).ranges !== null) {
    const advice = "to change a part, give the part as data with --in-place";
    throw wrongUsage(`${file} is a part of an array, but -o creates a new array; ${advice}`);
  }
  return { format: checkArrayFormat(file), path: placeOf(io, file) };
}
