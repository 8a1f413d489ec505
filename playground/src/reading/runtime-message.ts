/**
 * Turns a runtime's error message into a call that fails in the same way. The message gives the operator, shapes or an
 * index; missing facts are taken from examples. Each row is one kind of message from onnxruntime 1.30, torch, NumPy or
 * TensorFlow.
 */

import type { OperatorVersion, Role } from "ndscatter";
import { printShape, roleOf } from "ndscatter/operators";
import { printNames } from "../values/names.ts";
import { attempt } from "../values/attempt.ts";
import { checkShape } from "../values/limits.ts";
import { defaultText, dtypesOf, newestOf } from "../values/schema.ts";
import { firstOf, sizeOf } from "../values/shape.ts";
import type { State, TensorText } from "../values/state.ts";
import { outsideOf } from "./crop-parts.ts";

type Numbers = readonly number[];

/** The facts that a message contains. A missing shape is derived from the other shapes, or taken from an example. */
interface Facts {
  readonly axis?: number | undefined;
  readonly batchDims?: number | undefined;
  readonly data?: Numbers | undefined;
  readonly indices?: Numbers | undefined;
  readonly updates?: Numbers | undefined;
  /** The refused index or index tuple. */
  readonly bad?: Numbers | undefined;
  /** The place of the refused index in indices. */
  readonly at?: Numbers | undefined;
  /** The size of the axis that the index refers to. */
  readonly size?: number | undefined;
}

/** The numbers in each group of a pattern. */
type Groups = Readonly<Record<string, Numbers>>;

interface Row {
  /** A group with the name of a fact contains this fact. */
  readonly pattern: RegExp;
  /** Operators that print this message: the first that the text mentions, or else the last. */
  readonly ops: readonly string[];
  /** The words by which a text mentions an operator, if not by its name. */
  readonly words?: Readonly<Record<string, RegExp>>;
  /** Returns the facts that follow from other groups. */
  facts?(groups: Groups, op: string): Facts;
  /** The cause; by default, the index is out of range for its axis. */
  readonly sentence?: string | ((groups: Groups) => string);
}

const UNFIT = "The shape of the updates does not follow from data and indices.";

/** Returns a shape with a size at one axis, and another size elsewhere. */
const sizedAt = (axis: number, size: number, other = 2): number[] =>
  Array.from({ length: Math.max(2, axis + 1) }, (_, d) => (d === axis ? size : other));

// prettier-ignore
const ROWS: readonly Row[] = [
  { pattern: /updates shape: \{(?<updates>[\d,]{0,99})\}, indices shape: \{(?<indices>[\d,]{0,99})\}, data shape: \{(?<data>[\d,]{0,99})\}/,
    ops: ["ScatterND"], sentence: UNFIT },
  { pattern: /invalid ind(?:ice|ex) found, ind(?:ice|ex) = (?<bad>-?\d{1,15})/,
    ops: ["ScatterND", "GatherND"], words: { ScatterND: /ScatterND|indice found/ },
    sentence: ({ bad }) => `The index ${bad} is out of range.` },
  { pattern: /idx=(?<bad>-?\d{1,15}) must be within the inclusive range \[-?(?<size>\d{1,15}),\s?-?\d{1,15}\]/,
    ops: ["ScatterElements", "Gather"] },
  { pattern: /Value in indices must be within bounds \[-?(?<size>\d{1,15}) , \d{1,15}\]\. Actual value is (?<bad>-?\d{1,15})/,
    ops: ["GatherElements"] },
  { pattern: /Out of range value in index tensor/,
    ops: ["GatherElements"], facts: () => ({ bad: [7], size: 4 }),
    sentence: "An index is out of range; the message does not say which." },
  { pattern: /last dimension of indices must not be larger than rank of input/,
    ops: ["GatherND", "ScatterND"], facts: () => ({ data: [4], indices: [2, 2], updates: [2] }),
    sentence: "The index tuples have more components than data has axes." },
  { pattern: /Indices vs updates dimensions differs at position=(?<d>\d) (?<index>\d{1,15}) vs (?<update>\d{1,15})/,
    ops: ["ScatterElements"],
    facts: ({ d: [d], index: [index], update: [update] }) =>
      ({ data: sizedAt(d, Math.max(index, update, 4)), indices: sizedAt(d, index), updates: sizedAt(d, update) }),
    sentence: ({ d, index, update }) => `Along axis ${d} indices have ${index} elements, and updates ${update}.` },
  { pattern: /Indices dim=(?<dim>\d{1,15}) at pos=(?<d>\d) is greater than input dim=(?<own>\d{1,15})/,
    ops: ["ScatterElements"],
    facts: ({ dim: [dim], d: [d], own: [own] }) =>
      ({ data: sizedAt(d, own), indices: sizedAt(d, dim), updates: sizedAt(d, dim), axis: d === 0 ? 1 : 0 }),
    sentence: ({ dim, d, own }) => `Along axis ${d} indices have ${dim} elements, and data only ${own}.` },
  { pattern: /Indices and updates must have the same rank/,
    ops: ["ScatterElements"], facts: () => ({ data: [4, 3], indices: [2, 3], updates: [6] }),
    sentence: "Indices and updates have different ranks." },
  { pattern: /'indices' shape should have values within bounds of 'data' shape\. Invalid value in indices shape is: (?<dim>\d{1,15})/,
    ops: ["GatherElements"], facts: ({ dim: [dim] }) => ({ data: [Math.max(1, dim - 1), 3], indices: [dim, 1], axis: 1 }),
    sentence: ({ dim }) => `Along an axis other than the scatter axis, indices have ${dim} elements, more than data.` },
  { pattern: /Rank of input 'data' needs to be equal to rank of input 'indices'/,
    ops: ["GatherElements"], facts: () => ({ data: [2, 3], indices: [3] }),
    sentence: "Data and indices have different ranks." },
  { pattern: /indices batch size \((?<own>\d{1,15})\) is not divisible by input batch size \((?<batches>\d{1,15})\)/,
    ops: ["GatherND"],
    facts: ({ own: [own], batches: [batches] }) => ({ data: [batches, 3], indices: [own, 1], batchDims: 1 }),
    sentence: ({ own, batches }) => `Data has ${batches} batches, and indices have ${own}.` },
  { pattern: /[Ee]xpected index [[(](?<indices>[\d, ]{0,99})[\])] to be (?:smaller|no larger) than self [[(](?<data>[\d, ]{0,99})[\])] apart from dimension (?<axis>-?\d)(?: and to be (?:smaller|no larger) size than src [[(](?<updates>[\d, ]{0,99})[\])])?/,
    ops: ["ScatterElements", "GatherElements"], words: { ScatterElements: /scatter|size than src/ },
    sentence: "The shape of the index does not fit." },
  { pattern: /index (?<bad>-?\d{1,15}) is out of bounds for (?:dimension|axis) (?<axis>\d) with size (?<size>\d{1,15})/,
    ops: ["ScatterElements", "Gather", "GatherElements"],
    words: { ScatterElements: /scatter|put_along|\.at\(/, Gather: / axis |index_select/ } },
  { pattern: /value array of shape [[(](?<updates>[\d, ]{0,99})[\])] could not be broadcast to indexing result of shape [[(](?<result>[\d, ]{0,99})[\])]/,
    ops: ["ScatterND"],
    facts: ({ result: [rows = 1, ...slice] }) => ({ data: [Math.max(4, rows), ...slice], indices: [rows, 1] }),
    sentence: ({ updates, result }) =>
      `The values, ${printShape(updates)}, do not fit the part that is indexed, ${printShape(result)}.` },
  { pattern: /indices\[(?<at>[\d,]{1,60})\] = \[(?<bad>[-\d, ]{1,99})\] does not index into shape \[(?<data>[\d, ]{1,99})\]/,
    ops: ["GatherND", "ScatterND"], words: { GatherND: /gather/i },
    sentence: ({ bad, data }) => `The index tuple ${printShape(bad)} is not in data of shape ${printShape(data)}.` },
  { pattern: /indices\[(?<at>[\d,]{1,60})\] = (?<bad>-?\d{1,15}) is not in \[0, (?<size>\d{1,15})\)/,
    ops: ["Gather"], sentence: ({ bad, size: [size] }) => `The index ${bad} is not in 0 to ${size - 1}.` },
  { pattern: /(?:^|\s)(?:ScatterND|GatherND|ScatterElements|GatherElements|Gather)(?:-\d{1,3})?: \w{1,20}\[(?<at>[\d, ]{0,60})\] is (?<bad>-?\d{1,15}), but axis (?<axis>\d) of data \[(?<data>[\d, ]{0,99})\]/,
    ops: ["ScatterND", "GatherND", "ScatterElements", "GatherElements", "Gather"],
    facts: ({ at, axis: [axis], data }, op) =>
      hasTuples(op) ? { indices: [...at.slice(0, -1).map((one) => one + 2), axis + 1] } : { size: data[axis] ?? 1 } },
  { pattern: /updates\.shape must be indices\.shape\[:-1\] \+\+ data\.shape\[(?<k>\d):\] = \[(?<batch>[\d, ]{0,99})\] \+\+ \[(?<slice>[\d, ]{0,99})\] = \[[\d, ]{0,99}\], got \[(?<updates>[\d, ]{0,99})\]/,
    ops: ["ScatterND"],
    facts: ({ k: [k], batch, slice }) => ({ data: [...Array<number>(k).fill(4), ...slice], indices: [...batch, k] }),
    sentence: UNFIT },
];

/** Matches the node name in messages such as `while running ScatterND node`. */
const NODE =
  /(?:running|Op \(|OpType: ?)\s?(\w{1,60})\)?(?: node)?(?:[^\n]{0,20}?Name: ?'([^'\n]{0,80})')?/;

/** The maximum length of a message with its stack trace, in characters. Text longer than this is not treated as a message. */
const LONGEST = 20_000;

type Message =
  | { readonly state: State; readonly understood: readonly string[] }
  | { readonly error: string };

/** Returns the call that a message is about, or null if the message is unknown. */
export function readMessage(text: string): Message | null {
  if (text.length > LONGEST) return null;
  const [, named, name = ""] = NODE.exec(text) ?? [];
  const own = named === undefined ? null : newestOf("ai.onnx", named);
  for (const row of ROWS) {
    const found = row.pattern.exec(text);
    if (found === null) continue;
    const { ops, words = {}, sentence } = row;
    const said = ops.find((op) => text.search(words[op] ?? op) !== -1) ?? ops[ops.length - 1];
    const version = own ?? newestOf("ai.onnx", said);
    if (version === null) continue;
    const groups = numbersIn(found);
    const { axis, size, ...shapes } = groups;
    const facts: Facts = {
      ...{ axis: axis?.[0], size: size?.[0], ...shapes },
      ...row.facts?.(groups, version.name),
    };
    const isNamed = own !== null || /scatter|gather/i.test(text);
    const about = isNamed ? "The message is" : "The message names no operator; it is probably";
    const { state, examples } = asCall(version, facts);
    return {
      state,
      understood: [
        `${about} about ${version.name}${own === null || name === "" ? "" : ` (node ${name})`}.`,
        typeof sentence === "string" ? sentence : (sentence ?? outOfRange)(groups),
        ...examples,
      ],
    };
  }
  if (
    named === undefined ||
    !/Non-zero status|ShapeInferenceError|ONNXRuntime|onnxruntime/i.test(text)
  )
    return null;
  const error =
    own === null
      ? `${named} is not a scatter or gather that the page supports`
      : `the page does not know this message about ${named}`;
  return { error };
}

const numbersIn = ({ groups = {} }: RegExpExecArray): Groups =>
  Object.fromEntries(
    Object.entries(groups).flatMap(([name, text]: [string, string | undefined]) =>
      text === undefined ? [] : [[name, (text.match(/-?\d+/g) ?? []).slice(0, 9).map(Number)]],
    ),
  );

function outOfRange({ bad: [index], axis: [axis] = [0], data, size }: Groups): string {
  const [dim = 1] = size ?? [data[axis]];
  return `The index ${index} is out of range: valid indices of an axis of size ${dim} are -${dim} to ${dim - 1}.`;
}

/** Returns a call with these facts, and sentences about what the message does not give. */
function asCall(
  version: OperatorVersion,
  given: Facts,
): { readonly state: State; readonly examples: readonly string[] } {
  const { name: op, sinceVersion: opset, domain } = version;
  const facts = shrunk(op, given);
  const shapes = shapesOf(op, facts);
  const attributes = Object.entries({ axis: facts.axis, batch_dims: facts.batchDims }).flatMap(
    ([name, value]) => {
      const otherwise = defaultText(version, name);
      const isGiven = value !== undefined && otherwise !== null && String(value) !== otherwise;
      return isGiven ? [[name, String(value)]] : [];
    },
  );
  const roles = version.inputs.map((schema) => roleOf(schema) as keyof Shapes);
  const inputs = roles.map((role, position): TensorText => {
    if (role === "indices") return indicesOf(op, facts, shapes);
    const types = dtypesOf(version, version.inputs[position]);
    const dtype = types.find((one) => one === "float32") ?? types[0];
    const values = Array.from({ length: sizeOf(shapes[role]) }, (_, n) =>
      String(role === "data" ? n : 10 * (n + 1)),
    );
    return { dtype, shape: shapes[role], values };
  });
  const name = (role: string): string => version.inputs[roles.indexOf(role as "data")].name;
  const open = roles.filter((role) => given[role] === undefined);
  const shown = open.map((role) => `${name(role)} ${printShape(shapes[role])}`).join(", ");
  const valued = roles.filter((role) => role !== "indices").map(name);
  return {
    state: { domain, op, opset, attributes: Object.fromEntries(attributes), inputs },
    examples: [
      facts === given
        ? ""
        : "Sizes are smaller here: the page shows the same fault on fewer elements.",
      open.length === 0
        ? ""
        : `The message does not give these shapes, so they are examples: ${shown}.`,
      `The values of ${printNames(valued)} are examples${open.length === 0 ? "" : " too"}.`,
    ].filter((sentence) => sentence !== ""),
  };
}

const hasTuples = (op: string): boolean => op.endsWith("ND");

type Shapes = Readonly<Record<Exclude<Role, "axis">, Numbers>>;

/** Returns a call's shapes from the message, or compatible shapes, or example shapes. */
function shapesOf(op: string, facts: Facts): Shapes {
  const { size = 4, axis = 0, bad = [0], at = [] } = facts;
  const data = facts.data ?? sizedAt(axis, size, 3);
  const isTuple = hasTuples(op);
  // The indices have space for the place of the refused index.
  const own = isTuple
    ? [
        ...(facts.data === undefined || at.length === 0 ? [3] : at.map((one) => one + 1)),
        bad.length,
      ]
    : /Elements|^Scatter$/.test(op)
      ? data.map((dim, d) => Math.max((at[d] ?? 0) + 1, d === axis ? 2 : Math.min(dim, 3)))
      : at.length === 0
        ? [3]
        : at.map((one) => one + 2);
  const indices = facts.indices ?? own;
  const slices = [...indices.slice(0, -1), ...data.slice(indices.at(-1) ?? 0)];
  return { data, indices, updates: facts.updates ?? (isTuple ? slices : indices) };
}

/** Returns valid indices in ascending order, with the refused index among them. */
function indicesOf(op: string, { bad = [], at, axis = 0 }: Facts, shapes: Shapes): TensorText {
  const { data, indices: shape } = shapes;
  const isTuple = hasTuples(op);
  const width = isTuple ? Math.max(shape.at(-1) ?? 1, 1) : 1;
  const values = Array.from({ length: sizeOf(shape) }, (_, n) => {
    const dim = data[isTuple ? n % width : axis] ?? 1;
    return String(Math.floor(n / width) % Math.max(dim, 1));
  });
  const middle = Math.floor(values.length / width / 2) * width;
  const start = at === undefined ? middle : firstOf(at, shape);
  for (const [component, index] of bad.entries()) {
    if (start + component < values.length) values[start + component] = String(index);
  }
  return { dtype: "int64", shape, values };
}

/**
 * Returns facts with sizes that the page can show, or the same facts if it can show them. Equal sizes stay equal, and
 * larger sizes stay larger.
 */
function shrunk(op: string, facts: Facts): Facts {
  const { size, bad, data, indices, updates, at } = facts;
  const shapes = Object.values(shapesOf(op, facts));
  if (shapes.every(isShown)) return facts;
  const sorted = [...new Set([...shapes.flat(), size ?? 1])].toSorted((a, b) => a - b);
  const large = sorted.filter((dim) => dim > 5);
  const resized = (dim: number): number => (dim > 5 ? 6 + large.indexOf(dim) : dim);
  const moved = (index: number, component: number): number => {
    const dim = size ?? data?.[component] ?? 4;
    const now = resized(dim);
    const inside = index < 0 ? Math.max(index, -now) : Math.min(index, now - 1);
    return outsideOf(index, dim, now) ?? inside;
  };
  return {
    ...facts,
    size: size && resized(size),
    bad: bad?.map(moved),
    data: data?.map(resized),
    indices: indices?.map(resized),
    updates: updates?.map(resized),
    at: at?.map(() => 1),
  };
}

/** Larger tensors are not shown, because the error would be hard to see. */
const isShown = (shape: Numbers): boolean =>
  !("error" in attempt(() => ({ ok: checkShape(shape, "the tensor") }))) && sizeOf(shape) <= 600;
