/** Reads a dropped file: a single tensor, or a model's scatters and gathers with their constant inputs. */

import {
  explain,
  type DialectId,
  type DType,
  type OperatorVersion,
  type TensorType,
} from "ndscatter";
import { roleOf, resolve } from "ndscatter/operators";
import type { Model, NodeIndex, Place, PlacedNode } from "ndscatter/onnx";
import { BIN } from "./file-kinds.ts";
import { readerOf } from "./external.ts";
import type { NamedFile } from "./npz.ts";
import { printNames } from "../values/names.ts";
import { checkShape } from "../values/limits.ts";
import { readState } from "../document/read-state.ts";
import type { State, TensorText } from "../values/state.ts";
import { textOf, zerosText } from "../values/tensor-text.ts";
import { attempt } from "../values/attempt.ts";
import { defaultText, dtypesOf, rolePosition } from "../values/schema.ts";

export type FileChoice =
  | { readonly kind: "tensor"; readonly title: string; readonly input: TensorText }
  | {
      readonly kind: "node";
      readonly title: string;
      readonly state: State;
      /** Remarks about facts that the file does not contain. */
      readonly remarks: readonly string[];
      /** Inputs that are zero because the file lacks their values. */
      readonly open?: readonly number[];
      /** The runtime's output for this node, if the test case contains the output. */
      readonly actual?: TensorText;
      /** The system that returned this output, if it is known. */
      readonly dialect?: DialectId;
    };

/** The choices that a file offers, with remarks, or the reason why the file offers none. */
export type FileContent =
  | { readonly choices: readonly FileChoice[]; readonly remarks: readonly string[] }
  | { readonly error: string };

/** The maximum number of choices, because users do not read longer lists. */
const MOST_CHOICES = 200;

const ENDINGS = [".npy", ".pb", ".onnx", ".xml"];

/**
 * Reads a file according to its extension. The function never throws, even if the file is damaged. The model readers
 * are loaded with the first model. `files` may hold the data of the model: the `.bin` file of an `.xml` file, or external
 * data. `given` holds tensors for named model values, in addition to the model's constants.
 */
export async function fromFile(
  name: string,
  bytes: Uint8Array,
  files: readonly NamedFile[] = [],
  given: Given = new Map(),
): Promise<FileContent> {
  const ending = /\.[^.]*$/.exec(name.toLowerCase())?.[0] ?? "";
  if (!ENDINGS.includes(ending)) {
    return { error: `the name ${JSON.stringify(name)} must end in one of ${ENDINGS.join(", ")}` };
  }
  if (ending === ".npy") {
    const { readNpy } = await import("ndscatter/npy");
    return attempt(() => tensorOf(name, textOf(readNpy(bytes), name)));
  }
  const tools = await import("./model-files.ts");
  return attempt(() => {
    if (ending === ".pb") return tensorOf(name, textOf(tools.readTensor(bytes), name));
    if (ending === ".onnx")
      return nodesOf(tools.readModel(bytes, { external: readerOf(files) }), tools, given);
    const bin = files.find((one) => BIN.test(one.name))?.bytes;
    return nodesOf(tools.readIR(bytes, bin), tools, given);
  });
}

export interface Given extends Pick<ReadonlyMap<string, TensorText>, "get"> {
  /** Receives the names of the model's inputs, before `get` is called. */
  begin?(inputs: readonly string[]): void;
}

const tensorOf = (title: string, input: TensorText): FileContent => ({
  choices: [{ kind: "tensor", title, input }],
  remarks: [],
});

type Tools = Pick<typeof import("./model-files.ts"), "inferTypes" | "NodeIndex" | "runNode">;

/** What the page knows about a model while it converts nodes to states. */
interface Known {
  readonly index: NodeIndex;
  readonly types: ReturnType<Tools["inferTypes"]>;
  readonly runNode: Tools["runNode"];
  readonly given: Given;
}

/** Lists the scatters and gathers of a model, its bodies and its functions. */
function nodesOf(
  model: Model,
  { inferTypes, NodeIndex, runNode }: Tools,
  given: Given,
): FileContent {
  const choices: FileChoice[] = [];
  const remarks: string[] = [];
  const { inputs, constants } = model.graph;
  const constant = new Set(constants.map(({ name }) => name));
  given.begin?.(inputs.map(({ name }) => name).filter((name) => !constant.has(name)));
  const index = new NodeIndex(model);
  const known: Known = { index, types: inferTypes(model), runNode, given };
  let count = 0;
  for (const placed of index.family) {
    const version = versionOf(placed);
    if (version === null || ++count > MOST_CHOICES) continue;
    const title = titleOf(placed, version);
    const made = attempt(() => stateOf(placed, version, known));
    if ("error" in made) remarks.push(`${title} is not shown: ${made.error}`);
    else choices.push({ kind: "node", title, ...made });
  }
  if (count > MOST_CHOICES) remarks.push(`${count - MOST_CHOICES} more nodes are not shown`);
  if (count > 0) return { choices, remarks };
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

function stateOf(
  placed: PlacedNode,
  version: OperatorVersion,
  known: Known,
): { state: State; remarks: string[]; open?: readonly number[] } {
  const { node, place } = placed;
  const remarks: string[] = [];
  const attributes: Record<string, string> = {};
  for (const [name, { type, value }] of Object.entries(node.attributes)) {
    if (type === "other") remarks.push(`the value of ${name} comes from the function's caller`);
    else if (typeof value === "object")
      remarks.push(`the attribute ${name}, of ${type}, is left out`);
    else if (String(value) !== defaultText(version, name)) attributes[name] = String(value);
  }
  const unknown = new Set<number>();
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
    unknown.add(position);
    return standIn(typeOf(place, name, known.types), version, position);
  });
  const state = withFittingUpdates(
    {
      domain: version.domain,
      op: version.name,
      opset: version.sinceVersion,
      attributes,
      inputs,
    },
    version,
    unknown,
  );
  if (unknown.size > 0)
    remarks.push(zerosRemark([...unknown].map((at) => version.inputs[at].name)));
  for (const at of unknown) {
    const remark = typeRemark(
      version.inputs[at].name,
      typeOf(place, node.inputs[at], known.types),
      state.inputs[at],
    );
    if (remark !== null) remarks.push(remark);
  }
  return { state, remarks, ...(unknown.size === 0 ? {} : { open: [...unknown] }) };
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

const ZEROS = "The model has no values for ";

export function zerosRemark(names: readonly string[]): string {
  const are = names.length === 1 ? "it is" : "they are";
  return `${ZEROS}${printNames(names)}, so ${are} zeros here. To see the real call, open the model together with .npy files of the node's inputs.`;
}

export const isZerosRemark = (sentence: string): boolean => sentence.startsWith(ZEROS);

/** Returns the tensor with this name if it is a model constant; null if it is an input or a computed value. */
function constantOf(place: Place, name: string, { index, runNode }: Known): TensorText | null {
  for (let at: Place | null = place; at !== null; at = at.outer) {
    const { constants, nodes, inputs } = at.graph;
    const constant = constants.find((one) => one.name === name);
    if (constant !== undefined) {
      // The shape is checked before the constant is read, because a large constant takes memory.
      checkShape(constant.shape, name);
      return textOf(constant.read(), name);
    }
    const maker = nodes.find(({ outputs }) => outputs.includes(name));
    if (maker !== undefined) {
      // A node that copies a computed value cannot be evaluated here.
      const made = INLINE.has(maker.op) ? attempt(() => runNode(index, maker, {})) : null;
      return made === null || "error" in made ? null : textOf(made[name], name);
    }
    if (inputs.some((one) => one.name === name)) return null;
  }
  return null;
}

/** Operators that create or forward constants. */
const INLINE: ReadonlySet<string> = new Set(["Constant", "Identity", "Convert"]);

/** Returns the known type of a value in a graph or an enclosing graph. */
function typeOf(place: Place, name: string, types: Known["types"]): TensorType | null {
  for (let at: Place | null = place; at !== null; at = at.outer) {
    const type = types.get([...at.path, name].join(" / "));
    if (type !== undefined) return type;
  }
  return null;
}

/** Returns zeros of a type. Each unknown dimension becomes 2. */
function standIn(type: TensorType | null, version: OperatorVersion, position: number): TensorText {
  const schema = version.inputs[position];
  const dtype: DType = type?.dtype ?? firstType(version, position);
  const shape = (type?.shape ?? (roleOf(schema) === "axis" ? [] : [2, 2])).map((dim) =>
    typeof dim === "number" ? dim : 2,
  );
  checkShape(shape, schema.name);
  return zerosText(dtype, shape);
}

const firstType = (version: OperatorVersion, position: number): DType => {
  const types = dtypesOf(version, version.inputs[position]);
  return types.find((one) => one === "float32" || one === "int64") ?? types[0];
};

/** Gives placeholder updates the shape that follows from data and indices. */
function withFittingUpdates(
  state: State,
  version: OperatorVersion,
  unknown: ReadonlySet<number>,
): State {
  const position = rolePosition(version, "updates");
  const updates = state.inputs[position];
  if (!unknown.has(position) || updates === undefined || updates === null) return state;
  const { node, inputs } = readState(state);
  const derived = explain(node, inputs).shapes.find(
    ({ of }) => of === version.inputs[position].name,
  );
  if (derived === undefined || derived.fits) return state;
  checkShape(derived.expected, version.inputs[position].name);
  return {
    ...state,
    inputs: state.inputs.with(position, zerosText(updates.dtype, derived.expected)),
  };
}
