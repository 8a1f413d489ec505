/**
 * Shorthand for rows of the operator table: data types by the version that added them, and changes that many operators
 * share.
 */

import { at, takes, useless, type Change } from "./change.ts";

/** An operator's first version, and the changes in later versions. */
export type History = readonly [first: number, ...changes: readonly Change[]];

export const rows = (names: string, history: History): Readonly<Record<string, History>> =>
  Object.fromEntries(names.split(/\s+/).map((name) => [name, history]));

export const FLOATS = ["float16", "float32", "float64"];
export const WIDE = ["uint32", "uint64", "int32", "int64"];
export const NARROW = ["uint8", "uint16", "int8", "int16"];
export const SIGNED = ["int8", "int16", "int32", "int64"];
export const BYTES = ["uint8", "int8"];
export const INTEGERS = [...WIDE, ...NARROW];
export const OTHERS = ["bool", ...INTEGERS, "complex64", "complex128", "string"];
export const ALL = [...FLOATS, ...OTHERS];
export const BFLOAT16 = ["bfloat16"];
export const FLOAT8 = ["float8e4m3fn", "float8e4m3fnuz", "float8e5m2", "float8e5m2fnuz"];
export const INT4 = ["uint4", "int4"];
export const FLOAT4 = ["float4e2m1"];
export const FLOAT8E8M0 = ["float8e8m0"];
export const INT2 = ["uint2", "int2"];
export const FLOAT6 = ["float6e2m3", "float6e3m2"];
/** Data types that ONNX added after the original set `ALL`. */
export const LATER = [
  ...BFLOAT16,
  ...FLOAT8,
  ...INT4,
  ...FLOAT4,
  ...FLOAT8E8M0,
  ...INT2,
  ...FLOAT6,
];
/**
 * Sequences and optionals, for which this package has no data types. Conversion treats them as values of unknown type.
 */
export const SEQUENCES: readonly string[] = [];

const smallest = (where?: string): readonly Change[] => [
  at(23, takes(FLOAT4, where)),
  at(24, takes(FLOAT8E8M0, where)),
  at(25, takes(INT2, where)),
];

/** Changes that added data types of 8 bits or fewer. */
export const small = (where?: string): readonly Change[] => [
  at(21, takes([...FLOAT8, ...INT4], where)),
  ...smallest(where),
];

/** The same changes for operators that accepted 8-bit types in version 19. */
export const smallSince19 = (where?: string): readonly Change[] => [
  at(19, takes(FLOAT8, where)),
  at(21, takes(INT4, where)),
  ...smallest(where),
];

export const bfloat16 = (since: number, where?: string): Change =>
  at(since, takes(BFLOAT16, where));

/** An obsolete attribute with which an output could reuse an input's memory. */
export const consumed = useless("consumed_inputs");
