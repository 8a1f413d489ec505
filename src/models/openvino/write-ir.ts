/**
 * Writes the plain `Model` as an IR. The layers get new numbers, and the `.bin` is written anew. Layers from an IR keep
 * all other data.
 */

import { TensorError } from "../../core/errors.ts";
import { joinBytes } from "../model/byte-source.ts";
import { elementTypeOf } from "../model/element-type.ts";
import { modelFrom } from "../model/foreign-model.ts";
import { checkGraph, opsetOf, quote } from "../model/graph.ts";
import {
  nodeTitle,
  readConstant,
  SOURCE,
  type Attribute,
  type Constant,
  type Model,
  type ModelNode,
  type ValueInfo,
} from "../model/model.ts";
import { sameDims, sameType } from "../model/known.ts";
import type { TensorType } from "../../core/operators/operator.ts";
import { pack } from "../../core/tensor/storage.ts";
import { isNumericStorage } from "../../core/tensor/dtype.ts";
import { keptBodies } from "./bodies.ts";
import { DOMAIN, operatorRow, printVersion, valueKind } from "./layer-types.ts";
import { defaultName, printNames } from "./names.ts";
import { NET_VERSIONS } from "./net.ts";
import { parseShapeText, printShapeText, readPort, writePort } from "./port-type.ts";
import { binRange, IRSource, LAYER_ATTRIBUTES, readBin } from "./read-ir.ts";
import { packStrings } from "./strings.ts";
import { element, printXml, type Element } from "./xml.ts";

/** The two files of an IR. */
export interface IR {
  readonly xml: string;
  readonly bin: Uint8Array;
}

/**
 * The alignment of constants in the `.bin`, in bytes. The alignment equals the size of the widest element, so that
 * readers can use every constant in place.
 */
const BIN_ALIGNMENT = 8;

/**
 * Writes a model as the text of an `.xml` and the bytes of its `.bin`. For a model from `readIR`, the output contains
 * all file data that `Model` does not represent, and all later changes. Dimensions that were ranges stay ranges unless
 * they were changed. The producer and dimension names are lost, because an IR cannot store them.
 *
 * @param given an OpenVINO model, as from `readIR` or `convertModel`
 * @throws TensorError `malformed-file` for an inconsistent graph; `unsupported-model` for parts that an IR cannot
 * express: a version other than 10 and 11, a domain other than openvino, omitted inputs and inputs with a default,
 * lists of texts or tensors in attributes, an input without a type; `dtype` for data types that OpenVINO lacks;
 * `too-large` if memory is exhausted
 *
 * @example
 * ```ts
 * import { readFileSync, writeFileSync } from "node:fs";
 * import { readModel } from "ndscatter/onnx";
 *
 * const { model } = convertModel(readModel(readFileSync("model.onnx")), { domain: "openvino" });
 * const { xml, bin } = writeIR(model);
 * writeFileSync("converted.xml", xml);
 * writeFileSync("converted.bin", bin);
 * console.log(xml.includes('type="ScatterNDUpdate"')); // true
 * ```
 */
export function writeIR(given: Model): IR {
  const model = modelFrom(given);
  if (!NET_VERSIONS.includes(model.irVersion)) {
    throw unsupported(
      `an IR is of version ${NET_VERSIONS.join(" or ")}, but irVersion is ${String(model.irVersion)}`,
    );
  }
  checkGraph(model.graph);
  return new IRWriter(model).finish();
}

const unsupported = (sentence: string): TensorError =>
  new TensorError("unsupported-model", sentence);

const irSource = (source: unknown): IRSource | null => (source instanceof IRSource ? source : null);

interface Producer {
  readonly layer: number;
  readonly port: number;
  readonly type: TensorType | null;
}

class IRWriter {
  readonly #model: Model;
  readonly #declared: ReadonlyMap<string, TensorType | null>;
  readonly #values: ReadonlySet<string>;
  readonly #producers = new Map<string, Producer>();
  readonly #layers: Element[] = [];
  readonly #edges: Element[] = [];
  readonly #chunks: Uint8Array[] = [];
  #length = 0;

  constructor(model: Model) {
    const { values = [], outputs, inputs, constants, nodes } = model.graph;
    this.#model = model;
    this.#values = new Set([
      ...[...inputs, ...constants].map(({ name }) => name),
      ...nodes.flatMap((node) => node.outputs),
    ]);
    this.#declared = new Map([...outputs, ...values].map(({ name, type }) => [name, type]));
  }

  finish(): IR {
    const { graph, irVersion, [SOURCE]: file } = this.#model;
    const defaults = new Set(graph.constants.map(({ name }) => name));
    for (const input of graph.inputs) {
      if (defaults.has(input.name)) {
        const sentence = `the input ${quote(input.name)} has a default, which an IR cannot express`;
        throw unsupported(sentence);
      }
      this.#addParameter(input);
    }
    for (const one of graph.constants) this.#addConst(one);
    for (const node of graph.nodes) this.#addNode(node);
    for (const output of graph.outputs) this.#addResult(output);

    const net = irSource(file)?.element ?? element("net");
    const attributes = new Map(net.attributes)
      .set("name", graph.name)
      .set("version", String(irVersion));
    const others = net.children.filter(({ name }) => name !== "layers" && name !== "edges");
    const parts = [element("layers", [], this.#layers), element("edges", [], this.#edges)];
    return { xml: printXml(element("net", attributes, [...parts, ...others])), bin: this.#bin() };
  }

  #addParameter({ name, type, [SOURCE]: file }: ValueInfo): void {
    const source = irSource(file);
    const was = source && dataAttributes(source.element);
    const elementType = type === null ? was?.get("element_type") : elementTypeName(type, name);
    if (elementType === undefined) {
      throw unsupported(`the input ${quote(name)} has no type, which an IR requires`);
    }
    const text = was?.get("shape");
    const isKept =
      text !== undefined &&
      (type === null || sameDims(parseShapeText(text, quote(name)), type.shape));
    const shape = isKept ? text : printShapeText(type?.shape ?? null);
    this.#addLayer(
      "Parameter",
      "opset1",
      source,
      source?.name ?? name,
      new Map(was).set("element_type", elementType).set("shape", shape),
      [],
      [[name, type]],
    );
  }

  #addConst(one: Constant): void {
    const { name, dtype, shape } = one;
    const source = irSource(one[SOURCE]);
    const was = source && dataAttributes(source.element);
    const elementType =
      dtype === null ? was?.get("element_type") : elementTypeName({ dtype, shape }, name);
    if (elementType === undefined) {
      throw unsupported(
        `the constant ${quote(name)} has a data type that this package does not know`,
      );
    }
    const bytes =
      source === null || !was
        ? packConstant(one)
        : keptBytes(was, source, `the constant ${quote(name)}`);
    this.#addLayer(
      "Const",
      "opset1",
      source,
      source?.name ?? name,
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
        `${nodeTitle(node)} belongs to ${domain}, but an IR contains only operators of openvino`,
      );
    }
    const source = irSource(node[SOURCE]);
    const omitted = inputs.indexOf("");
    if (omitted !== -1) {
      throw unsupported(`${nodeTitle(node)} omits input ${omitted}, which an IR cannot express`);
    }
    const bodies = keptBodies(node, source);
    const data = Object.entries(attributes)
      .filter(([key]) => !bodies.has(key))
      .map(([key, attribute]) => [key, attributeText(key, attribute, node)] as const);
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

  /** Returns a type for an undeclared output, from the operator's version. */
  #guessType({ op, domain, inputs }: ModelNode, opset: number): TensorType | null {
    const row = domain === DOMAIN ? operatorRow(op, opset) : undefined;
    const position = row?.inputs.findIndex(({ type }) => type === row.outputs[0].type) ?? -1;
    const like = position === -1 ? null : (this.#producers.get(inputs[position])?.type ?? null);
    return like && { dtype: like.dtype, shape: null };
  }

  #addResult({ name, [SOURCE]: file }: ValueInfo): void {
    const source = irSource(file);
    const layerName = source?.name ?? `${name}/sink_port_0`;
    this.#addLayer("Result", "opset1", source, layerName, new Map(), [name], []);
  }

  #addLayer(
    type: string,
    version: string,
    source: IRSource | null,
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
      ...[...(was?.attributes ?? [])].filter(([key]) => !LAYER_ATTRIBUTES.has(key)),
    ]);
    const inputPorts = inputs.map((value, port) => {
      const producer = this.#producerOf(value);
      this.#edges.push(edge(producer, id, port));
      return portElement(port, producer.type, before.inputs[port]);
    });
    const outputPorts = outputs.map(([value, valueType], position) => {
      const port = inputs.length + position;
      this.#producers.set(value, { layer: id, port, type: valueType });
      const { [position]: old } = before.outputs;
      const part = portElement(port, valueType, old);
      const names = this.#namesOf(value, old, defaultName(name, position, outputs.length));
      const known = [...part.attributes].filter(([key]) => key !== "names");
      return element("port", names === null ? known : [...known, ["names", names]], part.children);
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

  /** Copies a part of a layer. Constants of its bodies are copied to the new `.bin`, at other offsets. */
  #moveBody(part: Element, source: IRSource): Element {
    const data = dataAttributes(part);
    const isConst = valueKind(part.attributes.get("type") ?? "") === "Const";
    if (part.name !== "layer" || !isConst || data === undefined) {
      return { ...part, children: part.children.map((child) => this.#moveBody(child, source)) };
    }
    const who = `a constant in the body of ${quote(source.name)}`;
    const offset = this.#append(keptBytes(data, source, who));
    const attributes = new Map(data).set("offset", String(offset));
    const children = part.children.map((child) =>
      child.name === "data" ? { ...child, attributes } : child,
    );
    return { ...part, children };
  }

  #namesOf(value: string, old: Element | undefined, implied: string): string | null {
    const { aliases = {} } = this.#model.graph;
    const added = Object.hasOwn(aliases, value) ? aliases[value] : [];
    const names = { before: old?.attributes.get("names"), implied: old && implied };
    return printNames(value, names, added, (name) => this.#values.has(name));
  }

  #producerOf(value: string): Producer {
    const producer = this.#producers.get(value);
    if (producer === undefined) throw unsupported(`no node computes ${quote(value)}`);
    return producer;
  }

  #append(bytes: Uint8Array): number {
    const offset = Math.ceil(this.#length / BIN_ALIGNMENT) * BIN_ALIGNMENT;
    this.#chunks.push(new Uint8Array(offset - this.#length), bytes);
    this.#length = offset + bytes.length;
    return offset;
  }

  #bin(): Uint8Array {
    try {
      return joinBytes(this.#chunks, this.#length);
    } catch (cause) {
      const sentence = `the .bin has ${this.#length} bytes, more than memory holds`;
      throw new TensorError("too-large", sentence, { got: this.#length }, { cause });
    }
  }
}

function elementTypeName({ dtype }: TensorType, name: string): string {
  const elementType = elementTypeOf(dtype);
  if (elementType !== null) return elementType;
  throw new TensorError("dtype", `${quote(name)} is ${dtype}, which OpenVINO does not support`, {
    input: name,
  });
}

function packConstant(one: Constant): Uint8Array {
  const { dtype, data } = readConstant(one);
  return isNumericStorage(data) ? pack(dtype, data) : packStrings(data, one.name);
}

const dataAttributes = (layer: Element): ReadonlyMap<string, string> | undefined =>
  layer.children.find(({ name }) => name === "data")?.attributes;

const keptBytes = (data: ReadonlyMap<string, string>, { bin }: IRSource, who: string): Uint8Array =>
  readBin(binRange(data, bin, who), bin, who);

function attributeText(name: string, attribute: Attribute, node: ModelNode): string {
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
        `attribute ${quote(name)} of ${nodeTitle(node)} is of type ${attribute.type}, which an IR cannot express`,
        { op: node.op, node: nodeTitle(node), key: name, got: attribute.type },
      );
  }
}

const portsOf = (layer: Element | undefined, side: string): readonly Element[] =>
  layer?.children.find(({ name }) => name === side)?.children ?? [];

/**
 * Returns the original port if it declares the same type, because the port may contain more data than the type;
 * otherwise a new port.
 */
function portElement(id: number, type: TensorType | null, before: Element | undefined): Element {
  if (before === undefined || !declares(readPort(before, "a port"), type))
    return writePort(id, type);
  const attributes = new Map(before.attributes).set("id", String(id));
  return { ...before, attributes };
}

/** Returns true if a port declares this type. A port without dimensions means a scalar or an unknown rank. */
const declares = (port: TensorType | null, type: TensorType | null): boolean =>
  sameType(port, type) ||
  (port !== null && port.shape === null && port.dtype === type?.dtype && type.shape?.length === 0);

const edge = (from: Producer, layer: number, port: number): Element =>
  element("edge", [
    ["from-layer", String(from.layer)],
    ["from-port", String(from.port)],
    ["to-layer", String(layer)],
    ["to-port", String(port)],
  ]);
