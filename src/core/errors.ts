/**
 * The package's only error class, with its codes and fields. The package deliberately throws nothing else.
 *
 * An error message is one sentence that tells a first-time user what to do; the error's fields hold the same facts for
 * programs.
 */

import type {
  ErrorArguments,
  ErrorCode,
  ErrorContext,
  ErrorFields,
  Fact,
  FieldsOf,
} from "./error-fields.ts";
export type { ErrorCode, ErrorContext, ErrorFields, Fact, FieldsOf } from "./error-fields.ts";

/**
 * All error codes, with their meanings.
 *
 * @example
 * ```ts
 * ERROR_CODES["index-out-of-range"]; // "an index is out of range"
 * ```
 */
export const ERROR_CODES = /* @__PURE__ */ Object.freeze({
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
  "unsupported-file": "a valid file is not supported here",
  "unsupported-codec": "a codec, a filter or its setting in a valid file is not supported",
  "unsupported-dtype": "a data type in a valid file is not supported",
  "malformed-file": "a file is missing or violates its format",
  "too-large": "more than 2^32 - 1 elements, or not enough memory",
  engine: "an engine failed",
  runtime: "the user's runtime failed",
} as const satisfies Readonly<Record<ErrorCode, string>>);

/**
 * Class of every error that this package throws; `code` says what is wrong, and `ErrorFields` say where.
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
export class TensorError<C extends ErrorCode = ErrorCode> extends Error implements ErrorFields {
  override readonly name = "TensorError";
  readonly code: C;
  declare readonly op?: string;
  declare readonly opset?: number;
  declare readonly input?: string;
  declare readonly key?: string;
  declare readonly at?: readonly number[];
  declare readonly axis?: number;
  declare readonly got?: Fact;
  declare readonly expected?: Fact;
  declare readonly size?: number;
  declare readonly allowed?: readonly (string | number | boolean)[];
  declare readonly nearest?: string;
  declare readonly earlier?: readonly number[];
  declare readonly target?: readonly number[];
  declare readonly other?: string;
  declare readonly limit?: number;
  declare readonly file?: string;
  declare readonly byte?: number;
  declare readonly node?: string;

  /**
   * Creates an error. `sentence` must not contain the operator name, because the message begins with `fields.op` and
   * `fields.opset`.
   */
  constructor(code: C, sentence: string, ...[fields = {}, options]: ErrorArguments<C>) {
    super(prefixOf(fields) + sentence, options);
    this.code = code;
    for (const [field, value] of Object.entries(fields)) {
      // The fields of a new error may be another error, whose name and code are not fields.
      if (value === undefined || field in this) continue;
      // Lists are copied, so that changes to an error do not affect the package's own lists.
      const own: unknown = Array.isArray(value) ? [...value] : value;
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

/**
 * Returns true for an error of any realm; with `name`, only for an error of this name. The class is not compared,
 * because Jest, for example, runs code in a realm of its own, where errors of Node's modules are not instances of
 * `Error`.
 */
export function isError(value: unknown, name?: string): value is Error {
  try {
    if (typeof value !== "object" || value === null) return false;
    const { name: own, message } = value as Partial<Record<"name" | "message", unknown>>;
    return (
      typeof message === "string" && (name === undefined ? typeof own === "string" : own === name)
    );
  } catch {
    // Reading the value threw, so the value has a Proxy or a getter, which errors do not have.
    return false;
  }
}

/** Returns the text of a thrown value: the message of an error, or any other value converted to a string. */
export const messageOf = (thrown: unknown): string =>
  isError(thrown) ? thrown.message : String(thrown);

/** Creates the error that all formats throw for a file that breaks the format's rules. */
export const malformed = (
  sentence: string,
  fields?: FieldsOf<"malformed-file">,
  options?: { cause?: unknown },
): TensorError => new TensorError("malformed-file", sentence, fields, options);

/**
 * Creates the error for a file that is valid but cannot be read here: of another format, or with a feature or a size
 * that this package does not support.
 */
export const unsupported = (
  sentence: string,
  fields?: FieldsOf<"unsupported-file">,
  options?: { cause?: unknown },
): TensorError => new TensorError("unsupported-file", sentence, fields, options);

/** An error with the code `C`, and with the fields that such an error always has. */
export type ErrorOf<C extends ErrorCode> = C extends ErrorCode
  ? TensorError<C> & FieldsOf<C>
  : never;

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
export function isTensorError(error: unknown): error is TensorError;
export function isTensorError<C extends ErrorCode>(
  error: unknown,
  ...codes: readonly C[]
): error is ErrorOf<C>;
export function isTensorError(error: unknown, ...codes: readonly ErrorCode[]): boolean {
  return hasCode(error, ...codes) && Object.hasOwn(ERROR_CODES, error.code);
}

/** Returns true like `isTensorError`, but for any code, so that bundles do not need the meanings of all codes. */
export function hasCode(error: unknown, ...codes: readonly ErrorCode[]): error is TensorError {
  try {
    if (!isError(error, "TensorError")) return false;
    const code: unknown = "code" in error ? error.code : undefined;
    return typeof code === "string" && (codes.length === 0 || codes.includes(code as ErrorCode));
  } catch {
    // Reading the value threw, so the value has a Proxy or a getter, which errors of this package never have.
    return false;
  }
}

/** Runs an action. If it throws an error of this package, the result is that of `recover`. */
export function recovering<T, U>(action: () => T, recover: (error: TensorError) => U): T | U {
  try {
    return action();
  } catch (error) {
    if (isTensorError(error)) return recover(error);
    throw error;
  }
}

/** Returns fields that name what is wrong: the input, or the argument `key` if the value belongs to no input. */
export const named = (
  fields: ErrorContext = {},
  key: string,
): ErrorContext & ({ readonly input: string } | { readonly key: string }) => {
  const { input } = fields;
  return input === undefined ? { ...fields, key: fields.key ?? key } : { ...fields, input };
};

/** Joins the accepted words or numbers for a message; `one of` stands before several. */
export const oneOf = (allowed: readonly unknown[]): string =>
  allowed.length === 1 ? String(allowed[0]) : `one of ${allowed.join(", ")}`;
