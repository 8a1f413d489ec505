/**
 * The fields of errors: their types, and the fields of each error code. Only types of this file are imported by the
 * package, so the table takes no space in bundles; the reference page and the tests read it.
 */

/** A plain value: found, or expected. Lists are shapes, coordinates or ranges. */
export type Fact =
  | number
  | bigint
  | string
  | boolean
  | null
  | readonly (number | string | boolean | null)[];

/** Facts about an error. A field that does not apply is absent. */
export interface ErrorFields {
  /** Name of the operator, such as `ScatterND`. */
  readonly op?: string | undefined;
  /** Operator version that the opset resolved to; absent in errors of the plain functions. */
  readonly opset?: number | undefined;
  /** Name of the input that is wrong, or `out`. */
  readonly input?: string | undefined;
  /** Name of the argument, option, attribute, header key or metadata field that is wrong. */
  readonly key?: string | undefined;
  /** Coordinates of the wrong element in its input, such as `[2, 0]` in `indices`. */
  readonly at?: readonly number[] | undefined;
  /** Number of an axis, counted from 0 if it exists. */
  readonly axis?: number | undefined;
  /** Value, shape, data type or count that was found; a description, such as `a list`, if it is not plain data. */
  readonly got?: Fact | undefined;
  /** Allowed range `[low, high]`; or the shape, value or count that was expected. */
  readonly expected?: Fact | undefined;
  /** Size of the axis that an index exceeds. */
  readonly size?: number | undefined;
  /** Accepted words or numbers, all of them. */
  readonly allowed?: readonly (string | number | boolean)[] | undefined;
  /** Accepted name that is most similar to the name that was found. */
  readonly nearest?: string | undefined;
  /** Coordinates of the earlier element with the same target. */
  readonly earlier?: readonly number[] | undefined;
  /** Coordinates of the target in data. */
  readonly target?: readonly number[] | undefined;
  /** Name of the other tensor or input that the wrong one is compared with. */
  readonly other?: string | undefined;
  /** Largest number that is allowed, in the unit of the message: bytes, elements, updates, levels. */
  readonly limit?: number | undefined;
  /** Path or URL of a file, folder or server, without secrets. */
  readonly file?: string | undefined;
  /** Position in a file, in bytes. */
  readonly byte?: number | undefined;
  /** Title of a node of a model: its name or its first output, with its operator. */
  readonly node?: string | undefined;
}

/** Fields that a function passes on to the checks that it calls. */
export type ErrorContext = Pick<
  ErrorFields,
  "op" | "opset" | "input" | "key" | "other" | "file" | "node"
>;

/** Fields of one code. */
export interface CodeFields {
  /** Fields that every error of the code has. */
  readonly always: readonly (keyof ErrorFields)[];
  /** Fields of which every error of the code has at least one. */
  readonly either?: readonly (keyof ErrorFields)[];
  /** Fields that some errors of the code have. Every code has `op`, `opset`, `node` and `file` where they are known. */
  readonly sometimes: readonly (keyof ErrorFields)[];
}

/** Fields that any error may have, because they say where the error happened. */
export const COMMON_FIELDS = ["op", "opset", "node", "file"] as const;

/** The error codes, with the fields of each. `ERROR_CODES` in `errors.ts` has their meanings. */
export const FIELDS_OF_CODES = {
  "shape-mismatch": {
    always: [],
    either: ["input", "key"],
    sometimes: ["at", "axis", "got", "expected", "size", "allowed", "nearest", "other", "limit"],
  },
  rank: { always: ["got"], either: ["input", "key"], sometimes: ["expected", "other", "limit"] },
  axis: { always: ["got"], sometimes: ["input", "axis", "expected", "allowed"] },
  "index-out-of-range": {
    always: ["axis", "got", "size", "expected"],
    either: ["input", "key"],
    sometimes: ["at"],
  },
  "duplicate-index": { always: ["input", "at", "earlier", "target"], sometimes: [] },
  dtype: {
    always: [],
    either: ["input", "key"],
    sometimes: ["at", "got", "expected", "allowed", "nearest", "other"],
  },
  attribute: {
    always: ["key"],
    sometimes: ["input", "at", "axis", "got", "expected", "allowed", "nearest", "limit", "other"],
  },
  reduction: { always: ["got", "allowed"], sometimes: ["nearest"] },
  overlap: { always: ["input", "other"], sometimes: [] },
  disposed: { always: [], either: ["input", "key"], sometimes: [] },
  "unknown-operator": { always: ["key"], sometimes: ["got", "expected", "allowed", "nearest"] },
  "unsupported-model": {
    always: [],
    sometimes: ["input", "key", "got", "expected", "allowed", "nearest"],
  },
  "unsupported-file": {
    always: [],
    sometimes: ["input", "key", "at", "got", "expected", "allowed", "limit", "byte"],
  },
  "unsupported-codec": { always: ["key"], sometimes: ["got", "expected", "allowed", "limit"] },
  "unsupported-dtype": { always: ["key"], sometimes: ["got"] },
  "malformed-file": {
    always: [],
    sometimes: ["input", "key", "at", "got", "expected", "allowed", "limit", "byte"],
  },
  "too-large": { always: [], sometimes: ["input", "key", "got", "limit"] },
  engine: { always: [], sometimes: ["input", "key", "got", "expected"] },
  runtime: { always: ["got"], sometimes: ["input"] },
} as const satisfies Readonly<Record<string, CodeFields>>;

/** Code of an error. */
export type ErrorCode = Extract<keyof typeof FIELDS_OF_CODES, string>;

/** Types of fields that are narrower in errors of one code than in `ErrorFields`. */
interface NarrowFields {
  readonly axis: { readonly expected: readonly [number, number] };
  readonly "index-out-of-range": {
    readonly got: number | bigint;
    readonly expected: readonly [number, number];
  };
  readonly reduction: { readonly allowed: readonly string[] };
}

type Table = typeof FIELDS_OF_CODES;

type Narrow<C, K> = C extends keyof NarrowFields
  ? K extends keyof NarrowFields[C]
    ? NarrowFields[C][K]
    : unknown
  : unknown;

/** Fields of an error with the code `C` that are always there. */
type Always<C extends ErrorCode, K extends keyof ErrorFields> = {
  readonly [P in K]: Exclude<ErrorFields[P], undefined> & Narrow<C, P>;
};

/** Fields of an error with the code `C` that may be there. */
type Sometimes<C extends ErrorCode, K extends keyof ErrorFields> = {
  readonly [P in K]?: (Exclude<ErrorFields[P], undefined> & Narrow<C, P>) | undefined;
};

type Alternatives<C extends ErrorCode> = Table[C] extends { readonly either: readonly (infer K)[] }
  ? Extract<K, keyof ErrorFields>
  : never;

/** A union with a member for each field of `K`, of which one must be there; anything if `K` is empty. */
type OneOf<C extends ErrorCode, K extends keyof ErrorFields> = [K] extends [never]
  ? unknown
  : K extends keyof ErrorFields
    ? Always<C, K>
    : never;

/**
 * Fields of an error with the code `C`: those of the code's row in the table.
 *
 * @example
 * ```ts
 * try {
 *   gather(tensor("int32", [2], [1, 2]), [5]);
 * } catch (error) {
 *   if (isTensorError(error, "index-out-of-range")) {
 *     const { axis, got, size } = error;
 *     console.log(axis, got, size); // 0 5 2
 *   }
 * }
 * ```
 */
export type FieldsOf<C extends ErrorCode> = C extends ErrorCode
  ? Always<C, Table[C]["always"][number]> &
      OneOf<C, Alternatives<C>> &
      Sometimes<C, Table[C]["sometimes"][number] | Alternatives<C> | (typeof COMMON_FIELDS)[number]>
  : never;

/** Arguments after an error's sentence. Fields are optional where the code has no required field. */
export type ErrorArguments<C extends ErrorCode> = ErrorCode extends C
  ? [fields?: ErrorFields, options?: { cause?: unknown }]
  : Record<never, never> extends FieldsOf<C>
    ? [fields?: FieldsOf<C>, options?: { cause?: unknown }]
    : [fields: FieldsOf<C>, options?: { cause?: unknown }];
