/**
 * Turns a runtime's error message into a call that fails in the same way. The message gives the operator, shapes or an
 * index; missing facts are taken from examples. Each row is one kind of message from onnxruntime 1.30, torch, NumPy or
 * TensorFlow.
 */

import type { Role } from "ndscatter";
import { printShape, roleOf } from "ndscatter/operators";
import { printNames } from "../values/names.ts";
import { attempt } from "../values/attempt.ts";
import { checkShape } from "../values/limits.ts";
import { defaultText, dtypesOf, newestOf } from "../values/schema.ts";
import { sizeOf } from "../values/shape.ts";
import type { State, TensorText } from "../values/state.ts";

/** The facts that a message contains. A missing shape is derived from the other shapes, or taken from an example. */
interface Facts {
  readonly op?: string;
  readonly axis?: number;
  readonly batchDims?: number;
  readonly data?: readonly number[];
  readonly indices?: readonly number[];
  readonly updates?: readonly number[];
  readonly bad?: readonly number[];
  readonly at?: readonly number[];
  /** The size of the axis that the index refers to. */
  readonly size?: number;
  readonly sentence: string;
}

interface Row {
  readonly pattern: RegExp;
  /** Operators that print this message; the first is used if the text names none. */
  readonly ops: readonly string[];
  facts(found: readonly string[], text: string): Facts;
}

const shapeIn = (text: string): number[] => (text.match(/\d{1,15}/g) ?? []).slice(0, 9).map(Number);

const outside = (index: string, size: string): string =>
  `The index ${index} is out of range: valid indices of an axis of size ${size} are -${size} to ${Number(size) - 1}.`;

const SHAPE = String.raw`\{([\d,]{0,99})\}`;
const LIST = String.raw`[[(]([\d, ]{0,99})[\])]`;

// prettier-ignore
const ROWS: readonly Row[] = [
  { pattern: new RegExp(`updates shape: ${SHAPE}, indices shape: ${SHAPE}, data shape: ${SHAPE}`), ops: ["ScatterND"],
    facts: ([updates, indices, data]) => ({ updates: shapeIn(updates), indices: shapeIn(indices), data: shapeIn(data),
      sentence: "The shape of the updates does not follow from data and indices." }) },
  { pattern: /invalid ind(?:ice|ex) found, ind(?:ice|ex) = (-?\d{1,15})/, ops: ["ScatterND", "GatherND"],
    facts: ([index], text) => ({ ...(/indice found/.test(text) ? {} : { op: /ScatterND/.test(text) ? "ScatterND" : "GatherND" }), bad: [Number(index)],
      sentence: `The index ${index} is out of range.` }) },
  { pattern: /idx=(-?\d{1,15}) must be within the inclusive range \[-?(\d{1,15}),\s?(-?\d{1,15})\]/, ops: ["Gather", "ScatterElements"],
    facts: ([index, size]) => ({ bad: [Number(index)], size: Number(size), sentence: outside(index, size) }) },
  { pattern: /Value in indices must be within bounds \[-?(\d{1,15}) , \d{1,15}\]\. Actual value is (-?\d{1,15})/, ops: ["GatherElements"],
    facts: ([size, index]) => ({ bad: [Number(index)], size: Number(size), sentence: outside(index, size) }) },
  { pattern: /Out of range value in index tensor/, ops: ["GatherElements"],
    facts: () => ({ bad: [7], size: 4, sentence: "An index is out of range; the message does not say which." }) },
  { pattern: /last dimension of indices must not be larger than rank of input/, ops: ["ScatterND", "GatherND"],
    facts: () => ({ data: [4], indices: [2, 2], updates: [2],
      sentence: "The index tuples have more components than data has axes." }) },
  { pattern: /Indices vs updates dimensions differs at position=(\d) (\d{1,15}) vs (\d{1,15})/, ops: ["ScatterElements"],
    facts: ([position, index, update]) => ({ indices: sizedAt(Number(position), Number(index)), updates: sizedAt(Number(position), Number(update)),
      data: sizedAt(Number(position), Math.max(Number(index), Number(update), 4)), sentence: `Along axis ${position} indices have ${index} elements, and updates ${update}.` }) },
  { pattern: /Indices dim=(\d{1,15}) at pos=(\d) is greater than input dim=(\d{1,15})/, ops: ["ScatterElements"],
    facts: ([dim, position, size]) => ({ data: sizedAt(Number(position), Number(size)), indices: sizedAt(Number(position), Number(dim)),
      updates: sizedAt(Number(position), Number(dim)), axis: position === "0" ? 1 : 0,
      sentence: `Along axis ${position} indices have ${dim} elements, and data only ${size}.` }) },
  { pattern: /Indices and updates must have the same rank/, ops: ["ScatterElements"],
    facts: () => ({ data: [4, 3], indices: [2, 3], updates: [6], sentence: "Indices and updates have different ranks." }) },
  { pattern: /'indices' shape should have values within bounds of 'data' shape\. Invalid value in indices shape is: (\d{1,15})/, ops: ["GatherElements"],
    facts: ([dim]) => ({ data: [Math.max(1, Number(dim) - 1), 3], indices: [Number(dim), 1], axis: 1,
      sentence: `Along an axis other than the scatter axis, indices have ${dim} elements, more than data.` }) },
  { pattern: /Rank of input 'data' needs to be equal to rank of input 'indices'/, ops: ["GatherElements"],
    facts: () => ({ data: [2, 3], indices: [3], sentence: "Data and indices have different ranks." }) },
  { pattern: /indices batch size \((\d{1,15})\) is not divisible by input batch size \((\d{1,15})\)/, ops: ["GatherND"],
    facts: ([indices, data]) => ({ data: [Number(data), 3], indices: [Number(indices), 1], batchDims: 1,
      sentence: `Data has ${data} batches, and indices have ${indices}.` }) },
  { pattern: new RegExp(String.raw`[Ee]xpected index ${LIST} to be (?:smaller|no larger) than self ${LIST} apart from dimension (-?\d)(?: and to be (?:smaller|no larger) size than src ${LIST})?`), ops: ["GatherElements", "ScatterElements"],
    facts: ([index, self, axis, src], text) => ({ op: src !== undefined || /scatter/.test(text) ? "ScatterElements" : "GatherElements",
      data: shapeIn(self), indices: shapeIn(index), axis: Number(axis), ...(src === undefined ? {} : { updates: shapeIn(src) }),
      sentence: "The shape of the index does not fit." }) },
  { pattern: /index (-?\d{1,15}) is out of bounds for (?:dimension|axis) (\d) with size (\d{1,15})/, ops: ["GatherElements", "Gather", "ScatterElements"],
    facts: ([index, axis, size], text) => ({ op: /scatter|put_along|\.at\(/.test(text) ? "ScatterElements" : / axis /.test(text) || /index_select/.test(text) ? "Gather" : "GatherElements",
      bad: [Number(index)], axis: Number(axis), size: Number(size), sentence: outside(index, size) }) },
  { pattern: new RegExp(String.raw`value array of shape ${LIST} could not be broadcast to indexing result of shape ${LIST}`), ops: ["ScatterND"],
    facts: ([updates, result]) => {
      const [rows = 1, ...slice] = shapeIn(result);
      return { data: [Math.max(4, rows), ...slice], indices: [rows, 1], updates: shapeIn(updates),
        sentence: `The values, ${printShape(shapeIn(updates))}, do not fit the part that is indexed, ${printShape(shapeIn(result))}.` };
    } },
  { pattern: /indices\[([\d,]{1,60})\] = \[([-\d, ]{1,99})\] does not index into shape \[([\d, ]{1,99})\]/, ops: ["ScatterND", "GatherND"],
    facts: ([at, tuple, shape], text) => {
      const bad = (tuple.match(/-?\d{1,15}/g) ?? []).slice(0, 5).map(Number);
      return { op: /gather/i.test(text) ? "GatherND" : "ScatterND", data: shapeIn(shape), bad, at: shapeIn(at),
        sentence: `The index tuple ${printShape(bad)} is not in data of shape ${printShape(shapeIn(shape))}.` };
    } },
  { pattern: /indices\[([\d,]{1,60})\] = (-?\d{1,15}) is not in \[0, (\d{1,15})\)/, ops: ["Gather"],
    facts: ([at, index, size]) => ({ bad: [Number(index)], at: shapeIn(at), size: Number(size),
      sentence: `The index ${index} is not in 0 to ${Number(size) - 1}.` }) },
  { pattern: /(?:^|\s)(\w{1,40})(?:-\d{1,3})?: \w{1,20}\[([\d, ]{0,60})\] is (-?\d{1,15}), but axis (\d) of data \[([\d, ]{0,99})\]/, ops: ["ScatterND", "GatherND", "ScatterElements", "GatherElements", "Gather"],
    facts: ([op, place, index, axis, shape]) => {
      const [at, data] = [shapeIn(place), shapeIn(shape)];
      const tuples = [...at.slice(0, -1).map((one) => one + 2), Number(axis) + 1];
      return { op, bad: [Number(index)], at, data, ...(op.endsWith("ND") ? { indices: tuples } : { axis: Number(axis), size: data[Number(axis)] ?? 1 }),
        sentence: outside(index, String(data[Number(axis)] ?? 1)) };
    } },
  { pattern: /updates\.shape must be indices\.shape\[:-1\] \+\+ data\.shape\[(\d):\] = \[([\d, ]{0,99})\] \+\+ \[([\d, ]{0,99})\] = \[[\d, ]{0,99}\], got \[([\d, ]{0,99})\]/, ops: ["ScatterND"],
    facts: ([k, batch, slice, updates]) => ({ data: [...Array<number>(Number(k)).fill(4), ...shapeIn(slice)], indices: [...shapeIn(batch), Number(k)], updates: shapeIn(updates),
      sentence: "The shape of the updates does not follow from data and indices." }) },
];

/** Returns a shape with a size at an axis, and 2 elsewhere. */
const sizedAt = (axis: number, size: number): number[] =>
  Array.from({ length: Math.max(2, axis + 1) }, (_, d) => (d === axis ? size : 2));

/** Matches the node name in messages such as `while running ScatterND node`. */
const NODE =
  /(?:running|Op \(|OpType: ?)\s?(\w{1,60})\)?(?: node)?(?:[^\n]{0,20}?Name: ?'([^'\n]{0,80})')?/;

/** The maximum length of a message with its stack trace, in characters. Text longer than this is not treated as a message. */
const LONGEST = 20_000;

export interface Message {
  readonly state: State;
  readonly understood: readonly string[];
}

export interface UnknownMessage {
  readonly error: string;
}

/** Returns the call that a message is about, or null if the message is unknown. */
export function readMessage(text: string): Message | UnknownMessage | null {
  if (text.length > LONGEST) return null;
  const [, named, name] = NODE.exec(text) ?? [];
  for (const { pattern, ops, facts } of ROWS) {
    const found = pattern.exec(text);
    if (found === null) continue;
    const said = facts(found.slice(1), text);
    const op = isKnown(named)
      ? named
      : (said.op ?? ops.find((one) => text.includes(one)) ?? ops[0]);
    if (!isKnown(op)) continue;
    const node = isKnown(named) ? (name ?? "") : null;
    return asCall({ ...said, op }, node, node !== null || /scatter|gather/i.test(text));
  }
  if (
    named === undefined ||
    !/Non-zero status|ShapeInferenceError|ONNXRuntime|onnxruntime/i.test(text)
  )
    return null;
  const error = isKnown(named)
    ? `the page does not know this message about ${named}`
    : `${named} is not a scatter or gather that the page supports`;
  return { error };
}

const isKnown = (op: string | undefined): op is string =>
  op !== undefined && newestOf("ai.onnx", op) !== null;

/** Returns the call. `isNamed` is true if the message names the operator. */
function asCall(
  given: Facts & { readonly op: string },
  node: string | null,
  isNamed: boolean,
): Message {
  const { facts, small } = shrunk(given);
  const version = newestOf("ai.onnx", facts.op);
  if (version === null) throw new Error(facts.op);
  const shapes = shapesOf(facts);
  const named = new Map([
    ["axis", facts.axis],
    ["batch_dims", facts.batchDims],
  ]);
  const attributes = Object.fromEntries(
    version.attributes.flatMap(({ name }) => {
      const text = String(named.get(name) ?? defaultText(version, name));
      return text === defaultText(version, name) ? [] : [[name, text]];
    }),
  );
  const inputs = version.inputs.map((schema): TensorText => {
    const role = roleOf(schema);
    const shape = shapes[role] ?? [];
    const types = dtypesOf(version, schema);
    if (role === "indices") return indicesOf(facts, shape, shapes);
    const dtype = types.find((one) => one === "float32") ?? types[0];
    const values = Array.from({ length: sizeOf(shape) }, (_, n) =>
      String(role === "data" ? n : 10 * (n + 1)),
    );
    return { dtype, shape, values };
  });
  const { name: op, sinceVersion: opset, domain } = version;
  const roles = version.inputs.map((schema) => ({ role: roleOf(schema), name: schema.name }));
  const examples = roles
    .filter(({ role }) => given[role as "data"] === undefined)
    .map(({ role, name }) => `${name} ${printShape(shapes[role] ?? [])}`);
  const valued = roles.filter(({ role }) => role !== "indices").map(({ name }) => name);
  const about = isNamed ? "The message is" : "The message names no operator; it is probably";
  const understood = [
    `${about} about ${op}${node === null || node === "" ? "" : ` (node ${node})`}.`,
    given.sentence,
  ];
  if (small) {
    understood.push("Sizes are smaller here: the page shows the same fault on fewer elements.");
  }
  if (examples.length > 0) {
    const list = examples.join(", ");
    understood.push(`The message does not give these shapes, so they are examples: ${list}.`);
  }
  const too = examples.length === 0 ? "" : " too";
  understood.push(`The values of ${printNames(valued)} are examples${too}.`);
  return { state: { domain, op, opset, attributes, inputs }, understood };
}

const hasTuples = (op = ""): boolean => op.endsWith("ND");

type Shapes = Partial<Record<Role, readonly number[]>>;

/** Returns a call's shapes from the message, or compatible shapes, or example shapes. */
function shapesOf(facts: Facts & { readonly op: string }): Shapes {
  const { op, size = 4, axis = 0 } = facts;
  const isTuple = hasTuples(op);
  const example = Array.from({ length: Math.max(2, axis + 1) }, (_, d) => (d === axis ? size : 3));
  const data = facts.data ?? example;
  const indices = facts.indices ?? indicesShape(facts, data);
  const slices = [...indices.slice(0, -1), ...data.slice(indices.at(-1) ?? 0)];
  return { data, indices, updates: facts.updates ?? (isTuple ? slices : indices) };
}

/** Returns a shape of indices that contains the place of the refused index. */
function indicesShape(
  { op, bad = [0], axis = 0, at = [], data: known }: Facts & { readonly op: string },
  data: readonly number[],
): readonly number[] {
  if (hasTuples(op)) {
    const rows = known === undefined || at.length === 0 ? [3] : at.map((one) => one + 1);
    return [...rows, bad.length];
  }
  if (!/Elements|^Scatter$/.test(op)) return at.length === 0 ? [3] : at.map((one) => one + 2);
  return data.map((dim, d) => Math.max((at[d] ?? 0) + 1, d === axis ? 2 : Math.min(dim, 3)));
}

/** Returns valid indices in ascending order, with the refused index among them. */
function indicesOf(
  { bad = [], at, axis = 0, op }: Facts,
  shape: readonly number[],
  { data = [] }: Shapes,
): TensorText {
  const width = hasTuples(op) ? Math.max(shape.at(-1) ?? 1, 1) : 1;
  const values = Array.from({ length: sizeOf(shape) }, (_, n) => {
    const dim = data[hasTuples(op) ? n % width : axis] ?? 1;
    return String(Math.floor(n / width) % Math.max(dim, 1));
  });
  const strides = shape.map((_, d) => sizeOf(shape.slice(d + 1)));
  const given = at?.reduce((sum, one, d) => sum + one * (strides[d] ?? 0), 0);
  const start = given ?? Math.floor(values.length / width / 2) * width;
  for (const [component, index] of bad.entries()) {
    if (start + component < values.length) values[start + component] = String(index);
  }
  return { dtype: "int64", shape, values };
}

/** Returns the facts with sizes that the page can show. Equal sizes stay equal, and larger sizes stay larger. */
function shrunk<F extends Facts>(facts: F): { facts: F; small: boolean } {
  const shapes = shapesOf({ op: "Gather", ...facts });
  const all = [...(shapes.data ?? []), ...(shapes.indices ?? []), ...(shapes.updates ?? [])];
  if (Object.values(shapes).every(isShown)) return { facts, small: false };
  const small = new Map<number, number>();
  let [before, last] = [0, 0];
  for (const dim of [...new Set([...all, facts.size ?? 1])].toSorted((a, b) => a - b)) {
    last = dim <= 5 ? dim : Math.max(last, Math.min(dim, 5)) + Math.min(2, dim - before);
    small.set(dim, last);
    before = dim;
  }
  const resized = (shape: readonly number[] | undefined) =>
    shape?.map((dim) => small.get(dim) ?? dim);
  const { size, bad, data, indices, updates, at } = facts;
  const moved = bad?.map((index, component) => {
    const dim = size ?? data?.[component] ?? 4;
    const now = small.get(dim) ?? dim;
    if (index >= dim) return now + Math.min(index - dim, 99);
    if (index < 0) return index < -dim ? -now - Math.min(-dim - index, 99) : Math.max(index, -now);
    return Math.min(index, now - 1);
  });
  return {
    facts: {
      ...facts,
      size: size === undefined ? undefined : small.get(size),
      bad: moved,
      data: resized(data),
      indices: resized(indices),
      updates: resized(updates),
      at: at?.map(() => 1),
    },
    small: true,
  };
}

const isRefused = (shape: readonly number[]): boolean =>
  "error" in (attempt(() => ({ ok: checkShape(shape, "the tensor") })) as object);

/** Larger tensors are not shown, because the error would be hard to see. */
const isShown = (shape: readonly number[]): boolean => !isRefused(shape) && sizeOf(shape) <= 600;
