/**
 * The package's only error class, with its codes and fields. The package deliberately throws nothing else.
 *
 * An error message is one sentence that tells a first-time user what to do; the error's fields hold the same facts for
 * programs.
 */

/**
 * All error codes, with their meanings. The union type `ErrorCode` is derived from this table.
 *
 * @example
 * ```ts
 * ERROR_CODES["index-out-of-range"]; // "an index is out of range"
 * ```
 */
export const ERROR_CODES = Object.freeze({
  "shape-mismatch": "a shape, count or nesting does not fit",
  rank: "a rank or index tuple length does not fit",
  axis: "an axis is out of range",
  "index-out-of-range": "an index is out of range",
  "duplicate-index": "two updates share a target",
  dtype: "a data type or value is not supported",
  attribute: "an attribute or option is unknown or wrong",
  reduction: "a reduction is unknown or not supported",
  overlap: "`out` shares memory with an input",
  disposed: "memory was disposed of or transferred",
  "unknown-operator": "an operator, domain or version is unknown",
  "unsupported-model": "a model is not supported here",
  "malformed-file": "a file violates its format",
  "too-large": "more than 2^32 - 1 elements, or not enough memory",
  engine: "an engine failed",
} as const);

/** Code of an error: a key of {@link ERROR_CODES}. */
export type ErrorCode = keyof typeof ERROR_CODES;

/** Facts about an error. A field that does not apply is absent. */
export interface ErrorFields {
  /** Name of the operator, such as `ScatterND`. */
  readonly op?: string | undefined;
  /** Operator version that the opset resolved to; absent in errors of the plain functions. */
  readonly opset?: number | undefined;
  /** Name of the input that is wrong, or `out`. */
  readonly input?: string | undefined;
  /** Coordinates of the wrong element in its input, such as `[2, 0]` in `indices`. */
  readonly at?: readonly number[] | undefined;
  /** Number of an axis of `data`, counted from 0. */
  readonly axis?: number | undefined;
  /** Value that was found; a bigint if it is not a safe integer. */
  readonly got?: number | bigint | undefined;
  /** Allowed range `[low, high]` if an index is wrong; expected shape if a shape is wrong. */
  readonly expected?: readonly number[] | undefined;
}

const FIELD_NAMES = ["op", "opset", "input", "at", "axis", "got", "expected"] as const;

/**
 * Class of every error that this package throws; `code` says what is wrong, and {@link ErrorFields} say where.
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

  /**
   * Creates an error. `sentence` must not contain the operator name, because the message begins with `fields.op` and
   * `fields.opset`.
   */
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
      // Lists are copied, so that changes to an error do not affect the package's own lists.
      const own = isArray(value) ? [...value] : value;
      Object.defineProperty(this, field, { value: own, enumerable: true });
    }
  }
}

/** Returns the prefix of an error message, such as `ScatterND-18: `; the prefix is empty if the operator is unknown. */
const prefixOf = ({ op, opset }: ErrorFields): string =>
  op === undefined ? "" : opset === undefined ? `${op}: ` : `${op}-${opset}: `;

/** Returns the error message without the operator prefix, for callers that print the operator name themselves. */
export function sentenceOf(error: TensorError): string {
  const { message } = error;
  const prefix = prefixOf(error);
  return message.startsWith(prefix) ? message.slice(prefix.length) : message;
}

/** Returns the text of a thrown value: the message of an error, or any other value converted to a string. */
export const messageOf = (thrown: unknown): string =>
  thrown instanceof Error ? thrown.message : String(thrown);

/** Creates the error that all formats throw for a file that breaks the format's rules. */
export const malformed = (
  sentence: string,
  fields?: ErrorFields,
  options?: { cause?: unknown },
): TensorError => new TensorError("malformed-file", sentence, fields, options);

/**
 * Returns true if `error` is an error of this package and, if `codes` are given, has one of these codes. The function
 * compares the class name, not the class, so it also recognizes errors from another copy of the package.
 *
 * @param error any value, such as a caught error
 * @param codes the error codes to accept; all codes by default
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
    // Reading the value threw, so the value has a Proxy or a getter, which errors of this package never have.
    return false;
  }
}

/**
 * Reads a value that may run user code when it is read, in a getter, a Proxy or a method. An exception from user code
 * becomes the cause of a TensorError, so callers of this package need to handle only one error class.
 *
 * Each kind of value is read in a single place: shapes by `shapeOf`, bytes by `plainBytes`, options in
 * `tensor/options.ts`, rows in `operators/rows.ts`, nodes and inputs in `call/call.ts` and `call/inputs.ts`, models in
 * `model/foreign-model.ts`, constants by `readConstant`. `test/core/hostile-values.test.ts` and
 * `test/models/foreign-models.test.ts` pass hostile values to every function.
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

/**
 * Maximum length of text quoted in a message. A beginning is enough to recognize the text, and the whole text could
 * exceed the maximum string length (2^29 in V8).
 */
const LONGEST_QUOTE = 200;

/** Prints any value for use in an error message. */
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

/** Returns true for arrays and typed arrays, but not for a DataView, which is a view without elements. */
const isListLike = (value: object): boolean =>
  isArray(value) || (ArrayBuffer.isView(value) && "length" in value);

/**
 * Returns true if `value` is an array or a Proxy of an array, and false for a revoked Proxy, for which `Array.isArray`
 * throws.
 */
export function isArray(value: unknown): value is readonly unknown[] {
  try {
    return Array.isArray(value);
  } catch {
    return false;
  }
}
