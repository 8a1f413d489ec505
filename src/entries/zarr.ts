/**
 * Zarr and NPY arrays in folders, archives, object storage and stores of the caller. The arrays may be larger than
 * memory, and are read and written chunk by chunk.
 */

export {
  createArray,
  createPending,
  openArray,
  openPending,
  type OpenOptions,
} from "../arrays/zarr/open.ts";
export {
  openGroup,
  type GroupMember,
  type GroupOptions,
  type ZarrGroup,
} from "../arrays/zarr/group.ts";
export type { ZarrArray, StoredChunks } from "../arrays/zarr/array.ts";
export type { CreateOptions } from "../arrays/zarr/create.ts";
export type { OwnCodec, OwnCodecs } from "../arrays/zarr/codecs/own.ts";
export type { Codec } from "../arrays/zarr/metadata.ts";
export type { Location } from "../arrays/zarr/locate.ts";
export type { ByteRange, Keys, MemoryStore, Store } from "../arrays/zarr/stores/own-store.ts";
export type { Fetch, StoreOptions } from "../arrays/zarr/stores/store-options.ts";
export type { S3Options } from "../arrays/zarr/stores/s3-options.ts";
export type { Json, JsonObject } from "../arrays/zarr/json.ts";
export type {
  ArrayLocation,
  ArrayType,
  AxisRange,
  ChunkedArray,
  PendingArray,
  StagedArray,
} from "../arrays/boxes/array.ts";
