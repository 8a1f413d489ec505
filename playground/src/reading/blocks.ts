/** Evaluates literals as arrays: nested lists, and calls that wrap lists, such as `np.array([1, 2], dtype=int32)`. */

import { DTYPES, isDType, type DType } from "ndscatter";
import { printShape } from "ndscatter/operators";
import { wordOf, type Argument, type Call, type Value, type Word, type Wrong } from "./literals.ts";
import { parseScalar } from "../values/scalar-text.ts";
import { checkShape } from "../values/limits.ts";
import { sizeOf } from "../values/shape.ts";

/** An array's elements in row-major order, and the data type that the text names. */
export interface Block {
  readonly shape: readonly number[];
  readonly words: readonly Word[];
  readonly dtype?: DType | undefined;
}

/** Converts a value to a block. Throws if lists at the same level have different shapes. */
export function blockOf(value: Value, wrong: Wrong): Block {
  if (value.kind === "word") return { shape: [], words: [value] };
  if (value.kind === "call") return made(value, wrong);
  if (value.kind === "index") throw wrong("an index is not supported here", value.start);
  const { items } = value;
  const blocks = items.map((item) => blockOf(item, wrong));
  const first = blocks[0]?.shape ?? [];
  const other = blocks.findIndex(({ shape }) => String(shape) !== String(first));
  if (other === -1) {
    const words = blocks.flatMap((block) => block.words);
    return { shape: [items.length, ...first], words, dtype: blocks.at(-1)?.dtype };
  }
  const [got, wanted] = [blocks[other].shape, first].map((shape) =>
    shape.length === 0 ? "an element" : `a list of shape ${printShape(shape)}`,
  );
  throw wrong(`expected ${wanted}, like the first element, got ${got}`, items[other].start);
}

/** Returns an element's text without language-specific syntax. */
export function bareText({ text, isQuoted }: Word, dtype: DType): string {
  if (dtype === "string" || isQuoted) return text;
  return (
    text
      // Prefixed names are accepted, such as np.nan, np.True_ and -math.inf.
      .replace(/^([+-]?)[a-z]\w*\.(?=[a-z])/i, "$1")
      .replace(/^(true|false)_$/i, "$1")
      // A JavaScript bigint ends with n.
      .replace(/^([+-]?\d+)n$/, "$1")
  );
}

/** Returns an element's text; throws if the data type cannot represent the value. */
export function elementText(word: Word, dtype: DType, wrong: Wrong): string {
  if (word.text === "..." && !word.isQuoted) {
    throw wrong("the array is abbreviated with ...: print the whole array", word.start);
  }
  const bare = bareText(word, dtype);
  if (dtype === "string" || word.isQuoted) return bare;
  if (typeof parseScalar(dtype, bare) !== "string") return bare;
  throw wrong(`${JSON.stringify(bare.slice(0, 40))} is not a value of ${dtype}`, word.start);
}

/**
 * Returns the data type that a text names in any supported language, such as `np.float32`, `torch.long` or `<class
 * 'numpy.int8'>`.
 */
export function dtypeNamed(text: string): DType | null {
  const name = /(\w+)\W*$/.exec(text.slice(-LONGEST_NAME))?.[1].replace(/_$/, "") ?? "";
  // This type has 64 bits in NumPy and Python, but 32 bits in torch.
  const isLong = name === "float" && !text.includes("torch");
  if (/^U\d+$/.test(name)) return "string";
  const known = isLong ? "float64" : (OTHER_NAMES[name] ?? name);
  return isDType(known) ? known : null;
}

const LONGEST_NAME = 40;

/** Data type names that differ from ndscatter's names. */
const OTHER_NAMES: Readonly<Record<string, DType | undefined>> = Object.assign(
  Object.create(null),
  {
    bool8: "bool",
    str: "string",
    object: "string",
    half: "float16",
    float: "float32",
    double: "float64",
    short: "int16",
    long: "int64",
    int: "int64",
    complex: "complex128",
    cfloat: "complex64",
    // These names are from ml_dtypes and JAX.
    float8_e4m3fn: "float8e4m3fn",
    float8_e4m3fnuz: "float8e4m3fnuz",
    float8_e5m2: "float8e5m2",
    float8_e5m2fnuz: "float8e5m2fnuz",
    float8_e8m0fnu: "float8e8m0",
    float4_e2m1fn: "float4e2m1",
    float6_e2m3fn: "float6e2m3",
    float6_e3m2fn: "float6e3m2",
  },
);

/** Returns a value as a number, or null. */
export function numberIn(value: Value): number | null {
  if (value.kind !== "word" || value.isQuoted) return null;
  const number = parseScalar("float64", bareText(value, "float64"));
  return typeof number === "number" ? number : null;
}

/** Arguments without effect on values. */
const IDLE =
  /^(?:device|requires_grad|grad_fn|name|copy|subok|layout|pin_memory|weak_type|sharding)$/;

const WRAPS =
  /(?:^|\.)(?:array|asarray|tensor|as_tensor|Tensor|Parameter|Variable|constant|convert_to_tensor|Array|DeviceArray|list|tuple|tensor[1-4]d)$/;
/** Calls that fill an array with a number, such as `torch.zeros(3, 2)`, and calls that count. */
const FILLS = /(?:^|\.)(zeros|ones)$/;
const COUNTS = /^(?:np|numpy|cp|jnp|jax\.numpy|torch)\.arange$|^tf\.range$/;
const RESHAPES = /^(?:reshape|view)$/;
const TYPED_ARRAY = /^(?:Big)?((?:Int|Uint|Float)\d+)(?:Clamped)?Array$/;

/**
 * Checks whether a call wraps a list as an array, fills, counts or reshapes an array, or wraps a number as a value of a
 * data type.
 */
export const isArrayCall = ({ name, self }: Call): boolean =>
  self === null
    ? [WRAPS, FILLS, COUNTS, /^complex$/].some((one) => one.test(name)) || typeOfCall(name) !== null
    : RESHAPES.test(name) && self.kind === "call" && isArrayCall(self);

/** Returns the data type of a name such as `np.float32`, `torch.LongTensor` or `Float32Array`. */
function typeOfCall(name: string): DType | null {
  const typed = TYPED_ARRAY.exec(name)?.[1].toLowerCase();
  const torch = name.replace(/[A-Z]\w*(?=Tensor$)/, (type) => type.toLowerCase());
  return dtypeNamed(typed ?? (torch === name ? name : `torch.${torch.replace(/Tensor$/, "")}`));
}

function made(call: Call, wrong: Wrong): Block {
  const { name, start } = call;
  if (!isArrayCall(call)) {
    const title = call.self !== null ? `.${name}`.slice(0, 40) : name.slice(0, 40) || "an object";
    throw wrong(
      `${title} is not supported here: print the array, and paste what is printed`,
      start,
    );
  }
  if (call.self !== null) return reshaped(blockOf(call.self, wrong), call, wrong);
  if (name === "complex") return complexOf(call, wrong);
  if (COUNTS.test(name)) return countedOf(call, wrong);
  const filled = FILLS.exec(name)?.[1];
  if (filled !== undefined) return filledOf(call, filled === "zeros" ? "0." : "1.", wrong);
  const given = argumentsOf(call, wrong);
  const [first, second, third] = given.values;
  if (third !== undefined) throw wrong("the call has too many arguments", third.start);
  if (first === undefined) throw wrong("expected a value", start);
  const own = WRAPS.test(name) ? undefined : typeOfCall(name);
  const block = blockOf(first, wrong);
  const dtype =
    given.dtype ?? (own === undefined || block.shape.length === 0 ? undefined : own) ?? block.dtype;
  const said = given.shape ?? second;
  if (said === undefined) return { ...block, dtype };
  const shape = sizesIn(said, wrong);
  const whole = withPairs(block, shape, dtype ?? undefined);
  const count = whole.words.length;
  if (sizeOf(shape) === count) return { ...whole, shape, dtype };
  throw wrong(`the text says shape=${printShape(shape)}, but has ${count} elements`, start);
}

interface Given {
  /** The positional arguments that are not data types; the list comes first. */
  readonly values: readonly Value[];
  readonly dtype: DType | undefined;
  readonly shape: Value | undefined;
}

function argumentsOf({ arguments: all, start }: Call, wrong: Wrong): Given {
  const found: { dtype?: DType; shape?: Value } = {};
  const values: Value[] = [];
  const isType = ({ value }: Argument): boolean =>
    all.length > 1 && value.kind === "word" && dtypeNamed(value.text) !== null;
  for (const one of all) {
    const { name, value } = one;
    if (name === "dtype" || (name === null && isType(one))) {
      const dtype = value.kind === "word" ? dtypeNamed(value.text) : null;
      if (dtype === null) throw wrong("expected a data type", value.start);
      found.dtype = dtype;
    } else if (name === "shape" || name === "size" || name === "newshape") found.shape = value;
    else if (name === null) values.push(value);
    else if (!IDLE.test(name)) {
      throw wrong(`the argument ${name.slice(0, 40)} is not supported here`, start);
    }
  }
  // In tensor("int32", [2], [1, 2]), the shape comes before the list.
  const isShapeFirst = values.length === 2 && isType(all[0]);
  return {
    values: isShapeFirst ? values.toReversed() : values,
    dtype: found.dtype,
    shape: found.shape,
  };
}

/** Evaluates `zeros` and `ones`. The shape is a list or, in PyTorch, a number for each axis. */
function filledOf(call: Call, text: string, wrong: Wrong): Block {
  const { values, dtype } = typedValues(call, wrong);
  const shape = values.flatMap((value) => sizesIn(value, wrong));
  checkShape(shape, "the array");
  const words = Array.from({ length: sizeOf(shape) }, () => wordOf(text, call.start));
  return { shape, words, dtype };
}

/** Evaluates `arange(stop)` and `arange(start, stop, step)` of whole numbers, which all libraries count alike. */
function countedOf(call: Call, wrong: Wrong): Block {
  const { values, dtype } = typedValues(call, wrong);
  const words = values.map((value) => (value.kind === "word" ? value.text : ""));
  const numbers = values.map(numberIn);
  const [first, last, step = 1] = numbers;
  const [begin, end] = last === undefined ? [0, first] : [first, last];
  const areWhole = numbers.every((one) => one !== null && Number.isSafeInteger(one));
  if (!areWhole || begin == null || end == null || step === null || step === 0 || words.length > 3)
    throw wrong(`${call.name} is read with whole numbers only`, call.start);
  const count = Math.max(0, Math.ceil((end - begin) / step));
  checkShape([count], "the array");
  const isFloat = words.some((word) => /[.e]/i.test(word));
  const textOf = (at: number): string => `${begin + at * step}${isFloat ? "." : ""}`;
  return {
    shape: [count],
    words: Array.from({ length: count }, (_, at) => wordOf(textOf(at), call.start)),
    dtype,
  };
}

/** Evaluates `.reshape(2, -1)`, in which one size may be left open. */
function reshaped(block: Block, call: Call, wrong: Wrong): Block {
  const { values } = typedValues(call, wrong);
  const sizes = values.flatMap((value) => blockOf(value, wrong).words.map(numberIn));
  const count = block.words.length;
  const known = sizes.reduce<number>((all, one) => (one === -1 ? all : all * (one ?? NaN)), 1);
  const shape = sizes.map((one) => (one === -1 ? count / known : (one ?? NaN)));
  const isFit = shape.every((one) => Number.isInteger(one) && one >= 0) && sizeOf(shape) === count;
  if (isFit && sizes.filter((one) => one === -1).length < 2) return { ...block, shape };
  throw wrong(`${count} elements do not have the shape that ${call.name} gives`, call.start);
}

/** Returns a call's values, of which a shape with a name comes first, and the data type that it names. */
function typedValues(call: Call, wrong: Wrong): Pick<Given, "values" | "dtype"> {
  const { values, dtype, shape } = argumentsOf(call, wrong);
  return { values: shape === undefined ? values : [shape, ...values], dtype };
}

/** Returns the sizes in a list such as `(4, 3)`. */
function sizesIn(value: Value, wrong: Wrong): number[] {
  const { shape, words } = blockOf(value, wrong);
  if (shape.length > 1) throw wrong("expected a list of sizes", value.start);
  return words.map((word) => {
    const size = numberIn(word);
    if (size === null || !Number.isInteger(size) || size < 0)
      throw wrong("expected a size", word.start);
    return size;
  });
}

/** Joins pairs of numbers into complex numbers, which ndscatter prints as pairs. */
function withPairs(block: Block, shape: readonly number[], dtype: DType | undefined): Block {
  const isPairs = dtype !== undefined && DTYPES[dtype].family === "complex";
  if (!isPairs || block.words.length !== 2 * sizeOf(shape)) return block;
  const words = Array.from({ length: sizeOf(shape) }, (_, position) => {
    const [re, im] = block.words.slice(2 * position, 2 * position + 2);
    return { ...re, text: sumOf(re.text, im.text) };
  });
  return { ...block, words };
}

const sumOf = (re: string, im: string): string => `${re}${/^[-+]/.test(im) ? "" : "+"}${im}j`;

/** Evaluates Python's `complex(1, -0.0)`. */
function complexOf(call: Call, wrong: Wrong): Block {
  const parts = call.arguments.map(({ value }) =>
    value.kind === "word" ? bareText(value, "float64") : "",
  );
  const [re, im = "0"] = parts;
  if (parts.length > 2 || re === undefined) throw wrong("expected two numbers", call.start);
  return { shape: [], words: [wordOf(sumOf(re, im), call.start)] };
}
