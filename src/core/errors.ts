/**
 * The one error class of the package, its codes and its fields. The package throws nothing else on purpose.
 *
 * A message is one sentence that a stranger can act on; the fields carry the same facts for programs.
 */

/**
 * Every error code, with its meaning. The union `ErrorCode` is derived from this table.
 *
 * @example
 * ```ts
 * ERROR_CODES["index-out-of-range"]; // "an index lies outside its axis"
 * ```
 */
export const ERROR_CODES = Object.freeze({
  "shape-mismatch": "a shape, a count of values or a nesting does not fit",
  rank: "a rank, or the length of an index tuple, does not fit",
  axis: "an axis lies outside the rank",
  "index-out-of-range": "an index lies outside its axis",
  "duplicate-index": "two updates have one target where that was forbidden",
  dtype: "a data type, or a value for it, is not taken",
  attribute: "an attribute or option is unknown, or has a wrong type or value",
  reduction: "a reduction is unknown, newer than the version or undefined for the data type",
  overlap: "`out` shares memory with an input",
  disposed: "a tensor's memory is gone (disposed of or transferred)",
  "unknown-operator": "no such operator, domain or version",
  "unsupported-model":
    "a model holds what this package does not run, or a conversion's target cannot say",
  "malformed-file": "a file is not what its format says",
  "too-large": "more than 2^32 - 1 elements, or more than memory holds",
  engine: "an engine failed",
} as const);

/** The kind of an error: a key of {@link ERROR_CODES}. */
export type ErrorCode = keyof typeof ERROR_CODES;

/** The facts of an error. A field that does not apply is absent. */
export interface ErrorFields {
  /** The operator's name, such as `ScatterND`. */
  readonly op?: string | undefined;
  /** The version to which the opset resolved; absent in errors of the plain functions. */
  readonly opset?: number | undefined;
  /** The name of the wrong input, or `out`. */
  readonly input?: string | undefined;
  /** Coordinates in that input, such as `[2, 0]` in `indices`. */
  readonly at?: readonly number[] | undefined;
  /** An axis of `data`, counted from 0. */
  readonly axis?: number | undefined;
  /** The value that was found; a bigint if it is not a safe integer. */
  readonly got?: number | bigint | undefined;
  /** `[low, high]` for an index, the shape for a shape. */
  readonly expected?: readonly number[] | undefined;
}

const FIELD_NAMES = ["op", "opset", "input", "at", "axis", "got", "expected"] as const;

/**
 * The class of every error of this package; `code` gives the kind, {@link ErrorFields} the location.
 *
 * @example
 * ```ts
 * try {
 *   gather(tensor("int32", [2], [1, 2]), [0, 5]);
 * } catch (error) {
 *   if (error instanceof TensorError) console.log(error.code, error.at); // index-out-of-range [1]
 * }
 * ```
 */
export class TensorError extends Error implements ErrorFields {
  override readonly name = "TensorError";
  readonly code: ErrorCode;
  declare readonly op?: string;
  declare readonly opset?: number;
  declare readonly input?: string;
  declare readonly at?: readonly number[];
  declare readonly axis?: number;
  declare readonly got?: number | bigint;
  declare readonly expected?: readonly number[];

  /** `sentence` leaves the operator's name out: `fields.op` and `fields.opset` put that in front. */
  constructor(
    code: ErrorCode,
    sentence: string,
    fields: ErrorFields = {},
    options?: { cause?: unknown },
  ) {
    super(prefixOf(fields) + sentence, options);
    this.code = code;
    for (const field of FIELD_NAMES) {
      const value = fields[field];
      if (value === undefined) continue;
      // Copied, so that changes to the error do not change a list of the package.
      const own = isArray(value) ? [...value] : value;
      Object.defineProperty(this, field, { value: own, enumerable: true });
    }
  }
}

/** `ScatterND-18: `, which stands before the sentence of an error that knows its operator. */
const prefixOf = ({ op, opset }: ErrorFields): string =>
  op === undefined ? "" : opset === undefined ? `${op}: ` : `${op}-${opset}: `;

/** The sentence of an error without the operator's name in front, for those that name the operator themselves. */
export function sentenceOf(error: TensorError): string {
  const { message } = error;
  const prefix = prefixOf(error);
  return message.startsWith(prefix) ? message.slice(prefix.length) : message;
}

/** The text of a thrown value: the message of an error, any other value converted to a string. */
export const messageOf = (thrown: unknown): string =>
  thrown instanceof Error ? thrown.message : String(thrown);

/** The error of every format for a file that breaks the format's rules. */
export const malformed = (
  sentence: string,
  fields?: ErrorFields,
  options?: { cause?: unknown },
): TensorError => new TensorError("malformed-file", sentence, fields, options);

/**
 * True if `error` is an error of this package, with one of `codes` if any are given. The test compares the name, not
 * the class, so errors of another copy of the package pass too.
 *
 * @param error any value, such as one that was caught
 * @param codes the codes to test for; all codes by default
 *
 * @example
 * ```ts
 * try {
 *   gather(tensor("int32", [2], [1, 2]), [5]);
 * } catch (error) {
 *   if (isTensorError(error, "index-out-of-range")) console.log(error.got); // 5
 * }
 * ```
 */
export function isTensorError<C extends ErrorCode = ErrorCode>(
  error: unknown,
  ...codes: C[]
): error is TensorError & { readonly code: C } {
  try {
    if (!(error instanceof Error) || error.name !== "TensorError") return false;
    const code: unknown = "code" in error ? error.code : undefined;
    if (typeof code !== "string") return false;
    return codes.length === 0 ? Object.hasOwn(ERROR_CODES, code) : codes.includes(code as C);
  } catch {
    // A Proxy or a getter threw, and no error of this package has either.
    return false;
  }
}

/**
 * Reads a value that may run its owner's code: a getter, a Proxy, a method. An exception from that code becomes the
 * cause of a TensorError, so callers of this package need to expect one class only.
 *
 * Each kind of value is read in one place: shapes by `shapeOf`, bytes by `plainBytes`, options in `tensor/options.ts`,
 * rows in `operators/rows.ts`, nodes and inputs in `call/call.ts` and `call/inputs.ts`, models in
 * `model/foreign-model.ts`, constants by `readConstant`. `test/hostile-values.test.ts` and
 * `test/foreign-models.test.ts` try odd values everywhere.
 */
export function readForeign<T>(
  read: () => T,
  code: ErrorCode,
  sentence: string,
  fields?: ErrorFields,
): T {
  try {
    return read();
  } catch (cause) {
    if (isTensorError(cause)) throw cause;
    throw new TensorError(code, sentence, fields, { cause });
  }
}

/** Longer text is cut: a message quotes it so that a reader recognizes it, and a string has an end (2^29 in V8). */
const LONGEST_QUOTE = 200;

/** Prints any value for use in a sentence. */
export function printValue(value: unknown): string {
  switch (typeof value) {
    case "string":
      return value.length <= LONGEST_QUOTE
        ? JSON.stringify(value)
        : `${JSON.stringify(value.slice(0, LONGEST_QUOTE))}...`;
    case "object":
      return value === null ? "null" : isListLike(value) ? "a list" : "an object";
    case "function":
    case "symbol":
      return `a ${typeof value}`;
    default:
      return String(value);
  }
}

/** A DataView is a view too, but has no elements. */
const isListLike = (value: object): boolean =>
  isArray(value) || (ArrayBuffer.isView(value) && "length" in value);

/**
 * True if `value` is an array or a Proxy of an array. `Array.isArray` throws for a revoked Proxy, which counts as
 * false.
 */
export function isArray(value: unknown): value is readonly unknown[] {
  try {
    return Array.isArray(value);
  } catch {
    return false;
  }
}
