/**
 * Checks what callers give: the request of a job, with its call and its arrays, and the options of a run. All checks
 * precede the first file access. A chunked call is a node or a plain function, stored as plain data, which the same
 * functions as for `run` resolve and check.
 */

import { statSync } from "node:fs";
import * as path from "node:path";
import { createHash } from "node:crypto";
import {
  checkNames,
  factOf,
  isArray,
  namesOf,
  objectOf,
  printValue,
  wrongOption,
} from "../../../core/foreign.ts";
import { TensorError, oneOf } from "../../../core/errors.ts";
import { printShape } from "../../../core/tensor/shape.ts";
import type { ArrayLocation, ChunkedArray, ArrayType } from "../../boxes/array.ts";
import { checkOpened, checkSignal } from "../../boxes/checks.ts";
import { isUrl } from "../../boxes/file.ts";
import { containerOf, hasSecrets, shownUrl } from "../../boxes/urls.ts";
import type { CreateOptions } from "../../zarr/create.ts";
import {
  callOf,
  nodeFrom,
  plainCallOf,
  plainOptions,
  policiesOf,
  type Call,
  type NodeSpec,
} from "../../../core/call/call.ts";
import { refusesRepeats, settle } from "../../../core/call/check.ts";
import type { Layout, TensorType } from "../../../core/operators/operator.ts";
import { FUNCTIONS, type FunctionName } from "../../../core/operators/registry.ts";
import { rolesOf } from "../../../core/operators/signature.ts";
import { allocate } from "../../../core/tensor/dtype.ts";
import { tensor, Tensor } from "../../../core/tensor/tensor.ts";
import { readOnly } from "../../zarr/stores/store.ts";

/** A node, with the axis if it is an input; or a plain function and its options. */
export type CallSpec =
  | {
      readonly node: NodeSpec;
      readonly axis?: number | undefined;
      readonly duplicates?: "last" | "error" | undefined;
    }
  | { readonly function: string; readonly options: Readonly<Record<string, unknown>> };

/** A call whose inputs have been checked, except for the index values. */
export interface ResolvedCall {
  readonly call: Call;
  /** The shape of the output. */
  readonly shape: readonly number[];
  readonly layout: Layout;
}

/** The data types and shapes of the inputs, which are known before any element is read. */
export interface CallTypes {
  readonly data: Pick<ArrayType, "dtype" | "shape">;
  readonly indices: Pick<ArrayType, "dtype" | "shape">;
  readonly updates?: Pick<ArrayType, "dtype" | "shape"> | undefined;
}

/** Throws the errors that `run` throws before it reads elements. */
export function resolveCall(spec: CallSpec, types: CallTypes): ResolvedCall {
  const unsettled = callFrom(spec);
  const { version, operator, fields } = unsettled;
  if (version.indexForm === "sequences" || version.fusesBatches === true) {
    const sentence = "this version cannot run chunk by chunk; use the operator's newest opset";
    throw new TensorError("unknown-operator", sentence, { ...fields, key: "opset" });
  }
  const isGather = operator.kind === "gather";
  if (isGather !== (types.updates === undefined)) {
    const sentence = isGather ? "a gather takes no updates" : "a scatter needs updates";
    throw new TensorError("dtype", sentence, { ...fields, input: "updates" });
  }
  const axis = "node" in spec && spec.axis !== undefined ? axisTensor(spec.axis) : undefined;
  const takesAxis = unsettled.signature.positions.axis >= 0;
  if (takesAxis !== (axis !== undefined)) {
    const sentence = takesAxis ? "axis, an input, must be given" : "axis is not an input; omit it";
    throw new TensorError("axis", sentence, {
      ...fields,
      input: "axis",
      got: "axis" in spec ? (spec.axis ?? null) : null,
    });
  }
  const inputs = unsettled.signature.inputs.map(({ role }): TensorType | undefined =>
    role === "axis" ? axis : types[role],
  );
  const shapes = {
    data: types.data.shape,
    indices: types.indices.shape,
    updates: types.updates?.shape ?? null,
  };
  const settled = settle(unsettled, inputs, rolesOf(unsettled.signature, inputs), shapes);
  const { call } = settled;
  const layout = operator.layout(
    { data: shapes.data, indices: shapeOnly(types.indices), updates: types.updates?.shape },
    call,
  );
  return { call, shape: settled.shape as readonly number[], layout };
}

/** Returns true if repeated targets are an error. */
export const refusesDuplicates = ({ call }: ResolvedCall): boolean => refusesRepeats(call);

/**
 * Checks the parts of a call that do not depend on its arrays. Throws `unknown-operator`, `attribute` or `reduction`
 * errors.
 */
export function checkCall(spec: CallSpec): void {
  if (typeof spec !== "object" || spec === null) {
    throw wrongOption("call", 'an object such as { function: "scatterND", options: {} }', spec);
  }
  const known = "node" in spec ? ["node", "axis", "duplicates"] : ["function", "options"];
  checkNames("key of a call", spec, known, {});
  callFrom(spec);
}

function callFrom(spec: CallSpec): Call {
  if ("node" in spec) {
    const call = callOf(nodeFrom(spec.node));
    const { duplicates } = spec;
    return { ...call, policies: policiesOf(call.operator, { duplicates }, call.fields) };
  }
  const name = spec.function;
  if (!Object.hasOwn(FUNCTIONS, name)) {
    const allowed = Object.keys(FUNCTIONS);
    const sentence = `the function must be ${oneOf(allowed)}, got ${printValue(name)}`;
    throw new TensorError("unknown-operator", sentence, {
      key: "function",
      got: factOf(name),
      allowed,
    });
  }
  const operator = FUNCTIONS[name as FunctionName];
  return plainCallOf(operator, plainOptions(operator, spec.options));
}

function axisTensor(axis: number): Tensor {
  if (Number.isSafeInteger(axis)) return tensor("int64", [], BigInt64Array.of(BigInt(axis)));
  throw wrongOption("axis", "an integer", axis);
}

/**
 * Returns a tensor without elements that stands for the indices in layout checks. The shape may be too large for a
 * tensor in memory.
 */
const shapeOnly = ({ dtype, shape }: CallTypes["indices"]): Tensor =>
  new Tensor(dtype, [...shape], 0, allocate(dtype, 0));

/** The call, the arrays and the limits of a job. */
export interface JobRequest {
  /** The path of the job's folder. */
  readonly folder: string;
  readonly call: CallSpec;
  readonly data: ChunkedArray;
  readonly indices: ChunkedArray;
  readonly updates?: ChunkedArray | undefined;
  /** The location of the new array, or null to change data in place. */
  readonly out: Pick<ArrayLocation, "format" | "path"> | null;
  /** The codecs of a new Zarr array; by default, data's codecs. */
  readonly codecs?: CreateOptions["codecs"];
  /**
   * The chunk shape of a new Zarr array; with shards, the shape of the chunks inside a shard. By default, a scatter
   * uses data's chunk shape, and a gather uses the largest chunk shape that memory allows.
   */
  readonly chunkShape?: CreateOptions["chunkShape"];
  /** The shard shape of a new Zarr array, a multiple of `chunkShape`. */
  readonly shards?: CreateOptions["shards"];
  /** Memory for the whole process, in bytes. */
  readonly memory: number;
  readonly threads: number;
  /**
   * The shape of a block of positions; by default, the largest shape that memory allows. A block consists of
   * consecutive positions in row-major order, so its shape is ones, then any size, then whole axes.
   */
  readonly blockShape?: readonly number[] | undefined;
}

const REQUEST_KEYS = namesOf<JobRequest>({
  folder: true,
  call: true,
  data: true,
  indices: true,
  updates: true,
  out: true,
  codecs: true,
  chunkShape: true,
  shards: true,
  memory: true,
  threads: true,
  blockShape: true,
});

/** Division of a new array into chunks, or into shards of chunks. */
export interface Chunking {
  readonly chunkShape: readonly number[];
  readonly shards: readonly number[] | null;
}

/** Throws an `attribute` error for arrays or options that jobs do not support. */
export function checkRequest(request: JobRequest): void {
  const given = objectOf("request", request, {});
  checkNames("key of a request", given, REQUEST_KEYS, {});
  const { data, indices, updates, memory, threads } = request;
  const { folder, out, codecs, chunkShape, shards } = request;
  checkCall(request.call);
  checkCount("memory", memory);
  checkPath(folder);
  if (threads !== 0) checkCount("threads", threads);
  for (const [name, array] of Object.entries({ data, indices, updates })) {
    if (array === undefined && name === "updates") continue;
    checkOpened(name, array);
  }
  if (out !== null) {
    const must = 'null, or an object such as { format: "zarr", path: "out.zarr" }';
    const parts = typeof out === "object" ? objectOf("out", out, {}) : {};
    if (typeof parts["path"] !== "string") throw wrongOption("out", must, out);
    checkNames("key of out", parts, ["format", "path"], {});
  }
  const places = [data, indices, updates, out === null ? undefined : { location: out }].flatMap(
    (one) => (one === undefined ? [] : [one.location.path]),
  );
  checkShareable(places);
  checkNoArchive((out ?? data.location).path);
  if (out?.format === "npy" && isUrl(out.path)) {
    const sentence = `the output ${out.path} must be a Zarr array, got an NPY file, which object storage cannot hold; name it .zarr, or give a path`;
    throw new TensorError("attribute", sentence, {
      input: "out",
      key: "out",
      file: out.path,
      got: "npy",
      allowed: ["zarr"],
    });
  }
  for (const [name, given] of Object.entries({ codecs, chunkShape, shards })) {
    if (given === undefined || out?.format === "zarr") continue;
    const got = out === null ? "data itself" : `${out.path}, an NPY file`;
    const sentence = `the output must be a new Zarr array for ${name}, got ${got}; omit ${name}`;
    throw new TensorError("attribute", sentence, { key: name });
  }
  if (out !== null && out.format !== "npy" && out.format !== "zarr") {
    throw new TensorError(
      "attribute",
      `the format of the output must be npy or zarr, got ${printValue(out.format)}`,
      { key: "format", got: factOf(out.format), allowed: ["npy", "zarr"] },
    );
  }
  if (out?.format === "zarr" && !isUrl(out.path)) checkEnding(out.path);
  checkApart(folder, places);
}

/**
 * Checks that locations contain no secrets, because job files store locations for other threads and machines. Throws an
 * `attribute` error for a URL with a user or a query.
 */
function checkShareable(places: readonly string[]): void {
  const secret = places.find(hasSecrets);
  if (secret === undefined) return;
  const advice =
    "copy the array first (ndscatter array URL -o a.zarr), or name it as s3:// with keys in the environment";
  const sentence = `${shownUrl(secret)} has a user or a query, which a job would write into its files; ${advice}`;
  throw new TensorError("attribute", sentence, { key: "location", file: shownUrl(secret) });
}

/** Throws an `attribute` error for an output in an archive or a reference file, because these are only read. */
export function checkNoArchive(place: string): void {
  const container = isUrl(place) ? null : containerOf(place);
  if (container !== null && statSync(container, { throwIfNoEntry: false })?.isFile() === true)
    throw readOnly({ path: place });
}

/** Rejects a Zarr folder with a file suffix such as `.npy`, because the array would later be opened as a file. */
function checkEnding(folder: string): void {
  const ending = path.extname(folder).toLowerCase();
  if (ending === "" || ending === ".zarr") return;
  const sentence =
    `the output ${folder} must end in .npy or .zarr, or be a Zarr folder without a suffix, ` +
    `got ${printValue(ending)}`;
  throw new TensorError("attribute", sentence, {
    input: "out",
    key: "out",
    file: folder,
    got: ending,
    allowed: [".npy", ".zarr"],
  });
}

/** Returns a hash of a request, except for memory and threads. */
export function hashOf(request: JobRequest): string {
  const { call, data, indices, updates, out, codecs, chunkShape, shards } = request;
  // The fingerprint of a Zarr array depends only on the metadata, so it stays the same while the job changes chunks.
  const inputs = [data, indices, updates].map((array) =>
    array === undefined ? null : [array.location.format, array.location.path, array.fingerprint],
  );
  const text = JSON.stringify({ call, inputs, out, codecs, chunkShape, shards });
  return createHash("sha256").update(text).digest("hex");
}

/** Returns the requested chunk shapes. Throws an `attribute` error for chunks that do not fit the output. */
export function chunkingOf({ chunkShape, shards }: JobRequest): Chunking | undefined {
  if (chunkShape === undefined && shards == null) return undefined;
  if (chunkShape === undefined) {
    const sentence = "shards require the shape of their chunks; also give chunkShape (--chunks)";
    throw new TensorError("attribute", sentence, { key: "chunkShape" });
  }
  for (const [name, given] of Object.entries({ chunkShape, shards: shards ?? [] })) {
    const isShape = isArray(given) && given.every((dim) => Number.isSafeInteger(dim) && dim >= 1);
    if (isShape) continue;
    const areNumbers = isArray(given) && given.every((dim) => typeof dim === "number");
    const got = areNumbers ? printShape(given) : printValue(given);
    const sentence = `${name} must be a list of positive integers, got ${got}`;
    throw new TensorError("attribute", sentence, {
      key: name,
      got: areNumbers ? given : factOf(given),
    });
  }
  return { chunkShape: [...chunkShape], shards: shards == null ? null : [...shards] };
}

/**
 * Throws an `attribute` error if the folder equals, contains or lies within an array, because removing one would remove
 * the other.
 */
function checkApart(folder: string, arrays: readonly string[]): void {
  const array = arrays.find((one) => isIn(folder, one) || isIn(one, folder));
  if (array === undefined) return;
  const sentence = `the job's folder ${folder} and the array ${array} must not contain each other; give another folder`;
  throw new TensorError("attribute", sentence, { key: "folder", file: folder, other: array });
}

const isIn = (inner: string, outer: string): boolean =>
  inner === outer || inner.startsWith(outer + path.sep);

/** Throws an `attribute` error unless `folder` is the path of a folder on this machine. */
export function checkPath(folder: unknown, name = "folder"): void {
  if (typeof folder === "string" && folder !== "" && !/\0/.test(folder) && !isUrl(folder)) return;
  throw wrongOption(name, "the path of a folder on this machine", folder);
}

/** Checks run options early, because later errors would end a job that has already begun. */
export function checkRunOptions(options: {
  readonly signal?: unknown;
  readonly onNote?: unknown;
  readonly onProgress?: unknown;
  readonly onDone?: unknown;
}): void {
  const { signal, onNote, onProgress, onDone } = options;
  for (const [name, given] of Object.entries({ onProgress, onNote, onDone })) {
    if (given === undefined || typeof given === "function") continue;
    throw wrongOption(name, "a function", given);
  }
  checkSignal(signal);
  signal?.throwIfAborted();
}

/** Throws an `attribute` error unless `value` is a positive integer. */
export function checkCount(name: string, value: unknown): void {
  if (Number.isSafeInteger(value) && Number(value) >= 1) return;
  throw wrongOption(name, "a positive integer", value);
}
