/**
 * Equivalent operators, updates and data for a target that lacks a node's operator or reduction, or needs equal sizes.
 */

import { runNode as run } from "../../core/functions.ts";
import { quote } from "../model/graph.ts";
import { readConstant, type Constant } from "../model/model.ts";
import type { OperatorVersion } from "../../core/operators/operator.ts";
import { lookUp } from "../../core/operators/registry.ts";
import { normalizeAxis } from "../../core/operators/shapes.ts";
import { reader } from "../../core/tensor/scalar.ts";
import { isKnown, product } from "../../core/tensor/shape.ts";
import { full, tensor, Tensor } from "../../core/tensor/tensor.ts";
import type { Additions, GraphContext } from "./context.ts";
import {
  certainShape,
  constantAt,
  firstOpset,
  onlyDeclared,
  refusal,
  targetVersion,
  versionTitle,
  wordOf,
  type Meaning,
} from "./meaning.ts";

/**
 * Expresses the node by an operator and a reduction that the target supports, if the result stays exact. Throws
 * `unsupported-model` for a `ScatterUpdate` that the target cannot express.
 */
export function reword(meaning: Meaning, context: GraphContext): Meaning {
  const plain = meaning.op === "ScatterUpdate" ? fromSlices(meaning, context) : meaning;
  return plain.settings.reduction === "sub" ? negated(plain, context) : plain;
}

/**
 * Replaces the reduction `sub` by `add` with negated updates. a - b equals a + (-b) for integers, which wrap around,
 * and for floats, including NaN and the signs of zeros, but not for booleans.
 */
function negated(meaning: Meaning, { target, scope, additions }: GraphContext): Meaning {
  const row = targetVersion(meaning.op, target);
  if (row === null || wordOf(row, "sub") !== null || wordOf(row, "add") === null) return meaning;
  const { updates = "" } = meaning.inputs;
  const source = constantAt(updates, scope);
  if (source === null || source.dtype === "bool") return meaning;
  const name = additions.constant(updates, "negated", () => negate(readConstant(source)));
  return {
    ...meaning,
    settings: { ...meaning.settings, reduction: "add" },
    inputs: { ...meaning.inputs, updates: name },
  };
}

/**
 * Negates updates by computing -0 - x with the package's own arithmetic. Subtracting from -0 turns 0 into -0, and -0
 * into 0.
 */
function negate({ dtype, shape, size, data }: Tensor): Tensor {
  const zeros = full(dtype, [size], -0);
  const whole = new Tensor("int32", [1, 0], 0, new Int32Array());
  const updates = new Tensor(dtype, [1, size], size, data);
  const node = {
    domain: "openvino",
    op: "ScatterNDUpdate",
    opset: 15,
    attributes: { reduction: "sub" },
  };
  const [result] = run(node, [zeros, whole, updates]);
  return new Tensor(dtype, shape, size, result.data);
}

/** The maximum number of indices after every index is repeated for its slice. */
const MOST_INDICES = 2 ** 20;

/**
 * Rewrites `ScatterUpdate`. Along the first axis it becomes a ScatterND with one-index tuples. Along another axis it
 * becomes a ScatterElements that repeats each index for its whole slice.
 */
function fromSlices(meaning: Meaning, context: GraphContext): Meaning {
  const { target, scope } = context;
  if (targetVersion(meaning.op, target) !== null) return meaning;
  const { indices = "", data = "" } = meaning.inputs;
  const rank = scope.typeOf(data)?.shape?.length;
  const { axis: given } = meaning.settings;
  const isBack = given !== null && given < 0;
  const axis = isBack && rank !== undefined ? given + rank : given;
  const source = constantAt(indices, scope);
  const only = `${target.domain} has no ScatterUpdate; equivalent nodes need`;
  if (axis === null || axis < 0) throw refusal(`${only} a known axis`);
  if (source === null)
    throw refusal(`${only} constant indices, but ${quote(indices)} is not constant`);
  if (isBack && certainShape(data, scope) === null) {
    const use = "the axis was counted from the front according to this rank";
    meaning.trusted.add(onlyDeclared("rank", data, use));
  }
  const { axis: _, ...inputs } = meaning.inputs;
  const [op, name] =
    axis === 0
      ? ["ScatterND", asTuples(indices, source, context)]
      : ["ScatterElements", expanded(meaning, axis, source, only, context)];
  return {
    ...meaning,
    op,
    version: lookUp({ domain: "openvino", op: `${op}Update`, opset: 3 }).version,
    settings: { ...meaning.settings, axis },
    inputs: { ...inputs, indices: name },
  };
}

const asTuples = (indices: string, source: Constant, { additions }: GraphContext): string =>
  additions.constant(indices, "tuples", () => {
    const { dtype, shape, size, data } = readConstant(source);
    return new Tensor(dtype, [...shape, 1], size, data);
  });

function expanded(
  { inputs, trusted }: Meaning,
  axis: number,
  source: Constant,
  only: string,
  { scope, additions }: GraphContext,
): string {
  const { indices = "", updates = "" } = inputs;
  const shape = scope.typeOf(updates)?.shape ?? null;
  if (!isKnown(shape) || source.shape.length !== 1 || shape[axis] !== source.shape[0])
    throw refusal(`${only} indices of rank 1 and updates of a known shape along axis ${axis}`);
  if (product(shape) > MOST_INDICES)
    throw refusal(`${only} at most ${MOST_INDICES} updates along axis ${axis}`);
  const use = `${quote(indices)} were repeated to fit this shape`;
  if (!isKnown(certainShape(updates, scope))) trusted.add(onlyDeclared("shape", updates, use));
  const make = (): Tensor => {
    const { dtype, data } = readConstant(source);
    const read = reader(dtype, data);
    const inner = product(shape, axis + 1);
    const list = Array.from({ length: product(shape) }, (_, position) =>
      BigInt(read(Math.floor(position / inner) % shape[axis]) as number | bigint),
    );
    return tensor("int64", shape, list);
  };
  return additions.constant(indices, "expanded", make, [shape, axis]);
}

/**
 * Returns data, or a Gather that selects the part of data that the indices can address. ONNX's GatherElements accepts
 * indices that are smaller than data along other axes; OpenVINO's GatherElements-6 rejects such indices. Throws
 * `unsupported-model` if the target requires equal sizes, and the sizes are unknown.
 */
export function cutData(
  row: OperatorVersion,
  { version, settings, inputs, trusted }: Meaning,
  { target, scope, additions }: GraphContext,
): string | undefined {
  const { data = "", indices = "" } = inputs;
  if (row.needsEqualAxes !== true || version.needsEqualAxes === true) return inputs.data;
  const selector = targetVersion("Gather", target);
  if (selector === null) return inputs.data;
  const [whole, part] = [data, indices].map((name) => scope.typeOf(name)?.shape ?? null);
  const unknown = (): Error =>
    refusal(
      `${versionTitle(row)} needs indices with the sizes of data except along the axis, and the sizes of ` +
        `${quote(data)} and ${quote(indices)} are not known to be equal; declare their shapes`,
    );
  if (whole === null || part === null) throw unknown();
  const own = normalizeAxis(Number(settings.axis), whole.length, {});
  let isCertain = true;
  let name = data;
  for (const [axis, size] of whole.entries()) {
    const { [axis]: dim } = part;
    if (axis === own || (dim === size && dim !== null)) continue;
    if (typeof size !== "number" || typeof dim !== "number") throw unknown();
    // Indices larger than data are an error, which a later type check reports.
    if (dim > size) continue;
    isCertain &&= certainShape(data, scope)?.[axis] === size;
    isCertain &&= certainShape(indices, scope)?.[axis] === dim;
    name = select(name, selector, axis, dim, additions);
  }
  if (!isCertain)
    trusted.add(onlyDeclared("shape", indices, `${quote(data)} was cut to fit this shape`));
  return name;
}

/**
 * Adds an OpenVINO Gather that selects the first `size` positions along one axis, and returns the name of its output.
 */
const select = (
  base: string,
  selector: OperatorVersion,
  axis: number,
  size: number,
  additions: Additions,
): string =>
  additions.added(base, "cut", [axis, size], (name) => {
    const counted = Array.from({ length: size }, (_, position) => position);
    const positions = additions.constant(base, `first_${size}`, () => int64([size], counted));
    const along = additions.constant(base, "axis", () => int64([], [axis]), axis);
    const common = { name, op: "Gather", domain: "openvino", opset: firstOpset(selector) };
    return { ...common, inputs: [base, positions, along], outputs: [name], attributes: {} };
  });

const int64 = (shape: readonly number[], values: readonly number[]): Tensor =>
  tensor("int64", shape, values.map(BigInt));
