/**
 * Uses of model inputs whose values must be chosen well: inputs that are indices, with the sizes of the axes that they
 * index, and inputs that a model compares with constants to select a branch. An input may reach the node directly, or
 * through operators that only move elements.
 */

import { recovering } from "../../core/errors.ts";
import { isOperator } from "../../core/operators/registry.ts";
import { normalizeAxis, normalizeBatchDims } from "../../core/operators/shapes.ts";
import { byRole } from "../../core/operators/signature.ts";
import { integerRange } from "../../core/tensor/dtype.ts";
import { partialShapeOf, type Dim } from "../../core/tensor/shape.ts";
import { familyCall, type KnownCall } from "../model/family.ts";
import { modelFrom, recordFrom } from "../model/foreign-model.ts";
import { findOpset } from "../model/graph.ts";
import { unknownInput } from "../model/inputs.ts";
import { readConstant, type Model } from "../model/model.ts";
import { walkSources, type Visited } from "./sources.ts";

/**
 * Returns the sizes of the axes that model inputs index. Values from 0 to size - 1 are valid indices. The sizes follow
 * from the model and the shapes of its inputs.
 *
 * Inputs are traced into the bodies of If, Loop and Scan, and into each function call. An axis of unknown size counts
 * as size 1.
 *
 * @param model a model of any format
 * @param shapes input shapes by name, which override the declared shapes
 * @returns for each input name, one size for all elements; if the last axis contains index tuples, one size per tuple
 * component. If several nodes use an input as indices, the smallest size counts. Inputs that are not indices are
 * absent.
 * @throws TensorError `malformed-file` for a value that is not a model, `shape-mismatch` and `rank` for an invalid
 * shape
 *
 * @example
 * ```ts
 * import { readFileSync } from "node:fs";
 *
 * const model = readModel(readFileSync("model.onnx"));
 * indexedSizes(model).get("ids"); // [4]
 * ```
 */
export function indexedSizes(
  model: Model,
  shapes: Readonly<Record<string, readonly number[]>> = {},
): ReadonlyMap<string, readonly number[]> {
  const sized = withShapes(modelFrom(model), recordFrom("shapes", shapes) as typeof shapes);
  const found = new Map<string, Sizes>();
  walkSources(sized, (visited) => {
    for (const { indices, sizes, areTuples } of usesOf(visited)) {
      const known = sizes.map((size) => (typeof size === "number" ? Math.max(1, size) : 1));
      for (const { input, isWhole } of visited.sourcesOf(indices))
        found.set(input, smaller(found.get(input), known, isWhole && areTuples));
    }
  });
  return new Map(
    [...found].map(([input, { all, parts }]) => [
      input,
      parts === null ? [all] : parts.map((part) => Math.min(part, all)),
    ]),
  );
}

function withShapes(model: Model, shapes: Readonly<Record<string, readonly number[]>>): Model {
  const names = model.graph.inputs.map(({ name }) => name);
  const unknown = Object.keys(shapes).find((name) => !names.includes(name));
  if (unknown !== undefined) throw unknownInput(unknown, names, "the model");
  const inputs = model.graph.inputs.map((one) => {
    if (one.type === null || !Object.hasOwn(shapes, one.name)) return one;
    // The memory limit is checked later, when the values are created.
    const shape = partialShapeOf(shapes[one.name], one.name, { input: one.name });
    return { ...one, type: { ...one.type, shape } };
  });
  return { ...model, graph: { ...model.graph, inputs } };
}

interface Sizes {
  /** The size of the smallest indexed axis. */
  readonly all: number;
  readonly parts: readonly number[] | null;
}

function smaller(known: Sizes | undefined, sizes: readonly number[], areParts: boolean): Sizes {
  const { all = Infinity, parts = null } = known ?? {};
  if (!areParts) return { all: Math.min(all, ...sizes), parts };
  return { all, parts: sizes.map((size, part) => Math.min(size, parts?.[part] ?? Infinity)) };
}

/** One use of a value as indices. */
interface IndexUse {
  readonly indices: string;
  /** The sizes of the indexed axes, with one size per tuple component. */
  readonly sizes: readonly Dim[];
  /** True if `sizes` has one entry per component of an index tuple. */
  readonly areTuples: boolean;
}

/** Returns how a scatter or gather uses its inputs as indices; empty for an invalid node, and for other operators. */
function usesOf({ node, place, scope }: Visited): readonly IndexUse[] {
  const opset = findOpset(place.opsets, node);
  if (opset === null || !isOperator(node)) return [];
  const use = (): readonly IndexUse[] => {
    const made = familyCall(
      node,
      opset,
      node.inputs.map((name) => scope.get(name).believed),
    );
    if (made === null) return [];
    const { call, isShapeKnown } = made;
    const { indices = "" } = byRole(call.version, node.inputs);
    if (indices === "") return [];
    return [{ indices, ...(isShapeKnown ? axesOf(call) : NO_SIZE) }];
  };
  return recovering(use, () => []);
}

const NO_SIZE = { sizes: [null], areTuples: false };

function axesOf({ version, settings, shapes }: KnownCall): Omit<IndexUse, "indices"> {
  const { data, indices, updates } = shapes;
  if (data === null || settings.axis === null) return NO_SIZE;
  if (version.indexForm === "tuples") {
    const first = indices === null ? 0 : normalizeBatchDims(settings.batchDims, indices);
    const length = indices?.at(-1);
    if (first === null) return NO_SIZE;
    return typeof length === "number"
      ? { sizes: data.slice(first, first + length), areTuples: true }
      : { sizes: data.slice(first), areTuples: false };
  }
  const axis = normalizeAxis(settings.axis, data.length, {});
  const { [axis]: size } = data;
  if (version.indexForm !== "sequences" || settings.mode === "circular" || updates === null)
    return { sizes: [size], areTuples: false };
  // The whole sequence must fit between its start position and the end of the axis.
  const { [axis]: length } = updates;
  const isKnown = typeof size === "number" && typeof length === "number";
  return { sizes: [isKnown ? size - length + 1 : null], areTuples: false };
}

/**
 * Returns the integers that a model compares its inputs with by `Equal`, such as the sample rates that a speech model
 * supports. Inputs are traced through operators and bodies as in `indexedSizes`.
 *
 * @param model a model of any format
 * @returns the single-element constants by input name, in node order. Inputs without comparisons are absent.
 * @throws TensorError `malformed-file` for a value that is not a model
 *
 * @example
 * ```ts
 * const model = buildModel({
 *   opsets: { "ai.onnx": 18 },
 *   inputs: { sr: { dtype: "int64", shape: [] } },
 *   constants: { rate: tensor("int64", [], 16000) },
 *   nodes: [{ op: "Equal", inputs: ["sr", "rate"], outputs: ["known"] }],
 *   outputs: { known: { dtype: "bool", shape: [] } },
 * });
 * comparedValues(model).get("sr"); // [16000n]
 * ```
 */
export function comparedValues(model: Model): ReadonlyMap<string, readonly bigint[]> {
  const found = new Map<string, bigint[]>();
  walkSources(modelFrom(model), (visited) => {
    const { node, sourcesOf } = visited;
    if (node.op !== "Equal" || node.domain !== "ai.onnx") return;
    for (const [at, name] of node.inputs.entries()) {
      const value = integerOf(visited, node.inputs[1 - at] ?? "");
      if (value === null) continue;
      for (const { input } of sourcesOf(name)) {
        const known = found.get(input) ?? [];
        if (!known.includes(value)) found.set(input, [...known, value]);
      }
    }
  });
  return found;
}

/**
 * Returns the element of a single-element integer constant; null for other values, and for a constant in another file.
 */
function integerOf({ scope }: Visited, name: string): bigint | null {
  const constant = scope.constantOf(name);
  if (constant === null || constant.dtype === null) return null;
  if (integerRange(constant.dtype) === null || constant.shape.some((dim) => dim !== 1)) return null;
  return recovering(
    () => BigInt(readConstant(constant).data[0] as number | bigint),
    () => null,
  );
}
