/**
 * IR files into the plain `Model`.
 *
 * A value has the name that users of OpenVINO know: the first of the `names` of its output port; else the name of its
 * layer, with `.0`, `.1`… behind it where the layer has several outputs; where that is taken, with `#` and the number of
 * the layer, and of the output likewise. So Parameters give the names of inputs, and what feeds a Result that of the
 * output.
 */

import { DTYPES, type DType } from "../tensor/dtype.ts";
import { malformed, TensorError } from "../errors.ts";
import { readRange, type ByteSource } from "../model/byte-source.ts";
import { dtypeOfElementType } from "../model/element-type.ts";
import {
  SOURCE,
  type Attribute,
  type Constant,
  type Graph,
  type Model,
  type ModelNode,
  type ValueInfo,
} from "../model/model.ts";
import type { TensorType } from "../operators/operator.ts";
import { packedBytes, unpack } from "../tensor/packing.ts";
import { isKnown, printShape, product, sizeOf } from "../tensor/shape.ts";
import { Tensor } from "../tensor/tensor.ts";
import { DOMAIN, operatorName, readVersion, rowOf, valueKind } from "./layer-types.ts";
import {
  bodiesOf,
  layerTitle,
  parseSize,
  readLayers,
  readNet,
  type Layer,
  type Source,
} from "./net.ts";
import { parseShape, readPort } from "./port-type.ts";
import type { Element } from "./xml.ts";

/** What a part of a model keeps of its file. */
export class LayerSource {
  readonly element: Element;
  readonly layerName: string;
  /** The `.bin` that it came with. */
  readonly bin: ByteSource | null;

  constructor(layer: Layer, bin: ByteSource | null) {
    this.element = layer.element;
    this.layerName = layer.name;
    this.bin = bin;
  }
}

export class NetSource {
  readonly element: Element;

  constructor(element: Element) {
    this.element = element;
  }
}

/**
 * The model in an IR of version 10 or 11: the text or the UTF-8 bytes of its `.xml`, and its `.bin`, whole or read in
 * parts. Constants stay in the `.bin` until they are read, so that must not change while the model is in use.
 *
 * Operators that are not in the registry are kept with their attributes as text. Each node has an operator set version of
 * its own; one of `extension` or another version that is no opset has a domain such as `openvino.extension`.
 *
 * @throws TensorError `malformed-file` where the files are no IR, `unsupported-model` for another version, `too-large`.
 * Without `bin` reading a constant throws `unsupported-model`.
 */
export function readIR(xml: string | Uint8Array, bin?: Uint8Array | ByteSource): Model {
  const net = readNet(xml);
  const name = net.element.attributes.get("name") ?? "";
  return {
    irVersion: net.version,
    producer: "",
    opsets: {},
    graph: readGraph(name, net.layers, bin === undefined ? null : sourceOf(bin)),
    [SOURCE]: new NetSource(net.element),
  };
}

function readGraph(name: string, layers: readonly Layer[], data: ByteSource | null): Graph {
  const names = nameValues(layers);
  const nameOf = ({ layer, port }: Source): string => names.get(layer)?.get(port) ?? "";
  const valuesOf = (layer: Layer): string[] => [...(names.get(layer)?.values() ?? [])];
  const types = new Map<string, TensorType | null>();
  const values: ValueInfo[] = [];
  const graph: Graph = { name, inputs: [], outputs: [], nodes: [], constants: [], values };
  const { inputs, outputs, nodes, constants } = graph;
  for (const layer of layers) {
    const made = valuesOf(layer);
    switch (valueKind(layer.type)) {
      case "Parameter": {
        checkPorts(layer, 0, 1);
        const input = readParameter(layer, made, data);
        types.set(input.name, input.type);
        inputs.push(input);
        break;
      }
      case "Const": {
        checkPorts(layer, 0, 1);
        const one = readConst(layer, made, data);
        const { name, dtype, shape } = one;
        types.set(name, dtype && { dtype, shape });
        constants.push(one);
        break;
      }
      case "Result": {
        checkPorts(layer, 1, 0);
        const name = nameOf(layer.sources[0]);
        const source = new LayerSource(layer, data);
        outputs.push({ name, type: types.get(name) ?? null, [SOURCE]: source });
        break;
      }
      case null: {
        nodes.push(readNode(layer, layer.sources.map(nameOf), made, data));
        for (const [position, port] of [...layer.outputs.values()].entries()) {
          const type = readPort(port, layerTitle(layer));
          types.set(made[position], type);
          if (type !== null) values.push({ name: made[position], type });
        }
      }
    }
  }
  return graph;
}

/** @throws TensorError `malformed-file` for a `.bin` that is neither bytes nor read in parts. */
function sourceOf(bin: unknown): ByteSource {
  if (bin instanceof Uint8Array) {
    const read = (offset: number, length: number): Uint8Array =>
      bin.subarray(offset, offset + length);
    return { size: bin.length, read };
  }
  const source = bin as Partial<ByteSource> | null;
  if (Number.isSafeInteger(source?.size) && typeof source?.read === "function") {
    return source as ByteSource;
  }
  throw malformed("the .bin must be bytes, or { size, read }");
}

/** The names of the values that each layer makes, by port. */
function nameValues(layers: readonly Layer[]): Map<Layer, Map<number, string>> {
  const taken = new Set<string>();
  const names = new Map<Layer, Map<number, string>>();
  for (const layer of layers) {
    const own = new Map<number, string>();
    for (const [position, [port, part]] of [...layer.outputs].entries()) {
      const [first] = splitNames(part.attributes.get("names") ?? "");
      let name = first ?? defaultName(layer.name, position, layer.outputs.size);
      if (name === "" || taken.has(name)) {
        name += `#${defaultName(String(layer.id), position, layer.outputs.size)}`;
      }
      while (taken.has(name)) name += "#";
      taken.add(name);
      own.set(port, name);
    }
    names.set(layer, own);
  }
  return names;
}

/** What a value is called whose port has no names. */
export const defaultName = (layer: string, position: number, outputs: number): string =>
  outputs > 1 ? `${layer}.${position}` : layer;

/** Names stand between commas; a comma in a name has a backslash before it. */
export const splitNames = (text: string): string[] =>
  text
    .split(/(?<!\\),/)
    .map((name) => name.replaceAll("\\,", ","))
    .filter((name) => name !== "");

function checkPorts(layer: Layer, inputs: number, outputs: number): void {
  const got = [layer.inputs.size, layer.outputs.size];
  // A Result passes its value on, which nobody uses.
  if (got[0] === inputs && (got[1] === outputs || outputs === 0)) return;
  throw malformed(
    `${layerTitle(layer)}, a ${layer.type}, has ${got[0]} inputs and ${got[1]} outputs, not ${inputs} and ${outputs}`,
  );
}

function dataOf(layer: Layer, name: string): string {
  const value = layer.data.get(name);
  if (value !== undefined) return value;
  throw malformed(`${layerTitle(layer)}, a ${layer.type}, has no ${name} in its <data>`);
}

function readParameter(layer: Layer, [name]: readonly string[], bin: ByteSource | null): ValueInfo {
  const shape = parseShape(dataOf(layer, "shape"), layerTitle(layer));
  const dtype = dtypeOfElementType(dataOf(layer, "element_type"));
  return { name, type: dtype && { dtype, shape }, [SOURCE]: new LayerSource(layer, bin) };
}

function readConst(layer: Layer, [name]: readonly string[], bin: ByteSource | null): Constant {
  const who = layerTitle(layer);
  const elementType = dataOf(layer, "element_type");
  const dtype = dtypeOfElementType(elementType);
  const shape = parseShape(dataOf(layer, "shape"), who);
  if (!isKnown(shape)) {
    throw malformed(`${who}, a constant, has the shape ${JSON.stringify(layer.data.get("shape"))}`);
  }
  const place = placeOf(layer.data, bin, who);
  if (dtype !== null) checkSize(dtype, shape, place.size, who);
  const read = (): Tensor => {
    if (dtype !== null) return decode(dtype, shape, () => readPlace(place, bin, who), who);
    throw malformed(
      `${who} has the element type ${JSON.stringify(elementType)}, which this package does not know`,
    );
  };
  return { name, dtype, shape, read, [SOURCE]: new LayerSource(layer, bin) };
}

/** Where in the `.bin` a constant lies. */
interface Place {
  readonly offset: number;
  readonly size: number;
}

/**
 * The place that the attributes of a constant name.
 * @throws TensorError `malformed-file` where it is none, or not in the file
 */
export function placeOf(
  data: ReadonlyMap<string, string>,
  bin: ByteSource | null,
  who: string,
): Place {
  const [offset, size] = ["offset", "size"].map((key) => {
    const text = data.get(key);
    if (text === undefined) throw malformed(`${who}, a constant, has no ${key} in its <data>`);
    return parseSize(text, key, who);
  });
  if (bin === null || offset <= bin.size - size) return { offset, size };
  throw malformed(
    `${who} has ${size} bytes from byte ${offset} of the .bin, which has ${bin.size}`,
  );
}

/** @throws TensorError `unsupported-model` where there is no `.bin` */
export function readPlace(
  { offset, size }: Place,
  bin: ByteSource | null,
  who: string,
): Uint8Array {
  if (size === 0) return new Uint8Array();
  if (bin !== null) return readRange(bin, offset, offset + size);
  throw new TensorError(
    "unsupported-model",
    `${who} has its data in the .bin; pass that to readIR as well`,
  );
}

function checkSize(dtype: DType, shape: readonly number[], size: number, who: string): void {
  const needed = packedBytes(dtype, product(shape));
  if (size === needed) return;
  throw malformed(
    `${who} has ${size} bytes, but ${dtype} of the shape ${printShape(shape)} takes ${needed}`,
  );
}

function decode(
  dtype: DType,
  shape: readonly number[],
  bytes: () => Uint8Array,
  who: string,
): Tensor {
  const size = sizeOf(shape);
  const packed = bytes();
  if (DTYPES[dtype].family === "bool") {
    const wrong = packed.find((byte) => byte > 1);
    if (wrong !== undefined) throw malformed(`${who} has the value ${wrong}, which is no ${dtype}`);
  }
  return new Tensor(dtype, [...shape], size, unpack(dtype, size, packed));
}

function readNode(
  layer: Layer,
  inputs: string[],
  outputs: string[],
  bin: ByteSource | null,
): ModelNode {
  const { domain, opset } = readVersion(layer.version);
  const op = domain === DOMAIN ? operatorName(layer.type) : layer.type;
  const schemas = rowOf(op, domain === DOMAIN ? opset : undefined)?.attributes ?? [];
  const attributes = [...layer.data].map(([name, text]) => {
    const schema = schemas.find((one) => one.name === name);
    const value = readAttribute(text, schema?.type ?? "string", name, layer);
    return [name, value] as const;
  });
  const bodies = bodiesOf(layer).map((body): [string, Attribute] => {
    const who = `the ${body.name} of ${layerTitle(layer)}`;
    const graphs = [readGraph(body.name, readLayers(body, who), bin)];
    return [body.name, { type: "other", value: "GRAPH", graphs }];
  });
  // Beside <data> it would be taken for left out, and the layer for another one.
  const misplaced = schemas.find(
    ({ name }) => layer.element.attributes.has(name) && !IS_LAYERS.has(name),
  );
  if (misplaced !== undefined) {
    throw malformed(
      `${layerTitle(layer)} has ${misplaced.name} on its <layer>, but attributes belong on its <data>`,
    );
  }
  return {
    name: layer.name,
    op,
    domain,
    opset,
    inputs,
    outputs,
    attributes: Object.fromEntries([...bodies, ...attributes]),
    [SOURCE]: new LayerSource(layer, bin),
  };
}

/** What a layer says of itself. */
export const IS_LAYERS: ReadonlySet<string> = new Set(["id", "name", "type", "version"]);

function readAttribute(text: string, type: string, name: string, layer: Layer): Attribute {
  const wrong = (what: string): TensorError =>
    malformed(`${layerTitle(layer)} has ${name} ${JSON.stringify(text)}, which is ${what}`);
  switch (type) {
    case "int": {
      const value = /^[+-]?\d{1,16}$/.test(text) ? Number(text) : NaN;
      if (!Number.isSafeInteger(value)) throw wrong("no integer");
      return { type, value };
    }
    case "boolean": {
      const value = BOOLEANS.get(text.toLowerCase());
      if (value === undefined) throw wrong("neither true nor false");
      return { type, value };
    }
    default:
      return { type: "string", value: text };
  }
}

const BOOLEANS: ReadonlyMap<string, boolean> = new Map([
  ["true", true],
  ["1", true],
  ["false", false],
  ["0", false],
]);
