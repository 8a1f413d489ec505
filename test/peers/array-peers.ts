/** The implementations of Zarr that arrays are compared with: their abilities, and their accepted differences. */

import type { DType } from "../../src/core/tensor/dtype.ts";
import type { Abilities } from "./array-cases.ts";
import type { Accepted } from "./tally.ts";

export interface Row {
  /** The peer, which is also the package in Python without which it is skipped. */
  readonly peer: string;
  /** The program in Python; absent for zarrita. */
  readonly program?: string;
  readonly able: Abilities;
  /** Abilities that the peer has only for reading. */
  readonly reads?: Partial<Abilities>;
  /** Requests for arrays of types and codecs that the package refuses. */
  readonly refused?: readonly object[];
}

// prettier-ignore
const NUMBERS = [
  "bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64",
  "float16", "float32", "float64", "complex64", "complex128",
] as const satisfies readonly DType[];

// prettier-ignore
const TENSORSTORE: readonly DType[] = [
  ...NUMBERS, "bfloat16", "int4", "int2", "float4e2m1",
  "float8e4m3fn", "float8e4m3fnuz", "float8e5m2", "float8e5m2fnuz", "float8e8m0",
];

const ZARRS: readonly DType[] = [...NUMBERS, "complex64", "complex128"];

const ZARRITA = NUMBERS.filter((dtype) => !/complex|float16/.test(dtype));

const ALL: Abilities = {
  types: { 2: NUMBERS, 3: NUMBERS },
  codecs: ["transpose", "gzip", "zstd", "zstd with a checksum", "blosc", "crc32c", "shards"],
  compressors: ["none", "zlib", "gzip", "zstd"],
  cnames: ["blosclz", "lz4", "lz4hc", "zlib", "zstd"],
  shuffles: [-1, 0, 1, 2],
  isQuiet: false,
};

const codecOf = (format: 2 | 3, name: string, more: object = {}): object =>
  format === 2 ? { id: name, ...more } : { name: `numcodecs.${name}`, configuration: more };

const FIELDS = [["a", "<i4"]];

const REFUSED_OF_ZARR = ([2, 3] as const).flatMap((format) => [
  ...["<U4", "|S4", "str", "<M8[s]", "<m8[ms]", "|V4", FIELDS].map((dtype) => ({ dtype, format })),
  ...["bz2", "lzma"].map((name) => ({ format, compressors: codecOf(format, name) })),
]);

const REFUSED_OF_TENSORSTORE = [
  ...["float8_e3m4", "|S3", "|V4"].map((dtype) => ({ format: 2, dtype })),
  { format: 2, dtype: FIELDS, field: "a" },
  { format: 2, dtype: "<i4", compressor: { id: "bz2", level: 1 } },
  ...["float8_e3m4", "float8_e4m3b11fnuz"].map((name) => ({ format: 3, data_type: name })),
];

export const ROWS: readonly Row[] = [
  { peer: "zarr", program: "zarr_peer", able: ALL, refused: REFUSED_OF_ZARR },
  // Complex numbers are in the list twice, because few cases show their difference.
  { peer: "zarrs", program: "zarr_peer", able: { ...ALL, types: { 2: NUMBERS, 3: ZARRS } } },
  { peer: "dask", program: "zarr_peer", able: ALL },
  {
    ...{ peer: "tensorstore", program: "tensorstore_peer", refused: REFUSED_OF_TENSORSTORE },
    able: { ...ALL, types: { 2: NUMBERS, 3: TENSORSTORE }, cnames: [...ALL.cnames, "snappy"] },
  },
  {
    peer: "zarrita",
    able: {
      ...{ ...ALL, types: { 2: ZARRITA, 3: ZARRITA }, codecs: ["transpose", "zstd", "blosc"] },
      ...{ compressors: ["none", "zstd"], shuffles: [0, 1, 2], isQuiet: true },
    },
    reads: { codecs: ALL.codecs },
  },
];

const READ = ["they read other values"];
const REFUSE = ["they refuse"];
const COMPLEX = "big-endian complex";
/** blosc after another codec, or with a typesize that does not fit. */
const BLOSC = "blosc of odd elements";
const NANS = ["NaN", "NaN with a payload"];
const PAYLOAD =
  "fill values lose the payload of NaN, and a chunk of NaN counts as one of any other NaN";
const SCALAR = "shards of an array of no axes cannot be written";
const refuse = (reason: string): Accepted["facts"] => ({ word: REFUSE, reason: [reason] });
const BAD_SCALAR = refuse("IndexError: too many indices for array: array is #-dimension");

// prettier-ignore
const DIFFERENCES: readonly (readonly [peer: string, version: string, facts: Accepted["facts"], reason: string, rare?: true])[] = [
  ...["zarr", "zarrs", "dask"].map((peer) => [peer, "zarr 3.1.6", { word: READ, fill: NANS }, PAYLOAD] as const),
  ...["zarr", "dask"].map((peer) => [peer, "zarr 3.1.6", BAD_SCALAR, SCALAR] as const),
  ["zarrs", "0.2.3", refuse("RuntimeError: Non-native byte order not supported"),
    "arrays of Zarr 2 are read only in the byte order of the machine"],
  ["zarrs", "0.2.3", refuse("ValueError: input array must be a C contiguous array"),
    "arrays of Zarr 2 in Fortran order are not read"],
  ["zarrs", "0.2.3", refuse("UnsupportedMetadataError:"),
    "arrays of Zarr 2 of no axes in Fortran order are not read"],
  ["zarrs", "0.2.3", { word: REFUSE, codecs: [BLOSC, `${COMPLEX}, ${BLOSC}`] },
    "parts of chunks are not decoded if the typesize of blosc does not divide their bytes, even of chunks of its own"],
  ["zarrs", "0.2.3", { word: READ, codecs: [COMPLEX, `${COMPLEX}, ${BLOSC}`] },
    "the parts of complex numbers in big-endian order are exchanged"],
  ["tensorstore", "0.1.86", refuse('ValueError: FAILED_PRECONDITION: Error opening "zarr" driver'),
    "Fortran order is refused for arrays of Zarr 2 of at most one axis"],
  ["tensorstore", "0.1.86", { fill: ["float8e8m0"] },
    "fill values of float8_e8m0fnu are numbers of another type, in which 1 is the byte 63, 2^-64, and others are negative"],
  ["tensorstore", "0.1.86", refuse("OverflowError: int too big to convert"),
    "a whole number from 2^64 on is refused as a fill value in Python, but read from a file", true],
  ["zarrita", "0.7.5", refuse("Error: Input contains an empty iterator."),
    "arrays without elements are neither read nor written"],
  ["zarrita", "0.7.5", refuse("TypeError: Cannot convert null to a BigInt"),
    "64-bit integers of Zarr 2 without a fill value are not read"],
  ["zarrita", "0.7.5", { word: READ, fill: ["0x", "NaN with a payload", "beyond 2^53"] },
    "fill values in hexadecimal are read as integers, and integers beyond 2^53 are rounded"],
];

export const ACCEPTED: readonly Accepted[] = DIFFERENCES.map(
  ([peer, version, facts, reason, isRare]) => ({
    ...{ peer, version, facts, reason },
    ...(isRare && { isRare }),
  }),
);
