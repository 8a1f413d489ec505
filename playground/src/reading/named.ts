/** Assigns named tensors to operator inputs by name, data type and shape. */

import { infer, type DType, type NodeSpec, type OperatorVersion, type Role } from "ndscatter";
import { printShape, resolve, roleOf } from "ndscatter/operators";
import { withDType } from "../document/edit.ts";
import { readState } from "../document/read-state.ts";
import { withOperator } from "../document/with-operator.ts";
import { attempt } from "../values/attempt.ts";
import { printNames } from "../values/names.ts";
import { dtypesOf, newestOf } from "../values/schema.ts";
import { sizeOf } from "../values/shape.ts";
import type { State, TensorText } from "../values/state.ts";

export interface NamedTensor {
  readonly name: string;
  readonly input: TensorText;
}

/** The tensor number for each input; null for an input that stays unchanged. */
export type Assignment = readonly (number | null)[];

export interface Match {
  /** The page's call, or the call under another operator. */
  readonly base: State;
  readonly assignment: Assignment;
  /** True if names and shapes determine the assignment to the page's operator uniquely. */
  readonly isSure: boolean;
}

/** Input names that are common in programs and files. The operator's own input names take precedence. */
const NAMES: Readonly<Record<Role, string>> = {
  data: "data x input input_0 cache past_cache params tensor self a arr table tables sums base",
  indices:
    "indices index idx ids i input_1 where indexes targets positions write_indices rows start",
  updates: "updates update u upd input_2 values value src source key messages new v",
  axis: "axis dim input_3",
};

const isCommon = (word: string, role: Role): boolean => NAMES[role].split(" ").includes(word);

/** The maximum number of tensors to assign; no operator has this many inputs. */
const MOST = 6;

const wordOf = (name: string): string => name.toLowerCase().replace(/^.*[.\s]/, "");

/**
 * Rates how well a tensor fits an input: names count most, followed by data types. A negative score means that the
 * tensor does not fit.
 */
function score({ name, input }: NamedTensor, version: OperatorVersion, position: number): number {
  const schema = version.inputs[position];
  const role = roleOf(schema);
  const isTaken = dtypesOf(version, schema).includes(input.dtype);
  if (!isTaken && !(role === "indices" && isWhole(input.dtype))) return -9;
  const word = wordOf(name);
  const byName = word === schema.name.toLowerCase() ? 12 : isCommon(word, role) ? 8 : 0;
  const isOther =
    byName === 0 &&
    version.inputs.some((one) => one !== schema && isNamed(word, one.name, roleOf(one)));
  const isIntegers = isWhole(input.dtype);
  const points = {
    indices: isIntegers ? 2 : -9,
    axis: sizeOf(input.shape) === 1 ? 1 : -9,
    data: isIntegers ? 0 : 2,
    updates: isIntegers ? 0 : 2,
  };
  return byName + points[role] - (isOther ? 6 : 0);
}

const isNamed = (word: string, name: string, role: Role): boolean =>
  word === name.toLowerCase() || isCommon(word, role);

const isWhole = (dtype: DType): boolean => /^u?int/.test(dtype);

/** Numbers of different types become the last of their types in this list. */
const WIDER =
  "uint8 int8 uint16 int16 uint32 int32 uint64 int64 float16 bfloat16 float32 float64".split(" ");

/**
 * Returns the data types in which an operator accepts tensors: indices are read as int64 if their own type is refused,
 * and inputs that must have one type get the widest of their types.
 */
const acceptedTypes = (
  version: OperatorVersion,
  inputs: readonly (TensorText | null)[],
): (DType | null)[] =>
  inputs.map((input, position) => {
    if (input === null) return null;
    const schema = version.inputs[position];
    const types = dtypesOf(version, schema);
    if (roleOf(schema) === "indices" && isWhole(input.dtype) && !types.includes(input.dtype))
      return types.find((one) => one === "int64") ?? input.dtype;
    const alike = inputs.flatMap((one, other) =>
      one !== null && version.inputs[other]?.type === schema.type ? one.dtype : [],
    );
    const [widest] = alike.toSorted((a, b) => WIDER.indexOf(b) - WIDER.indexOf(a));
    const isNumeric = alike.every((one) => WIDER.includes(one));
    return isNumeric && types.includes(widest) ? widest : input.dtype;
  });

const placed = (
  state: State,
  tensors: readonly NamedTensor[],
  assignment: Assignment,
): State["inputs"] =>
  state.inputs.map((input, position) => {
    const number = assignment[position] ?? null;
    return number === null ? input : tensors[number].input;
  });

/**
 * Returns the state with the given tensors as its inputs, in data types that the operator accepts, and a remark about
 * each conversion.
 */
export function withAssignment(
  state: State,
  tensors: readonly NamedTensor[],
  assignment: Assignment,
): { readonly state: State; readonly remarks: readonly string[] } {
  const version = resolve(state);
  const given = placed(state, tensors, assignment);
  const types = acceptedTypes(version, given);
  const remarks: string[] = [];
  const inputs = given.map((input, position) => {
    const dtype = types[position] ?? null;
    if (input === null || dtype === null || dtype === input.dtype) return input;
    const { name } = version.inputs[position];
    remarks.push(`${name} is ${input.dtype}; ${version.name} reads it here as ${dtype}.`);
    return withDType(input, dtype);
  });
  return { state: { ...state, inputs }, remarks };
}

/** Describes the operator and its attributes, which stay the same because arrays do not name an operation. */
export function operatorRemark({ op, opset, attributes }: State): string {
  const given = Object.entries(attributes).map(([name, text]) => `${name} ${text}`);
  const kept = [`${op}-${opset}`, ...(given.length === 0 ? [] : [printNames(given)])];
  return `The operator is still ${kept.join(" with ")}.`;
}

/** Explains why tensors are not used. */
export function unusedRemarks(
  state: State,
  tensors: readonly NamedTensor[],
  assignment: Assignment,
): string[] {
  const open = resolve(state).inputs.filter(
    (_, position) => (assignment[position] ?? null) === null,
  );
  const why = ({ dtype, shape }: TensorText): string =>
    open.length === 0
      ? "every input has a tensor"
      : `${dtype} ${printShape(shape)} was not recognized as ${printNames(open.map(({ name }) => name))}`;
  return tensors.flatMap(({ name, input }, number) =>
    assignment.includes(number) ? [] : [`${name} is not used: ${why(input)}.`],
  );
}

/** Checks whether inputs of these types and shapes form a call, in data types that the operator accepts. */
function fits(node: NodeSpec, version: OperatorVersion, inputs: State["inputs"]): boolean {
  const dtypes = acceptedTypes(version, inputs);
  const types = inputs.map((one, position) =>
    one === null ? undefined : { dtype: dtypes[position] ?? one.dtype, shape: one.shape },
  );
  while (types.length > 0 && types[types.length - 1] === undefined) types.pop();
  return !("error" in attempt(() => infer(node, types)));
}

/** Yields all assignments of tensors to inputs; each tensor is used at most once. */
function* orders(
  count: number,
  inputs: number,
  used: readonly (number | null)[] = [],
): Generator<Assignment> {
  if (used.length === inputs) {
    yield used;
    return;
  }
  for (let number = 0; number < count; number++) {
    if (!used.includes(number)) yield* orders(count, inputs, [...used, number]);
  }
  yield* orders(count, inputs, [...used, null]);
}

/** Returns the best assignment to a state's inputs, and whether it is the only best assignment. */
export function assigned(
  tensors: readonly NamedTensor[],
  state: State,
  open: readonly number[] | null = null,
): { readonly assignment: Assignment; readonly points: number; readonly isSure: boolean } {
  const version = resolve(state);
  const table = version.inputs.map((_, position) =>
    tensors.map((one) => score(one, version, position)),
  );
  const { node } = readState({ ...state, inputs: [] });
  const isCall = (assignment: Assignment): boolean =>
    fits(node, version, placed(state, tensors, assignment));
  let best = { assignment: version.inputs.map(() => null) as Assignment, points: -1 };
  let second = -1;
  for (const assignment of orders(Math.min(tensors.length, MOST), version.inputs.length)) {
    const isClosed = (number: number | null, position: number): boolean =>
      number !== null && open?.includes(position) === false;
    if (assignment.some(isClosed)) continue;
    let points = 0;
    for (const [position, number] of assignment.entries()) {
      const own = number === null ? 0 : table[position][number];
      points += number === null ? 0 : own < 0 ? -100 : 4 + own;
    }
    if (points <= second) continue;
    if (isCall(assignment)) points += 10;
    if (points > best.points) {
      second = best.points;
      best = { assignment, points };
    } else second = Math.max(second, points);
  }
  const areAllUsed = tensors.every((_, number) => best.assignment.includes(number));
  const isSure = areAllUsed && isCall(best.assignment) && best.points - second >= 4;
  return { ...best, isSure };
}

/** Other operators to try for three files if the page's operator does not fit. */
const OTHERS = "ScatterND ScatterElements GatherND GatherElements Gather TensorScatter".split(" ");

/** Assigns tensors to the inputs of the page's operator, or of another operator if the tensors do not fit. */
export function matched(tensors: readonly NamedTensor[], state: State): Match {
  const own = { base: state, ...assigned(tensors, state) };
  const needed = resolve(state).inputs.filter(
    (one) => one.optional !== true && roleOf(one) !== "axis",
  );
  if (own.isSure || tensors.length === needed.length) return own;
  for (const version of OTHERS.map((op) => newestOf("ai.onnx", op))) {
    if (version === null || version.name === state.op) continue;
    const { domain, name: op, sinceVersion: opset } = version;
    const base = withOperator(state, { domain, op, opset }).state;
    const { assignment, isSure } = assigned(tensors, base);
    if (isSure) return { base, assignment, isSure: false };
  }
  return own;
}
