/**
 * The one error class of the package, its codes and its fields. Nothing else is thrown on purpose.
 *
 * A message is one sentence that a stranger can act on; the fields carry the same facts for programs.
 */

/** Every code there is, with what it means. The union `ErrorCode` is derived from it. */
export const ERROR_CODES = {
  "shape-mismatch": "a shape, a count of values or a nesting does not fit",
  rank: "a rank, or the length of an index tuple, does not fit",
  axis: "an axis lies outside the rank",
  "index-out-of-range": "an index lies outside its axis",
  "duplicate-index": "two updates have one target where that was forbidden",
  dtype: "a data type, or a value for it, is not taken",
  attribute: "an attribute is unknown to the version, or has a wrong type or value",
  reduction: "a reduction is unknown, newer than the version, or undefined for the data type",
  overlap: "`out` shares memory with an input",
  disposed: "a tensor's memory is gone (disposed, transferred or detached)",
  "unknown-operator": "no such operator, domain or version",
  "unsupported-model":
    "a model holds something that this package does not run, or that a conversion's target cannot say",
  "malformed-file": "a file is not what its format says",
  "too-large": "more than 2^32 - 1 elements, or more than memory holds",
  engine: "an engine failed",
} as const;

export type ErrorCode = keyof typeof ERROR_CODES;

/** The facts of an error, as far as they apply. */
export interface ErrorFields {
  /** The operator's name, such as `ScatterND`. */
  readonly op?: string | undefined;
  /** The version that was resolved; absent in plain functions. */
  readonly opset?: number | undefined;
  /** The name of the input (or of `out`) that is wrong. */
  readonly input?: string | undefined;
  /** Coordinates in that input, such as `[2, 0]` in `indices`. */
  readonly at?: readonly number[] | undefined;
  /** The axis of `data` that is meant, counted from 0. */
  readonly axis?: number | undefined;
  /** The value that was found; a bigint when it is no safe integer. */
  readonly got?: number | bigint | undefined;
  /** `[low, high]` for an index, the shape for a shape. */
  readonly expected?: readonly number[] | undefined;
}

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

  /** `sentence` goes without the operator's name: `fields.op` and `fields.opset` put it in front. */
  constructor(
    code: ErrorCode,
    sentence: string,
    fields: ErrorFields = {},
    options?: { cause?: unknown },
  ) {
    super(prefixOf(fields) + sentence, options);
    this.code = code;
    for (const [field, value] of Object.entries(fields)) {
      if (value !== undefined) Object.defineProperty(this, field, { value, enumerable: true });
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

/** What every format says of a file that is not what it says. */
export const malformed = (sentence: string): TensorError =>
  new TensorError("malformed-file", sentence);

/**
 * Whether `error` is this package's error, and one of `codes` when any are given. Tells by name, not by class, so
 * that it also holds across two copies of the package.
 */
export function isTensorError<C extends ErrorCode = ErrorCode>(
  error: unknown,
  ...codes: C[]
): error is TensorError & { readonly code: C } {
  if (!(error instanceof Error) || error.name !== "TensorError" || !("code" in error)) return false;
  const { code } = error;
  return codes.length === 0
    ? Object.hasOwn(ERROR_CODES, String(code))
    : codes.some((one) => one === code);
}

/** How a value of any kind reads in a sentence. */
export function printValue(value: unknown): string {
  switch (typeof value) {
    case "string":
      return JSON.stringify(value);
    case "object":
      return value === null
        ? "null"
        : Array.isArray(value) || ArrayBuffer.isView(value)
          ? "a list"
          : "an object";
    case "function":
    case "symbol":
      return `a ${typeof value}`;
    default:
      return String(value);
  }
}
