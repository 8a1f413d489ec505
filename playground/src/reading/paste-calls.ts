/**
 * Evaluates array constructors and methods in pasted text, such as `np.zeros((4, 3))` and `.reshape(2, 6)`. Other calls
 * are refused, because their values are not in the text.
 */

import { DTYPES, type DType } from "ndscatter";
import { printShape } from "ndscatter/operators";
import {
  bareText,
  blockOf,
  closedSizes,
  dtypeNamed,
  elementText,
  numberIn,
  sizesIn,
  tooMany,
  type Block,
  type Value,
  type Word,
  type Wrong,
} from "./paste-value.ts";
import { MOST_ELEMENTS } from "../values/limits.ts";
import { coordinatesOf, positionOf, sizeOf } from "../values/shape.ts";
import { printElement } from "../values/scalar-text.ts";
import { elementsOf, tensorOf } from "../values/tensor-text.ts";

export interface Call {
  /** The name with its modules, such as `np.zeros`. */
  readonly name: string;
  readonly start: number;
  readonly positional: readonly Value[];
  readonly named: ReadonlyMap<string, Value>;
  /** The data type that has been read so far. */
  readonly dtype: DType | undefined;
  /** The data type that `dtype=` names. */
  readonly asked: DType | undefined;
  readonly wrong: Wrong;
}

/** A call's result, and the data type that the call names. */
interface Made {
  readonly value: Value;
  readonly dtype?: DType | undefined;
}

/** Arguments without effect on values, such as `grad_fn=<AddBackward0>`, which the parser skips. */
export const IDLE_ARGUMENTS: ReadonlySet<string> = new Set(
  "device requires_grad grad_fn name copy subok layout pin_memory weak_type sharding memory_format".split(
    " ",
  ),
);

/** Evaluates a call. The array of a method such as `[1, 2].tolist()` is its first argument. */
export function made(call: Call, self: Block | null): Made {
  const name = call.name.slice(call.name.lastIndexOf(".") + 1);
  const isOther = /\b(?:random|ma)\./.test(call.name);
  const make = isOther ? undefined : self === null ? functionOf(name) : METHODS[name];
  if (make === undefined) {
    const title = self === null ? call.name : `.${name}`;
    const sentence = `${title.slice(0, 40)} is not supported here: print the array, and paste what is printed`;
    throw call.wrong(sentence, call.start);
  }
  return make(call, self ?? NOTHING);
}

const NOTHING: Block = { shape: [0], words: [], start: 0 };

type Make = (call: Call, self: Block) => Made;

/** Returns a call's arguments by parameter name. An alias has its parameter's number. */
function bind(call: Call, parameters: readonly string[]): ReadonlyMap<string, Value> {
  const { positional, named, start, wrong } = call;
  const extra = positional[parameters.length];
  if (extra !== undefined) throw wrong("the call has too many arguments", extra.start);
  const bound = new Map(positional.map((value, number) => [parameters[number], value]));
  for (const [name, value] of named) {
    const known = ALIASES[name] ?? name;
    if (!parameters.includes(known) || bound.has(known)) {
      throw wrong(`the argument ${name.slice(0, 40)} is not supported here`, start);
    }
    bound.set(known, value);
  }
  return bound;
}

const ALIASES: Readonly<Record<string, string | undefined>> = Object.assign(Object.create(null), {
  size: "shape",
  dims: "shape",
  end: "stop",
  limit: "stop",
  delta: "step",
  value: "fill_value",
  n: "N",
  m: "M",
});

/** Returns the data type that an argument names; throws if the argument names none. */
function dtypeIn(value: Value | undefined, { wrong }: Call): DType | undefined {
  if (value === undefined) return undefined;
  const dtype = "text" in value ? dtypeNamed(value.text) : null;
  if (dtype === null) throw wrong("expected a data type", value.start);
  return dtype;
}

const wordAt =
  (start: number) =>
  (value: number | string): Word => ({
    text: Object.is(value, -0) ? "-0" : String(value),
    isQuoted: false,
    start,
  });

/** Returns a numeric argument, or `otherwise` if the argument is missing. */
function numberOf(
  bound: ReadonlyMap<string, Value>,
  name: string,
  call: Call,
  otherwise?: number,
): number {
  const value = bound.get(name);
  if (value === undefined && otherwise !== undefined) return otherwise;
  const number = value === undefined ? null : numberIn(value);
  if (number !== null && Number.isFinite(number)) return number;
  throw call.wrong(`expected a number for ${name}`, value?.start ?? call.start);
}

/** Checks whether a call uses NumPy's convention of passing all sizes in one argument. */
const isNumpy = ({ name }: Call): boolean => /^(?:np|numpy|jnp|jax\.numpy|cp|cupy)\./.test(name);

/** Creates an array of equal values, such as `zeros((4, 3))` and `torch.zeros(4, 3)`. */
const filled =
  (text: string): Make =>
  (call) => {
    const { positional, start, wrong } = call;
    const isSpread =
      !isNumpy(call) && positional.length > 1 && positional.every((one) => numberIn(one) !== null);
    const bound = isSpread
      ? bind({ ...call, positional: [] }, ["dtype"])
      : bind(call, ["shape", "dtype"]);
    const given = bound.get("shape");
    if (!isSpread && given === undefined) throw wrong("expected a shape", start);
    const shape = sizesIn(given === undefined ? positional : [given], start, wrong);
    return { value: repeated(text, shape, start), dtype: dtypeIn(bound.get("dtype"), call) };
  };

const repeated = (text: string, shape: readonly number[], start: number): Block => ({
  shape,
  words: Array<Word>(sizeOf(shape)).fill(wordAt(start)(text)),
  start,
});

const full: Make = (call) => {
  const bound = bind(call, ["shape", "fill_value", "dtype"]);
  const [shape, fill] = [bound.get("shape"), bound.get("fill_value")];
  if (shape === undefined || fill === undefined) {
    throw call.wrong("expected a shape and a value", call.start);
  }
  const { words, shape: rank } = blockOf(fill, call.wrong);
  if (rank.length > 0) throw call.wrong("expected a single value", fill.start);
  const sizes = sizesIn([shape], call.start, call.wrong);
  const value: Block = {
    shape: sizes,
    words: Array<Word>(sizeOf(sizes)).fill(words[0]),
    start: call.start,
  };
  return { value, dtype: dtypeIn(bound.get("dtype"), call) };
};

const arange: Make = (call) => {
  const isStop = call.positional.length === 1 && !call.named.has("stop");
  const bound = bind(call, isStop ? ["stop", "dtype"] : ["start", "stop", "step", "dtype"]);
  const named = isStop && call.named.has("step") ? call.named.get("step") : undefined;
  if (named !== undefined) throw call.wrong("expected a start before the step", named.start);
  const start = numberOf(bound, "start", call, 0);
  const stop = numberOf(bound, "stop", call);
  const step = numberOf(bound, "step", call, 1);
  const count = Math.max(0, Math.ceil((stop - start) / step));
  if (step === 0) throw call.wrong("the step is 0", call.start);
  if (count > MOST_ELEMENTS) throw tooMany(`up to ${MOST_ELEMENTS.toLocaleString("en")} elements`);
  // NumPy adds the difference of the first two elements, which may differ slightly from the step.
  const difference = start + step - start;
  const words = Array.from({ length: count }, (_, number) =>
    wordAt(call.start)(start + number * difference),
  );
  const value: Block = { shape: [count], words, start: call.start };
  return { value, dtype: dtypeIn(bound.get("dtype"), call) };
};

const eye: Make = (call) => {
  const bound = bind(call, isNumpy(call) ? ["N", "M", "k", "dtype"] : ["N", "M"]);
  const size = bound.get("N");
  if (size === undefined) throw call.wrong("expected a size", call.start);
  const offset = numberOf(bound, "k", call, 0);
  const shape = sizesIn([size, bound.get("M") ?? size], call.start, call.wrong);
  const words = Array.from({ length: sizeOf(shape) }, (_, position) => {
    const [row, column] = coordinatesOf(position, shape);
    return wordAt(call.start)(column - row === offset ? 1 : 0);
  });
  const value: Block = { shape, words, start: call.start };
  return { value, dtype: dtypeIn(bound.get("dtype"), call) };
};

const isDType = (value: Value): boolean => "text" in value && dtypeNamed(value.text) !== null;

/** Evaluates a call that wraps values, such as `array([1, 2], dtype=int32)` or `tensor2d([1, 2], [1, 2])`. */
const wrapped: Make = (call) => {
  const { positional, wrong, start } = call;
  const lists = positional.length === 1 ? positional : positional.filter((one) => !isDType(one));
  const types = positional.length === 1 ? [] : positional.filter(isDType);
  const isShapeFirst = types[0] === positional[0] && lists.length === 2;
  const [first, second] = isShapeFirst ? lists.toReversed() : lists;
  const bound = bind({ ...call, positional: [] }, ["dtype", "shape"]);
  const extra = lists[2] ?? types[1];
  if (extra !== undefined) throw wrong("the call has too many arguments", extra.start);
  if (first === undefined) throw wrong("expected a value", start);
  const dtype = dtypeIn(types[0] ?? bound.get("dtype"), call);
  const said = second ?? bound.get("shape");
  if (said === undefined) return { value: first, dtype };
  const shape = sizesIn([said], start, wrong);
  return { value: withShape(withPairs(blockOf(first, wrong), shape, dtype), shape, call), dtype };
};

/** Joins pairs of numbers into complex numbers, which ndscatter prints as pairs. */
function withPairs(block: Block, shape: readonly number[], dtype: DType | undefined): Block {
  const isPairs = dtype !== undefined && DTYPES[dtype].family === "complex";
  if (!isPairs || block.words.length !== 2 * sizeOf(shape)) return block;
  const words = Array.from({ length: sizeOf(shape) }, (_, position) => {
    const [re, im] = block.words.slice(2 * position, 2 * position + 2);
    return { ...re, text: `${re.text}${/^[-+]/.test(im.text) ? "" : "+"}${im.text}j` };
  });
  return { ...block, words };
}

function withShape(block: Block, shape: readonly number[], { wrong, start }: Call): Block {
  const count = block.words.length;
  if (sizeOf(shape) === count) return { ...block, shape };
  throw wrong(`the text says shape=${printShape(shape)}, but has ${count} elements`, start);
}

/** Evaluates a data type that is used as a function, such as `np.float32(1.5)` and `torch.LongTensor([1, 2])`. */
const typed =
  (dtype: DType): Make =>
  (call) => {
    const [only] = call.positional;
    if (call.positional.length !== 1 || call.named.size > 0) {
      throw call.wrong("expected one value", call.start);
    }
    const { words, ...block } = cast(blockOf(only, call.wrong), dtype, call);
    return { value: "text" in only ? words[0] : { ...block, words } };
  };

/** Evaluates `new Float32Array(3)` as three zeros. The parser itself handles `Float32Array(3) [ 1, 2, 3 ]`. */
const typedArray: Make = (call) => {
  const [only] = call.positional;
  const isLength = call.positional.length === 1 && numberIn(only) !== null;
  return isLength ? filled("0")(call, NOTHING) : wrapped(call, NOTHING);
};

/** Converts elements as `astype` does: fractions are truncated, and booleans become 0 and 1. */
function cast(block: Block, dtype: DType, call: Call): Block {
  const settled = call.dtype === undefined ? block : held(block, call.dtype, call);
  const words = settled.words.map((word) => ({ ...word, text: castText(word, dtype, call) }));
  return held({ ...settled, words }, dtype, call);
}

/** Rounds elements to the data type. */
function held(block: Block, dtype: DType, { wrong }: Call): Block {
  const { shape, words } = block;
  const values = words.map((word) => elementText(word, dtype, wrong));
  const read = tensorOf({ dtype, shape, values }, "the text");
  if (read.wrong.length > 0) return block;
  // All digits are kept, because the shortest text for a float32 near 0.1 would be a different float64 number.
  const texts = elementsOf(read.tensor).map((value) =>
    typeof value === "number" ? wordAt(block.start)(value).text : printElement(dtype, value),
  );
  return { ...block, words: words.map((word, position) => ({ ...word, text: texts[position] })) };
}

function castText(word: Word, dtype: DType, { wrong }: Call): string {
  const { family } = DTYPES[dtype];
  const text = bareText(word, dtype);
  const truth = /^(?:(true)|false)$/i.exec(text);
  if (family === "string" || word.isQuoted) return text;
  if (truth !== null) return family === "bool" ? text : truth[1] === undefined ? "0" : "1";
  const number = numberIn(word);
  if (family === "bool" && number !== null) return number === 0 ? "false" : "true";
  const isInt = family === "int" || family === "int64";
  if (!isInt || number === null || Number.isInteger(number)) return text;
  if (!Number.isFinite(number)) throw wrong(`${text} is not a value of ${dtype}`, word.start);
  return String(Math.trunc(number) + 0);
}

const casting =
  (dtype: DType): Make =>
  (call, self) => {
    bind(call, []);
    return { value: cast(self, dtype, call), dtype };
  };

/** Evaluates `.astype(np.int32)`, and `.to("cpu")`, which does not change values. */
const castTo: Make = (call, self) => {
  const [only] = call.positional;
  const isPlace = only !== undefined && "text" in only && /^(?:cpu|cuda)/.test(only.text);
  if (isPlace && call.positional.length === 1) return { value: self };
  const dtype = dtypeIn(bind(call, ["dtype"]).get("dtype"), call) ?? call.asked;
  if (dtype === undefined) throw call.wrong("expected a data type", call.start);
  return { value: cast(self, dtype, call), dtype };
};

const reshape: Make = (call, self) => {
  const { wrong, start } = call;
  bind({ ...call, positional: [] }, []);
  if (call.positional.length === 0) throw wrong("expected a shape", start);
  const sizes = sizesIn(call.positional, start, wrong, true);
  return { value: { ...self, shape: closedSizes(sizes, self.words.length, start, wrong) } };
};

const flat: Make = (call, self) => {
  bind(call, []);
  return { value: { ...self, shape: [self.words.length] } };
};

/** Evaluates Python's `complex` and preserves the signs of zeros. */
const complex: Make = (call) => {
  const bound = bind(call, ["real", "imag"]);
  const parts = ["real", "imag"].map((name) => {
    const value = bound.get(name);
    const number = value === undefined ? 0 : numberIn(value);
    if (number === null) throw call.wrong(`expected a number for ${name}`, call.start);
    return Object.is(number, -0) ? "-0" : String(number).replace("Infinity", "inf");
  });
  const sign = parts[1].startsWith("-") ? "" : "+";
  return { value: wordAt(call.start)(`${parts[0]}${sign}${parts[1]}j`) };
};

const transposed: Make = (call, self) => {
  bind(call, []);
  const shape = self.shape.toReversed();
  const words = self.words.map((_, position) => {
    const at = coordinatesOf(position, shape).toReversed();
    return self.words[positionOf(at, self.shape)];
  });
  return { value: { ...self, shape, words } };
};

const same: Make = (call, self) => {
  bind(call, []);
  return { value: self };
};

/** Returns a table without a prototype, so that it has no inherited names. */
const table = (
  rows: readonly (readonly [names: string, make: Make])[],
): Readonly<Record<string, Make | undefined>> =>
  Object.assign(
    Object.create(null),
    Object.fromEntries(rows.flatMap(([names, make]) => names.split(" ").map((one) => [one, make]))),
  );

const FUNCTIONS = table([
  [
    "array copy asarray asanyarray ascontiguousarray matrix tensor as_tensor Tensor Parameter Variable constant " +
      "convert_to_tensor from_numpy Array DeviceArray list tuple Size tensor1d tensor2d tensor3d tensor4d scalar",
    wrapped,
  ],
  ["complex", complex],
  ["zeros", filled("0")],
  ["ones", filled("1")],
  ["full fill", full],
  ["arange range", arange],
  ["eye identity", eye],
]);

/** Returns the function with this name: a listed function, a data type or a typed array. */
function functionOf(name: string): Make | undefined {
  if (/^(?:Big)?(?:Int|Uint|Float)\d+(?:Clamped)?Array$/.test(name)) return typedArray;
  // Constructors such as np.float32(1.5) and torch.LongTensor([1, 2]) are parsed here.
  const dtype = dtypeNamed(
    name
      .replace(/^[A-Z].*(?=Tensor$)/, (type) => `torch.${type.toLowerCase()}`)
      .replace(/Tensor$/, ""),
  );
  return FUNCTIONS[name] ?? (dtype === null ? undefined : typed(dtype));
}

const METHODS = table([
  ["reshape view", reshape],
  ["flatten ravel", flat],
  ["T t transpose", transposed],
  ["astype to type", castTo],
  ...["float", "double", "half", "int", "long", "bool"].map((name) => {
    // The type int has 32 bits in torch and 64 bits in Python.
    const dtype = name === "int" ? "int32" : (dtypeNamed(`torch.${name}`) ?? "float32");
    return [name, casting(dtype)] as const;
  }),
  ["tolist numpy cpu cuda detach clone copy contiguous item requires_grad_", same],
]);
