/**
 * Finds exporter mistakes that involve several nodes. Each node is valid, but together the nodes compute something
 * different from the exported program. The sentences name the exporter and the fix.
 */

import { recovering } from "../../core/errors.ts";
import {
  nodeTitle,
  readConstant,
  type Constant,
  type Graph,
  type ModelNode,
} from "../model/model.ts";
import { quote } from "../model/graph.ts";
import type { Place, PlacedNode } from "../model/places.ts";
import type { Scope } from "../model/values.ts";
import { GraphUses } from "../model/uses.ts";
import { product } from "../../core/tensor/shape.ts";
import { finding, type Finding } from "./findings.ts";

/** The maximum size of a constant that is read to test whether all elements are zero. */
const MAX_READ = 2 ** 20;

export class Patterns {
  readonly #uses = new Map<Graph, GraphUses | null>();

  /**
   * Returns findings about the nodes around a scatter or gather. The parameter `repeats` is true if the indices are
   * constant and repeated.
   */
  of({ node, place }: PlacedNode, scope: Scope, repeats: boolean): readonly Finding[] {
    if (node.domain !== "ai.onnx") return [];
    const uses = this.#usesOf(place.graph);
    if (uses === null) return [];
    const around = { node, place, scope, uses };
    return [lostRepeats(around, repeats), lostMean(around), flattened(around)].filter(
      (found) => found !== null,
    );
  }

  /** Returns the producer and the users of each value in a graph; null for bodies nested too deeply to be read. */
  #usesOf(graph: Graph): GraphUses | null {
    const known = this.#uses.get(graph);
    if (known !== undefined) return known;
    const uses = recovering(
      () => new GraphUses(graph.nodes),
      () => null,
    );
    this.#uses.set(graph, uses);
    return uses;
  }
}

interface Around {
  readonly node: ModelNode;
  readonly place: Place;
  readonly scope: Scope;
  readonly uses: GraphUses;
}

const isPlainScatter = ({ op, attributes: { reduction } }: ModelNode): boolean =>
  op.startsWith("Scatter") && (reduction === undefined || reduction.value === "none");

/** Detects updates that are scattered into zeros and then added to another tensor, which loses repeated updates. */
function lostRepeats({ node, scope, uses }: Around, repeats: boolean): Finding | null {
  const [data = "", indices = ""] = node.inputs;
  const [output = ""] = node.outputs;
  const users = uses.usersOf(output);
  const [add] = users;
  if (!isPlainScatter(node) || users.length !== 1 || add.op !== "Add") return null;
  const isConstant = scope.constantOf(indices) !== null;
  if ((isConstant && !repeats) || !isZero(data, scope, uses)) return null;
  if (!isConstant && areUnique(indices, uses)) return null;
  const other = add.inputs.find((name) => name !== output) ?? "";
  const sentence =
    `its updates go into zeros, which ${nodeTitle(add)} adds to ${quote(other)}, so repeated updates are lost: only the last is added; ` +
    `torch.onnx's legacy exporter writes index_put(accumulate=True) and scatter_add like this; scatter into ${quote(other)} with the reduction add (opset 16)`;
  return finding("repeats-lost", sentence, { input: "indices" });
}

/** Detects a scatter of a constant whose targets are overwritten by a second scatter with the same indices. */
function lostMean({ node, scope, uses }: Around): Finding | null {
  const [data = "", indices = ""] = node.inputs;
  const first = uses.makers.get(data);
  if (first === undefined || !isPlainScatter(node) || !isPlainScatter(first)) return null;
  const isSame =
    first.op === node.op && first.inputs[1] === indices && axisOf(first) === axisOf(node);
  if (!isSame || uses.usersOf(data).length !== 1) return null;
  if (!isFill(first.inputs[2] ?? "", scope, uses)) return null;
  const sentence =
    `it overwrites all that ${nodeTitle(first)} writes, because both have the same indices and no reduction, so a mean is lost: only the last of repeated updates remains; ` +
    "torch.onnx writes scatter_reduce(mean, include_self=False) like this; scatter sums and counts with the reduction add, and divide them";
  return finding("mean-lost", sentence, { input: "indices" });
}

const axisOf = ({ attributes: { axis } }: ModelNode): number =>
  axis?.type === "int" ? Number(axis.value) : 0;

/** Detects a gather from a flattened tensor whose offsets include an unchecked last index of a tuple. */
function flattened({ node, place, scope, uses }: Around): Finding | null {
  const [data = "", indices = ""] = node.inputs;
  if (node.op !== "Gather" || axisOf(node) !== 0) return null;
  const maker = uses.makers.get(data);
  if (maker === undefined || (maker.op !== "Reshape" && maker.op !== "Flatten")) return null;
  const terms = originsOf(indices, uses, SUMS);
  const isMultiple = (name: string): boolean => uses.makers.get(name)?.op === "Mul";
  const last = terms.find((name) => !isMultiple(name));
  if (last === undefined || !terms.some(isMultiple)) return null;
  const input = inputOf(last, place, uses);
  if (input === null || scope.constantOf(input) !== null) return null;
  const sentence =
    `its indices are offsets in the flattened ${quote(data)}, computed from ${quote(input)}, so a negative index in ${quote(input)} takes an element of the previous row; ` +
    "torch.onnx's legacy exporter writes x[a, b] like this; use GatherND, which counts each index from the end of its own axis";
  return finding("indices-flattened", sentence, { input: "indices" });
}

/** Operators that only rearrange the elements of their first input. */
const ARRANGES: ReadonlySet<string> = new Set(
  "Cast Expand Flatten Identity Reshape Slice Squeeze Tile Transpose Unsqueeze".split(" "),
);

/** The maximum number of traced nodes. Exporters write a few nodes, and a hostile graph may contain a cycle. */
const MAX_STEPS = 256;

/** Returns the origins of a value. The operators in `combining` combine several values. */
function originsOf(name: string, uses: GraphUses, combining: ReadonlySet<string>): string[] {
  const origins: string[] = [];
  const open = [name];
  for (let step = 0; step < MAX_STEPS && open.length > 0; step++) {
    const origin = open.pop() ?? "";
    const { op = "", inputs = [] } = uses.makers.get(origin) ?? {};
    if (combining.has(op)) for (const input of inputs) open.push(input);
    else if (ARRANGES.has(op)) open.push(inputs[0] ?? "");
    else origins.push(origin);
  }
  return origins;
}

const originOf = (name: string, uses: GraphUses): string =>
  originsOf(name, uses, new Set())[0] ?? name;

function inputOf(name: string, { graph, kind }: Place, uses: GraphUses): string | null {
  const origin = originOf(name, uses);
  const isInput = kind.is === "model" && graph.inputs.some((one) => one.name === origin);
  return isInput ? origin : null;
}

const SUMS: ReadonlySet<string> = new Set(["Add"]);
/** Operators whose results contain no repeated values. */
const UNIQUE: ReadonlySet<string> = new Set(["NonZero", "Range", "TopK", "Unique"]);

const JOINS: ReadonlySet<string> = new Set(["Concat", "Gather"]);

/** Returns true if the indices certainly contain no repeated values. */
const areUnique = (name: string, uses: GraphUses): boolean =>
  originsOf(name, uses, JOINS).some((origin) => UNIQUE.has(uses.makers.get(origin)?.op ?? ""));

/** Returns true if every element is certainly 0. */
function isZero(name: string, scope: Scope, uses: GraphUses): boolean {
  const origin = originOf(name, uses);
  const constant = scope.constantOf(origin);
  if (constant !== null) return isZeroConstant(constant);
  const maker = uses.makers.get(origin);
  if (maker?.op !== "ConstantOfShape") return false;
  const { value } = maker.attributes;
  return value?.type !== "tensor" || isZeroConstant(value.value);
}

function isFill(name: string, scope: Scope, uses: GraphUses): boolean {
  const origin = originOf(name, uses);
  const constant = scope.constantOf(origin);
  if (constant !== null) return product(constant.shape) === 1 || isZeroConstant(constant);
  return uses.makers.get(origin)?.op === "ConstantOfShape";
}

function isZeroConstant(constant: Constant): boolean {
  if (constant.dtype === null || constant.dtype === "string" || product(constant.shape) > MAX_READ)
    return false;
  try {
    return Array.prototype.every.call(
      readConstant(constant).data,
      (one: unknown) => Number(one) === 0,
    );
  } catch {
    // Only constants that are entirely zero matter here, so a constant with unreadable external data is skipped.
    return false;
  }
}
