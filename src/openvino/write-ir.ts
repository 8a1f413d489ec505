/**
 * The plain `Model` into an IR: over what the model's file said, where it came from one, else afresh. Layers are numbered
 * anew and the `.bin` is made anew; the rest of what a layer held is kept.
 */

import { TensorError } from "../errors.ts";
import { elementTypeOf } from "../model/element-type.ts";
import { checkGraph, opsetOf } from "../model/graph.ts";
import {
  nodeTitle,
  SOURCE,
  type Attribute,
  type Constant,
  type Model,
  type ModelNode,
  type ValueInfo,
} from "../model/model.ts";
import type { TensorType } from "../operators/operator.ts";
import { pack } from "../tensor/packing.ts";
import { isNumericStorage } from "../tensor/dtype.ts";
import { DOMAIN, printVersion, rowOf, valueKind } from "./layer-types.ts";
import {
  parseShape,
  printShapeText,
  readPort,
  sameDims,
  sameType,
  writePort,
} from "./port-type.ts";
import {
  defaultName,
  IS_LAYERS,
  LayerSource,
  NetSource,
  placeOf,
  readPlace,
  splitNames,
} from "./read-ir.ts";
import { element, printXml, type Element } from "./xml.ts";

/** The two files of an IR. */
export interface IR {
  readonly xml: string;
  readonly bin: Uint8Array;
}

/** The versions of files that are written. */
const VERSIONS: readonly number[] = [10, 11];

/** No element is wider, so that every constant can be looked at in place. */
const ALIGNMENT = 8;

/**
 * The text of an `.xml` and the bytes of its `.bin`. A model that was read by `readIR` is written with what its file held
 * beside what `Model` shows, and with the changes made since; dimensions that were ranges stay ranges where they were not
 * changed. The producer and the names of dimensions are lost: an IR has none.
 *
 * @throws TensorError `malformed-file` for a graph that is not sound; `unsupported-model` for what an IR cannot say: a
 * version other than 10 and 11, a domain other than openvino, inputs with a default or left out, lists of texts or tensors
 * as attributes, an input without a type; `dtype` for data types that OpenVINO has not; `too-large`.
 */
export function writeIR(model: Model): IR {
  if (!VERSIONS.includes(model.irVersion)) {
    throw unsupported(
      `an IR is of version ${VERSIONS.join(" or ")}, but irVersion is ${String(model.irVersion)}`,
    );
  }
  checkGraph(model.graph);
  return new Writer(model).finish();
}

const unsupported = (sentence: string): TensorError =>
  new TensorError("unsupported-model", sentence);

/** Where a value comes from, and its type as far as it is known. */
interface Made {
  readonly layer: number;
  readonly port: number;
  readonly type: TensorType | null;
}

class Writer {
  readonly #model: Model;
  readonly #declared: ReadonlyMap<string, TensorType | null>;
  readonly #made = new Map<string, Made>();
  readonly #layers: Element[] = [];
  readonly #edges: Element[] = [];
  readonly #chunks: Uint8Array[] = [];
  #length = 0;

  constructor(model: Model) {
    const { values = [], outputs } = model.graph;
    this.#model = model;
    this.#declared = new Map([...outputs, ...values].map(({ name, type }) => [name, type]));
  }

  finish(): IR {
    const { graph, irVersion, [SOURCE]: source } = this.#model;
    const defaults = new Set(graph.constants.map(({ name }) => name));
    for (const input of graph.inputs) {
      if (defaults.has(input.name)) {
        throw unsupported(`the input ${quote(input.name)} has a default, which an IR cannot say`);
      }
      this.#addParameter(input);
    }
    for (const one of graph.constants) this.#addConst(one);
    for (const node of graph.nodes) this.#addNode(node);
    for (const output of graph.outputs) this.#addResult(output);

    const net = source instanceof NetSource ? source.element : element("net");
    const attributes = new Map(net.attributes)
      .set("name", graph.name)
      .set("version", String(irVersion));
    const others = net.children.filter(({ name }) => name !== "layers" && name !== "edges");
    const parts = [element("layers", [], this.#layers), element("edges", [], this.#edges)];
    return { xml: printXml(element("net", attributes, [...parts, ...others])), bin: this.#bin() };
  }

  #addParameter({ name, type, [SOURCE]: source }: ValueInfo): void {
    const before = source instanceof LayerSource ? source : null;
    const was = before === null ? undefined : dataOf(before.element);
    const elementType = type === null ? was?.get("element_type") : elementTypeName(type, name);
    if (elementType === undefined) {
      throw unsupported(`the input ${quote(name)} has no type, which an IR must say`);
    }
    const text = was?.get("shape");
    const isKept =
      text !== undefined && (type === null || sameDims(parseShape(text, quote(name)), type.shape));
    const shape = isKept ? text : printShapeText(type?.shape ?? null);
    this.#addLayer(
      "Parameter",
      "opset1",
      before,
      before?.layerName ?? name,
      new Map(was).set("element_type", elementType).set("shape", shape),
      [],
      [[name, type]],
    );
  }

  #addConst(one: Constant): void {
    const { name, dtype, shape } = one;
    const source = one[SOURCE] instanceof LayerSource ? one[SOURCE] : null;
    const was = source === null ? undefined : dataOf(source.element);
    const elementType =
      dtype === null ? was?.get("element_type") : elementTypeName({ dtype, shape }, name);
    if (elementType === undefined) {
      throw unsupported(`the constant ${quote(name)} is of a data type that is not known here`);
    }
    const bytes =
      source === null || was === undefined
        ? packConstant(one)
        : bytesOf(was, source, `the constant ${quote(name)}`);
    this.#addLayer(
      "Const",
      "opset1",
      source,
      source?.layerName ?? name,
      new Map(was)
        .set("element_type", elementType)
        .set("shape", printShapeText(shape))
        .set("offset", String(this.#append(bytes)))
        .set("size", String(bytes.length)),
      [],
      [[name, dtype && { dtype, shape }]],
    );
  }

  #addNode(node: ModelNode): void {
    const { name, op, domain, inputs, outputs, attributes } = node;
    const opset = opsetOf(this.#model, node);
    const version = printVersion(op, domain, opset);
    if (version === null) {
      throw unsupported(
        `${nodeTitle(node)} is of ${domain}, but an IR holds operators of openvino`,
      );
    }
    const source = node[SOURCE] instanceof LayerSource ? node[SOURCE] : null;
    const omitted = inputs.indexOf("");
    if (omitted !== -1) {
      throw unsupported(`${nodeTitle(node)} leaves input ${omitted} out, which an IR cannot say`);
    }
    // Bodies are kept with the rest of their layer.
    const isKept = (key: string): boolean =>
      source?.element.children.some((child) => child.name === key) ?? false;
    const data = Object.entries(attributes)
      .filter(([key, { type }]) => type !== "other" || !isKept(key))
      .map(([key, attribute]) => [key, printAttribute(key, attribute, node)] as const);
    const guess = this.#guessType(node, opset);
    this.#addLayer(
      op,
      version,
      source,
      name === "" ? (outputs[0] ?? op) : name,
      new Map(data),
      inputs,
      outputs.map((value) => [value, this.#declared.get(value) ?? guess]),
    );
  }

  /** What the operator's row says of the type of a first output that no one declared. */
  #guessType({ op, domain, inputs }: ModelNode, opset: number): TensorType | null {
    const row = domain === DOMAIN ? rowOf(op, opset) : undefined;
    const position = row?.inputs.findIndex(({ type }) => type === row.outputs[0].type) ?? -1;
    const like = position === -1 ? null : (this.#made.get(inputs[position])?.type ?? null);
    return like && { dtype: like.dtype, shape: null };
  }

  #addResult({ name, [SOURCE]: source }: ValueInfo): void {
    const before = source instanceof LayerSource ? source : null;
    const layerName = before?.layerName ?? `${name}/sink_port_0`;
    this.#addLayer("Result", "opset1", before, layerName, new Map(), [name], []);
  }

  #addLayer(
    type: string,
    version: string,
    source: LayerSource | null,
    name: string,
    data: ReadonlyMap<string, string>,
    inputs: readonly string[],
    outputs: readonly (readonly [string, TensorType | null])[],
  ): void {
    const id = this.#layers.length;
    const was = source?.element;
    const before = { inputs: portsOf(was, "input"), outputs: portsOf(was, "output") };
    const attributes = new Map([
      ["id", String(id)],
      ["name", name],
      ["type", type],
      ["version", version],
      ...[...(was?.attributes ?? [])].filter(([key]) => !IS_LAYERS.has(key)),
    ]);
    const inputPorts = inputs.map((value, port) => {
      const made = this.#madeOf(value);
      this.#edges.push(edge(made, id, port));
      return portElement(port, made.type, before.inputs[port]);
    });
    const outputPorts = outputs.map(([value, valueType], position) => {
      const port = inputs.length + position;
      this.#made.set(value, { layer: id, port, type: valueType });
      const part = portElement(port, valueType, before.outputs[position]);
      return named(part, value, defaultName(name, position, outputs.length));
    });
    const parts = new Map<string, readonly Element[]>([
      ["data", data.size === 0 ? [] : [element("data", data)]],
      ["input", inputPorts.length === 0 ? [] : [element("input", [], inputPorts)]],
      ["output", outputPorts.length === 0 ? [] : [element("output", [], outputPorts)]],
    ]);
    const others = was?.children.filter((child) => !parts.has(child.name)) ?? [];
    const moved = source === null ? [] : others.map((part) => this.#moveBody(part, source));
    this.#layers.push(element("layer", attributes, [...[...parts.values()].flat(), ...moved]));
  }

  /** A part of a layer with the constants of bodies in it, which name places in the `.bin` of the file. */
  #moveBody(part: Element, source: LayerSource): Element {
    const data = dataOf(part);
    const isConst = valueKind(part.attributes.get("type") ?? "") === "Const";
    if (part.name !== "layer" || !isConst || data === undefined) {
      return { ...part, children: part.children.map((child) => this.#moveBody(child, source)) };
    }
    const who = `a constant in the body of ${quote(source.layerName)}`;
    const offset = this.#append(bytesOf(data, source, who));
    const attributes = new Map(data).set("offset", String(offset));
    const children = part.children.map((child) =>
      child.name === "data" ? { ...child, attributes } : child,
    );
    return { ...part, children };
  }

  #madeOf(value: string): Made {
    const made = this.#made.get(value);
    if (made === undefined) throw unsupported(`nothing makes ${quote(value)}`);
    return made;
  }

  /** Where in the `.bin` the bytes will be. */
  #append(bytes: Uint8Array): number {
    const offset = Math.ceil(this.#length / ALIGNMENT) * ALIGNMENT;
    this.#chunks.push(new Uint8Array(offset - this.#length), bytes);
    this.#length = offset + bytes.length;
    return offset;
  }

  #bin(): Uint8Array {
    let bin: Uint8Array;
    try {
      bin = new Uint8Array(this.#length);
    } catch (cause) {
      const sentence = `the .bin has ${this.#length} bytes, more than memory holds`;
      throw new TensorError("too-large", sentence, {}, { cause });
    }
    let at = 0;
    for (const chunk of this.#chunks) {
      bin.set(chunk, at);
      at += chunk.length;
    }
    return bin;
  }
}

const quote = (name: string): string => JSON.stringify(name);

function elementTypeName({ dtype }: TensorType, name: string): string {
  const elementType = elementTypeOf(dtype);
  if (elementType !== null) return elementType;
  throw new TensorError("dtype", `${quote(name)} is ${dtype}, which OpenVINO has not`, {
    input: name,
  });
}

function packConstant(one: Constant): Uint8Array {
  const { dtype, data } = one.read();
  if (isNumericStorage(data)) return pack(dtype, data);
  throw new TensorError("dtype", `the constant ${quote(one.name)} is text`, { input: one.name });
}

/** The attributes of a layer's `data`. */
const dataOf = (layer: Element): ReadonlyMap<string, string> | undefined =>
  layer.children.find(({ name }) => name === "data")?.attributes;

/** The bytes that a file has for a constant, whatever its data type. */
const bytesOf = (
  data: ReadonlyMap<string, string>,
  { bin }: LayerSource,
  who: string,
): Uint8Array => readPlace(placeOf(data, bin, who), bin, who);

function printAttribute(name: string, attribute: Attribute, node: ModelNode): string {
  switch (attribute.type) {
    case "int":
    case "float":
    case "string":
    case "boolean":
      return String(attribute.value);
    case "ints":
    case "floats":
      return attribute.value.join(",");
    default:
      throw new TensorError(
        "unsupported-model",
        `attribute ${quote(name)} of ${nodeTitle(node)} is of type ${attribute.type}, which an IR cannot say`,
        { op: node.op },
      );
  }
}

const portsOf = (layer: Element | undefined, side: string): readonly Element[] =>
  layer?.children.find(({ name }) => name === side)?.children ?? [];

/** A port as the file had it, where that says the same of its type: it may say what is not shown here. */
function portElement(id: number, type: TensorType | null, before: Element | undefined): Element {
  if (before === undefined || !saysSame(readPort(before, "a port"), type))
    return writePort(id, type);
  const attributes = new Map(before.attributes).set("id", String(id));
  return { ...before, attributes };
}

/** A port says no rank, or that of a scalar, by having no dimensions. */
const saysSame = (port: TensorType | null, type: TensorType | null): boolean =>
  sameType(port, type) ||
  (port !== null && port.shape === null && port.dtype === type?.dtype && type.shape?.length === 0);

/** A port with the name of its value, where the layer's does not say it. */
function named(port: Element, value: string, byDefault: string): Element {
  const [first = byDefault] = splitNames(port.attributes.get("names") ?? "");
  if (first === value || value === "") return port;
  const attributes = new Map(port.attributes).set("names", value.replaceAll(",", "\\,"));
  return { ...port, attributes };
}

const edge = (from: Made, layer: number, port: number): Element =>
  element("edge", [
    ["from-layer", String(from.layer)],
    ["from-port", String(from.port)],
    ["to-layer", String(layer)],
    ["to-port", String(port)],
  ]);
