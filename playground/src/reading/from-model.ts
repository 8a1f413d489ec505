/**
 * Reads a model's scatters and gathers. Their inputs are the model's constants, and tensors from files that were opened
 * with it, such as the output of `ndscatter capture`: a model `node.onnx`, a `.npy` file named after each input, and the
 * runtime's output `runtime.0.npy` if the runtime succeeded.
 */

import type { OperatorVersion, TensorType } from "ndscatter";
import { roleOf, resolve } from "ndscatter/operators";
import type { Model, NodeIndex, Place, PlacedNode } from "ndscatter/onnx";
import { BIN, lastOf, MODEL, ONNX, TENSOR } from "./file-kinds.ts";
import { readerOf } from "./external.ts";
import { assigned, withAssignment, type NamedTensor } from "./named.ts";
import type { Choice, Content, Refusal } from "./offer.ts";
import { textsIn, type NamedFile } from "./tensor-files.ts";
import { printNames } from "../values/names.ts";
import { checkShape } from "../values/limits.ts";
import { fitted } from "../document/with-operator.ts";
import type { State, TensorText } from "../values/state.ts";
import { textOf, zerosText } from "../values/tensor-text.ts";
import { attempt } from "../values/attempt.ts";
import { defaultText, dtypesOf, rolePosition } from "../values/schema.ts";

/** The maximum number of choices, because users do not read longer lists. */
const MOST_CHOICES = 200;

type Tools = typeof import("./model-files.ts");

/**
 * Returns the nodes of the only model among the files. The node of a single-node model also gets the runtime's output.
 * Unused tensors are named in the remarks. The function never rejects, even if the files are damaged.
 */
export async function fromModel(files: readonly NamedFile[]): Promise<Content | Refusal> {
  const file = files.find(({ name }) => MODEL.test(name));
  if (file === undefined) return { error: "the files do not include a model" };
  const { tensors, remarks } = await textsIn(files.filter(({ name }) => TENSOR.test(name)));
  const tools = await import("./model-files.ts");
  const bin = files.find(({ name }) => BIN.test(name))?.bytes;
  return attempt(() => {
    const model = ONNX.test(file.name)
      ? tools.readModel(file.bytes, { external: readerOf(files) })
      : tools.readIR(file.bytes, bin);
    const given = new Given(model, lastOf(file.name).replace(MODEL, ""), tensors);
    const found = nodesOf(model, tools, given);
    return "error" in found
      ? found
      : { ...found, remarks: [...remarks, ...given.unused(), ...found.remarks] };
  });
}

/**
 * Returns the file names, without extensions, that the tensor of a model's value may have. `number` is the position
 * among the model's inputs, or -1. `stem` is the file name of the model without its extension.
 */
export function spellingsOf(name: string, number: number, stem: string): readonly string[] {
  const safe = name.replaceAll(/[^\w.-]/g, "_");
  const own = [name, safe, `${stem}.${name}`, `${stem}_${name}`, `${stem}-${name}`];
  return number === -1 ? own : [...own, `input_${number}`];
}

/** The names of a runtime's first output, in files of `ndscatter capture` and in an ONNX test folder. */
const OUTPUTS = ["runtime.0", "output_0"];

/** The tensors that were opened with a model. This class records which of them are used. */
class Given {
  readonly inputs: readonly string[];
  readonly stem: string;
  readonly left: Set<NamedTensor>;
  readonly tensors: readonly NamedTensor[];

  constructor(
    { graph: { inputs, constants } }: Model,
    stem: string,
    tensors: readonly NamedTensor[],
  ) {
    const constant = new Set(constants.map(({ name }) => name));
    this.inputs = inputs.map(({ name }) => name).filter((name) => !constant.has(name));
    this.stem = stem;
    this.tensors = tensors;
    this.left = new Set(tensors);
  }

  take(names: readonly string[]): TensorText | undefined {
    const found = this.tensors.find(({ name }) => names.includes(name));
    if (found !== undefined) this.left.delete(found);
    return found?.input;
  }

  /** Returns the tensor of a model's value. */
  get = (name: string): TensorText | undefined =>
    this.take(spellingsOf(name, this.inputs.indexOf(name), this.stem));

  unused = (): string[] =>
    [...this.left].map(({ name }) =>
      this.inputs.includes(name)
        ? `None of these nodes reads the model's input ${name} directly.`
        : `No node has an input ${name}, so the file is not used.`,
    );
}

/** What the page knows about a model while it converts nodes to states. */
interface Known extends Pick<Tools, "runNode"> {
  readonly index: NodeIndex;
  readonly types: ReturnType<Tools["inferTypes"]>;
  readonly given: Given;
}

/** Lists the scatters and gathers of a model, its bodies and its functions. */
function nodesOf(model: Model, tools: Tools, given: Given): Content | Refusal {
  const choices: Choice[] = [];
  const remarks: string[] = [];
  const index = new tools.NodeIndex(model);
  const { runNode } = tools;
  const known = { index, types: tools.inferTypes(model), runNode, given };
  const nodes = index.family.flatMap((placed) => {
    const version = versionOf(placed);
    return version === null ? [] : [{ placed, version }];
  });
  const isOnly = nodes.length === 1;
  for (const { placed, version } of nodes.slice(0, MOST_CHOICES)) {
    const title = titleOf(placed, version);
    const made = attempt(() => stateOf(placed, version, known, isOnly));
    if ("error" in made) remarks.push(`${title} is not shown: ${made.error}`);
    else choices.push({ kind: "node", title, ...made });
  }
  // A test case has a single node, which produced the runtime's output.
  const actual = isOnly ? given.take(OUTPUTS) : undefined;
  if (nodes.length > MOST_CHOICES)
    remarks.push(`${nodes.length - MOST_CHOICES} more nodes are not shown`);
  if (nodes.length > 0) {
    return { choices: choices.map((one) => (actual ? { ...one, actual } : one)), remarks };
  }
  const others = [...new Set(index.nodes.map(({ node }) => node.op))].slice(0, 20).join(", ");
  return {
    error: `the model has no scatter or gather that the page supports${others === "" ? "" : `, only ${others}`}`,
  };
}

function versionOf({ node, place }: PlacedNode): OperatorVersion | null {
  const { domain, op, opset = place.opsets[domain] } = node;
  const found = attempt(() => ({ version: resolve({ domain, op, opset }) }));
  return "version" in found ? found.version : null;
}

/**
 * Returns a title such as `ScatterND-18 "update the cache" in Loop "steps" / body`. An unnamed node is titled by its
 * output.
 */
function titleOf(
  { node: { name, outputs }, place }: PlacedNode,
  { name: op, sinceVersion }: OperatorVersion,
): string {
  const where = place.path.length === 0 ? "" : ` in ${place.path.join(" / ")}`;
  return `${op}-${sinceVersion} ${JSON.stringify(name || (outputs[0] ?? ""))}${where}`;
}

/** Returns a node's call. The unknown inputs of the only node are the tensors that are left, if it is clear which. */
function stateOf(
  { node, place }: PlacedNode,
  version: OperatorVersion,
  known: Known,
  isOnly: boolean,
): { state: State; remarks: string[] } {
  const remarks: string[] = [];
  const attributes: Record<string, string> = {};
  for (const [name, { type, value }] of Object.entries(node.attributes)) {
    if (type === "other") remarks.push(`the value of ${name} comes from the function's caller`);
    else if (typeof value === "object")
      remarks.push(`the attribute ${name}, of ${type}, is left out`);
    else if (String(value) !== defaultText(version, name)) attributes[name] = String(value);
  }
  const unknown: number[] = [];
  const inputs = version.inputs.map((schema, position): TensorText | null => {
    const name = node.inputs[position] ?? "";
    if (name === "") {
      if (schema.optional !== true) remarks.push(`${schema.name} is left out in the model`);
      return null;
    }
    const value = attempt(() => ({
      value: known.given.get(name) ?? constantOf(place, name, known),
    }));
    if ("error" in value) remarks.push(`${schema.name} cannot be read: ${value.error}`);
    else if (value.value !== null) return value.value;
    unknown.push(position);
    return standIn(typeOf(place, name, known.types), version, schema);
  });
  const { domain, name: op, sinceVersion: opset } = version;
  const bare = { domain, op, opset, attributes, inputs };
  // Placeholder updates get the shape that follows from data and indices.
  const isOpen = unknown.includes(rolePosition(version, "updates"));
  const added = isOpen ? fitted(bare) : null;
  const fitting = added?.role === "updates" ? added.state : bare;
  const filled = isOnly ? withTensors(fitting, known.given, unknown) : null;
  const { state, open } = filled ?? { state: fitting, open: unknown };
  if (open.length > 0) remarks.push(zerosRemark(open.map((at) => version.inputs[at].name)));
  for (const at of open) {
    const type = typeOf(place, node.inputs[at], known.types);
    const remark = typeRemark(version.inputs[at].name, type, state.inputs[at]);
    if (remark !== null) remarks.push(remark);
  }
  return { state, remarks: [...(filled?.remarks ?? []), ...remarks] };
}

/** Uses all tensors that are left as inputs; null if names and shapes are ambiguous. */
function withTensors(state: State, { left }: Given, unknown: readonly number[]) {
  const tensors = [...left].filter(({ name }) => !OUTPUTS.includes(name));
  if (tensors.length === 0 || unknown.length === 0) return null;
  const { assignment, isSure } = assigned(tensors, state, unknown);
  if (!isSure) return null;
  for (const one of tensors) left.delete(one);
  const open = unknown.filter((position) => (assignment[position] ?? null) === null);
  return { ...withAssignment(state, tensors, assignment), open };
}

/** Describes a type that the model leaves open; null for a type that the model determines. */
function typeRemark(
  name: string,
  type: TensorType | null,
  shown: TensorText | null,
): string | null {
  if (shown === null || type?.shape?.every((dim) => typeof dim === "number") === true) return null;
  const what = `${shown.dtype} [${shown.shape.join(", ")}]`;
  const known = type?.shape?.map((dim) => dim ?? "?").join(", ");
  return known === undefined
    ? `The ${type === null ? "type" : "shape"} of ${name} is unknown; ${what} stands for it.`
    : `${name} is ${shown.dtype} [${known}] in the model; ${what} stands for it.`;
}

function zerosRemark(names: readonly string[]): string {
  const are = names.length === 1 ? "it is" : "they are";
  return `The model has no values for ${printNames(names)}, so ${are} zeros here. To see the real call, open the model together with .npy files of the node's inputs.`;
}

/** Returns a graph and the graphs around it. */
const around = (place: Place | null): Place[] =>
  place === null ? [] : [place, ...around(place.outer)];

/** Returns the tensor with this name if it is a model constant; null if it is an input or a computed value. */
function constantOf(place: Place, name: string, { index, runNode }: Known): TensorText | null {
  for (const { graph } of around(place)) {
    const constant = graph.constants.find((one) => one.name === name);
    if (constant !== undefined) {
      // The shape is checked before the constant is read, because a large constant takes memory.
      checkShape(constant.shape, name);
      return textOf(constant.read(), name);
    }
    const maker = graph.nodes.find(({ outputs }) => outputs.includes(name));
    if (maker !== undefined) {
      // A node that copies a computed value cannot be evaluated here.
      const made = INLINE.has(maker.op) ? attempt(() => runNode(index, maker, {})) : null;
      return made === null || "error" in made ? null : textOf(made[name], name);
    }
    if (graph.inputs.some((one) => one.name === name)) return null;
  }
  return null;
}

/** Operators that create or forward constants. */
const INLINE: ReadonlySet<string> = new Set(["Constant", "Identity", "Convert"]);

/** Returns the known type of a value in a graph or an enclosing graph. */
const typeOf = (place: Place, name: string, types: Known["types"]): TensorType | null =>
  around(place)
    .map(({ path }) => types.get([...path, name].join(" / ")))
    .find((type) => type !== undefined) ?? null;

/** Returns zeros of a type. Each unknown dimension becomes 2. */
function standIn(
  type: TensorType | null,
  version: OperatorVersion,
  schema: OperatorVersion["inputs"][number],
): TensorText {
  const types = dtypesOf(version, schema);
  const usual = types.find((one) => one === "float32" || one === "int64") ?? types[0];
  const shape = (type?.shape ?? (roleOf(schema) === "axis" ? [] : [2, 2])).map((dim) =>
    typeof dim === "number" ? dim : 2,
  );
  checkShape(shape, schema.name);
  return zerosText(type?.dtype ?? usual, shape);
}
