/** Reads IR files into the plain `Model`. */

import { factOf, printCount, printValue } from "../../core/foreign.ts";
import { malformed, TensorError, unsupported } from "../../core/errors.ts";
import type { DType } from "../../core/tensor/dtype.ts";
import { readRange, sourceFrom, sourceOfBytes, type ByteSource } from "../model/byte-source.ts";
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
import type { TensorType } from "../../core/operators/operator.ts";
import { findNonBool, packedBytes, unpack } from "../../core/tensor/storage.ts";
import { isKnown, printShape, product, sizeOf } from "../../core/tensor/shape.ts";
import { isBytes, type Bytes } from "../../core/tensor/bytes.ts";
import { Tensor } from "../../core/tensor/tensor.ts";
import { DOMAIN, operatorName, operatorRow, readVersion, valueKind } from "./layer-types.ts";
import {
  bodyElements,
  checkDecimal,
  elementName,
  readLayers,
  readNet,
  type Layer,
  type OutputPort,
} from "./net.ts";
import { nameValues } from "./names.ts";
import { parseShapeText, readPort } from "./port-type.ts";
import { unpackStrings } from "./strings.ts";
import type { Element } from "./xml.ts";

/** The original net of a model, or the original layer of a node, constant, input or output, for the writer. */
export class IRSource {
  readonly element: Element;
  /** The `.bin` file that belongs to the IR. */
  readonly bin: ByteSource | null;

  constructor(element: Element, bin: ByteSource | null) {
    this.element = element;
    this.bin = bin;
  }

  get name(): string {
    return elementName(this.element);
  }
}

/**
 * Reads a model from an IR of version 10 or 11.
 *
 * Operators outside the registry are kept, with their attributes as text. Each node has its own operator set version. A
 * layer version that is not an opset becomes a domain, such as `openvino.extension`.
 *
 * @param xml the text of the `.xml`, or its bytes in UTF-8
 * @param bin the `.bin`, as bytes or as a file that is read in ranges. Constants stay in the `.bin` until they are
 * read, so the `.bin` must not change while the model is in use. Without a `.bin`, reading a constant throws
 * `unsupported-model`.
 * @throws TensorError `malformed-file` for files that violate the format, `unsupported-file` for another document or
 * encoding and for an unknown data type, `unsupported-model` for another version, `too-large` for a text beyond the
 * limits
 *
 * @example
 * ```ts
 * import { readFileSync } from "node:fs";
 *
 * const model = readIR(readFileSync("model.xml"), readFileSync("model.bin"));
 * inspectModel(model).nodes.length; // 2
 * ```
 */
export function readIR(xml: string | Bytes, bin?: Bytes | ByteSource): Model {
  const net = readNet(xml);
  const source = bin === undefined ? null : asByteSource(bin);
  return {
    irVersion: net.version,
    producer: "",
    opsets: {},
    graph: graphOfLayers(elementName(net.element), net.layers, source),
    [SOURCE]: new IRSource(net.element, source),
  };
}

function graphOfLayers(name: string, layers: readonly Layer[], bin: ByteSource | null): Graph {
  const names = nameValues(layers);
  const nameOf = ({ layer, port }: OutputPort): string => names.get(layer)?.get(port) ?? "";
  const valuesOf = (layer: Layer): string[] => [...(names.get(layer)?.values() ?? [])];
  const types = new Map<string, TensorType | null>();
  const values: ValueInfo[] = [];
  const graph: Graph = { name, inputs: [], outputs: [], nodes: [], constants: [], values };
  const { inputs, outputs, nodes, constants } = graph;
  for (const layer of layers) {
    const made = valuesOf(layer);
    const source = new IRSource(layer.element, bin);
    switch (valueKind(layer.type)) {
      case "Parameter": {
        checkPorts(layer, 0, 1);
        const input = readParameter(layer, made, source);
        types.set(input.name, input.type);
        inputs.push(input);
        break;
      }
      case "Const": {
        checkPorts(layer, 0, 1);
        const one = readConst(layer, made, source);
        const { name, dtype, shape } = one;
        types.set(name, dtype && { dtype, shape });
        constants.push(one);
        break;
      }
      case "Result": {
        checkPorts(layer, 1, 0);
        const name = nameOf(layer.sources[0]);
        outputs.push({ name, type: types.get(name) ?? null, [SOURCE]: source });
        break;
      }
      case null: {
        nodes.push(nodeOfLayer(layer, layer.sources.map(nameOf), made, source));
        for (const [position, port] of [...layer.outputs.values()].entries()) {
          const type = readPort(port, layer.title);
          types.set(made[position], type);
          if (type !== null) values.push({ name: made[position], type });
        }
      }
    }
  }
  return graph;
}

/** Throws `malformed-file` for a `.bin` that is neither bytes nor `{ size, read }`. */
function asByteSource(bin: unknown): ByteSource {
  return isBytes(bin)
    ? sourceOfBytes(bin, "the .bin must be")
    : sourceFrom(bin, "the .bin must be bytes, or { size, read }");
}

function checkPorts(layer: Layer, inputs: number, outputs: number): void {
  const got = [layer.inputs.size, layer.outputs.size];
  // OpenVINO ignores the output port of a Result.
  if (got[0] === inputs && (got[1] === outputs || outputs === 0)) return;
  throw malformed(
    `the numbers of inputs and outputs of ${layer.title}, a ${layer.type}, must be ${inputs} and ${outputs}, got ${got.join(" and ")}`,
    { node: layer.title, key: "ports", got, expected: [inputs, outputs] },
  );
}

function requiredData(data: ReadonlyMap<string, string>, key: string, node: string): string {
  const value = data.get(key);
  if (value !== undefined) return value;
  throw malformed(`${node} has no ${key} in its <data>`, { node, key });
}

function readParameter(
  { data, title }: Layer,
  [name]: readonly string[],
  source: IRSource,
): ValueInfo {
  const shape = parseShapeText(requiredData(data, "shape", title), title);
  const dtype = dtypeOfElementType(requiredData(data, "element_type", title));
  return { name, type: dtype && { dtype, shape }, [SOURCE]: source };
}

function readConst(layer: Layer, [name]: readonly string[], source: IRSource): Constant {
  const { title: who, data } = layer;
  const { bin } = source;
  const elementType = requiredData(data, "element_type", who);
  const dtype = dtypeOfElementType(elementType);
  const shape = parseShapeText(requiredData(data, "shape", who), who);
  if (!isKnown(shape)) {
    throw malformed(`${who}, a constant, has the shape ${printValue(data.get("shape"))}`, {
      node: who,
      key: "shape",
    });
  }
  const whole = binRange(data, bin, who);
  const range =
    dtype === null ? whole : { ...whole, size: usedBytes(dtype, shape, whole.size, who) };
  const read = (): Tensor => {
    if (dtype !== null) return decodeConst(dtype, shape, () => readBin(range, bin, who), who);
    throw unsupported(
      `${who} has the element type ${printValue(elementType)}, which this package does not know`,
      { node: who, key: "element_type", got: factOf(elementType) },
    );
  };
  return { name, dtype, shape, read, [SOURCE]: source };
}

interface BinRange {
  readonly offset: number;
  readonly size: number;
}

/**
 * Returns a constant's byte range in the `.bin`, from the constant's attributes. Throws `malformed-file` if an
 * attribute is missing or is not a number, or if the range exceeds the `.bin`.
 */
export function binRange(
  data: ReadonlyMap<string, string>,
  bin: ByteSource | null,
  who: string,
): BinRange {
  const [offset, size] = ["offset", "size"].map((key) =>
    checkDecimal(requiredData(data, key, who), key, who),
  );
  if (bin === null || offset <= bin.size - size) return { offset, size };
  throw malformed(
    `${who} has ${printCount(size, "byte")} from byte ${offset} of the .bin, which has ${bin.size}`,
    { node: who, byte: offset, got: size, limit: bin.size },
  );
}

/** Throws `unsupported-model` without a `.bin`. */
export function readBin(
  { offset, size }: BinRange,
  bin: ByteSource | null,
  who: string,
): Uint8Array {
  if (size === 0) return new Uint8Array();
  if (bin !== null) return readRange(bin, offset, offset + size);
  const sentence = `${who} has its data in the .bin; pass the .bin to readIR too`;
  throw new TensorError("unsupported-model", sentence);
}

/** Returns the number of bytes that contain a constant's elements. */
function usedBytes(dtype: DType, shape: readonly number[], size: number, who: string): number {
  // The shape of a text constant does not determine its size in bytes.
  const needed = dtype === "string" ? size : packedBytes(dtype, product(shape));
  // OpenVINO writes one unused byte for an empty constant.
  if (size === needed || needed === 0) return needed;
  throw malformed(
    `${who} has ${printCount(size, "byte")}, but ${dtype} of the shape ${printShape(shape)} takes ${needed}`,
    { node: who, got: size, expected: needed },
  );
}

function decodeConst(
  dtype: DType,
  shape: readonly number[],
  bytes: () => Uint8Array,
  who: string,
): Tensor {
  const size = sizeOf(shape);
  const packed = bytes();
  if (dtype === "string")
    return new Tensor(dtype, [...shape], size, unpackStrings(packed, size, who));
  if (dtype === "bool") {
    const wrong = findNonBool(packed);
    if (wrong !== -1)
      throw malformed(`${who} must hold bools, got ${packed[wrong]}`, {
        node: who,
        got: packed[wrong],
      });
  }
  return new Tensor(dtype, [...shape], size, unpack(dtype, size, packed));
}

function nodeOfLayer(
  layer: Layer,
  inputs: string[],
  outputs: string[],
  source: IRSource,
): ModelNode {
  const { domain, opset } = readVersion(layer.version);
  const op = domain === DOMAIN ? operatorName(layer.type) : layer.type;
  const schemas = operatorRow(op, domain === DOMAIN ? opset : undefined)?.attributes ?? [];
  const attributes = [...layer.data].map(([name, text]) => {
    const schema = schemas.find((one) => one.name === name);
    const value = parseAttribute(text, schema?.type ?? "string", name, layer);
    return [name, value] as const;
  });
  const who = layer.title;
  const bodies = bodyElements(layer).map((body): readonly [string, Attribute] => [
    body.name,
    { type: "other", value: "GRAPH", graphs: [readBody(body, who, source.bin)] },
  ]);
  const all = [...bodies, ...attributes];
  const names = new Set<string>();
  for (const [name] of all) {
    if (names.has(name)) {
      throw malformed(`${who} has two parts or attributes ${printValue(name)}`);
    }
    names.add(name);
  }
  // Ignoring an operator attribute on <layer> would change the operator's meaning.
  const misplaced = schemas.find(
    ({ name }) => layer.element.attributes.has(name) && !LAYER_ATTRIBUTES.has(name),
  );
  if (misplaced !== undefined) {
    throw malformed(
      `${layer.title} has ${misplaced.name} on its <layer>, but attributes belong on its <data>`,
      { node: layer.title, key: misplaced.name },
    );
  }
  return {
    name: layer.name,
    op,
    domain,
    opset,
    inputs,
    outputs,
    attributes: Object.fromEntries(all),
    [SOURCE]: source,
  };
}

/** Returns a layer body's graph. The title `who` names the layer in errors. */
export const readBody = (body: Element, who: string, bin: ByteSource | null): Graph =>
  graphOfLayers(body.name, readLayers(body, `the ${body.name} of ${who}`), bin);

/** The attributes of the element <layer>. An operator's own attributes are in the element <data>. */
export const LAYER_ATTRIBUTES: ReadonlySet<string> = new Set(["id", "name", "type", "version"]);

function parseAttribute(text: string, type: string, name: string, layer: Layer): Attribute {
  const wrong = (what: string): TensorError =>
    malformed(`${layer.title} has ${name} ${printValue(text)}, which is ${what}`, {
      node: layer.title,
      key: name,
      got: factOf(text),
    });
  switch (type) {
    case "int": {
      const value = /^[+-]?\d{1,16}$/.test(text) ? Number(text) : NaN;
      if (!Number.isSafeInteger(value)) throw wrong("not an integer");
      return { type, value };
    }
    case "boolean": {
      if (!/^(?:true|false|[01])$/i.test(text)) throw wrong("not a boolean");
      return { type, value: /^(?:true|1)$/i.test(text) };
    }
    default:
      return { type: "string", value: text };
  }
}
