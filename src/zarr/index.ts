/** Zarr: arrays larger than memory, in folders and in object storage, read and written by chunks. */

export { createArray, createPending, openArray, openPending, type OpenOptions } from "./open.ts";
export type { ZarrArray, StoredChunks } from "./array.ts";
export type { CreateOptions } from "./create.ts";
export type { Codec } from "./metadata.ts";
export type { S3Options } from "./s3-client.ts";
export type { Json, JsonObject } from "./json.ts";
export type {
  ArrayLocation,
  ArrayType,
  ChunkedArray,
  PendingArray,
  StagedArray,
} from "../arrays/array.ts";
