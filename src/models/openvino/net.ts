/**
 * An IR as a net of layers with ports, and edges between ports. This file checks that each edge connects two existing
 * ports, that each input has one edge, and that the layers can be ordered for execution. Other files check the meaning
 * of layers.
 */

import type { Bytes } from "../../core/tensor/bytes.ts";
import { factOf, printValue } from "../../core/foreign.ts";
import { malformed, TensorError, unsupported } from "../../core/errors.ts";
import { parseDecimal } from "../model/decimal.ts";
import { parseXml, type Element } from "./xml.ts";

export interface Net {
  readonly element: Element;
  readonly version: number;
  /**
   * The layers in execution order. Layers without inputs come first, and other layers keep the file order if possible.
   */
  readonly layers: readonly Layer[];
}

export interface Layer {
  readonly element: Element;
  readonly id: number;
  readonly name: string;
  /** The layer's number and name, for errors. */
  readonly title: string;
  readonly type: string;
  readonly version: string;
  readonly data: ReadonlyMap<string, string>;
  /** The input ports by number, in file order. */
  readonly inputs: ReadonlyMap<number, Element>;
  readonly outputs: ReadonlyMap<number, Element>;
  /** The output port that feeds each input, in the order of `inputs`. */
  readonly sources: readonly OutputPort[];
}

export interface OutputPort {
  readonly layer: Layer;
  readonly port: number;
}

/** The supported IR versions. */
export const NET_VERSIONS: readonly number[] = [10, 11];

/**
 * Reads a net from an `.xml`, as text or UTF-8 bytes. Throws `unsupported-file` for another document,
 * `unsupported-model` for a version other than 10 and 11, `too-large` for text beyond the limits.
 */
export function readNet(xml: string | Bytes): Net {
  const root = parseXml(xml);
  if (root.name !== "net")
    throw unsupported(`the XML must be an IR, whose root is <net>, got <${root.name}>`, {
      got: root.name,
      expected: "net",
    });
  const version = decimalOf(root, "version", "the net");
  if (!NET_VERSIONS.includes(version)) {
    throw new TensorError(
      "unsupported-model",
      `the IR is of version ${version}; versions ${NET_VERSIONS.join(" and ")} are read`,
      { key: "version", got: version, allowed: NET_VERSIONS },
    );
  }
  return { element: root, version, layers: readLayers(root, "the net") };
}

/** Returns the layers of a net or a body in execution order. */
export function readLayers(parent: Element, who: string): readonly Layer[] {
  const list = childOf(parent, "layers", who);
  if (list === null) throw malformed(`${who} has no <layers>`, { key: "layers" });
  const layers = new Map<number, LayerDraft>();
  for (const part of list.children) {
    if (part.name !== "layer") throw malformed(`<layers> holds <${part.name}>`);
    const layer = readLayer(part);
    if (layers.has(layer.id))
      throw malformed(`two layers have the id ${layer.id}`, { key: "id", got: layer.id });
    layers.set(layer.id, layer);
  }
  connect(layers, childOf(parent, "edges", who)?.children ?? []);
  return inOrder(layers);
}

/** Returns a layer's bodies, for TensorIterator, Loop and If. Each body is a net. */
export const bodyElements = ({ element }: Pick<Layer, "element">): readonly Element[] =>
  element.children.filter(({ children }) => children.some(({ name }) => name === "layers"));

interface LayerDraft extends Layer {
  readonly sources: OutputPort[];
}

function readLayer(part: Element): LayerDraft {
  const id = decimalOf(part, "id", "a layer");
  const name = elementName(part);
  const title = `layer ${id}${name === "" ? "" : ` ${printValue(name)}`}`;
  return {
    element: part,
    id,
    name,
    title,
    type: requiredAttribute(part, "type", title),
    version: requiredAttribute(part, "version", title),
    data: childOf(part, "data", title)?.attributes ?? new Map<string, string>(),
    inputs: readPorts(childOf(part, "input", title), title),
    outputs: readPorts(childOf(part, "output", title), title),
    sources: [],
  };
}

function readPorts(list: Element | null, who: string): Map<number, Element> {
  const ports = new Map<number, Element>();
  for (const port of list?.children ?? []) {
    if (port.name !== "port") throw malformed(`${who} has a <${port.name}> among its ports`);
    const id = decimalOf(port, "id", `a port of ${who}`);
    if (ports.has(id)) throw malformed(`${who} has two ports ${id}`);
    ports.set(id, port);
  }
  return ports;
}

function connect(layers: ReadonlyMap<number, LayerDraft>, edges: readonly Element[]): void {
  const layerOf = (edge: Element, key: string): LayerDraft => {
    const id = decimalOf(edge, key, "an edge");
    const layer = layers.get(id);
    if (layer === undefined)
      throw malformed(`an edge has the ${key} ${id}, but no layer has this id`, { key, got: id });
    return layer;
  };
  const portOf = (edge: Element, key: string, layer: Layer, side: "inputs" | "outputs"): number => {
    const port = decimalOf(edge, key, "an edge");
    if (layer[side].has(port)) return port;
    throw malformed(
      `an edge has the ${key} ${port}, but ${layer.title} has no such port among its ${side}`,
      { node: layer.title, key, got: port },
    );
  };
  const fed = new Map<Layer, Map<number, OutputPort>>();
  for (const edge of edges) {
    if (edge.name !== "edge") throw malformed(`<edges> holds <${edge.name}>`);
    const from = layerOf(edge, "from-layer");
    const to = layerOf(edge, "to-layer");
    const source = { layer: from, port: portOf(edge, "from-port", from, "outputs") };
    const port = portOf(edge, "to-port", to, "inputs");
    const ports = fed.get(to) ?? new Map<number, OutputPort>();
    if (ports.has(port)) throw wrongPort(`two edges lead to port ${port} of ${to.title}`, to, port);
    fed.set(to, ports.set(port, source));
  }
  for (const layer of layers.values()) {
    for (const port of layer.inputs.keys()) {
      const source = fed.get(layer)?.get(port);
      if (source === undefined) {
        throw wrongPort(`no edge leads to port ${port} of ${layer.title}`, layer, port);
      }
      layer.sources.push(source);
    }
  }
}

const wrongPort = (sentence: string, { title }: Layer, port: number): TensorError =>
  malformed(sentence, { node: title, got: port });

/**
 * Returns the layers in execution order. Layers without inputs come first, so that parameters keep their file order, by
 * which OpenVINO numbers the model's inputs. The depth-first search uses an explicit stack, because nets may be
 * thousands of layers deep.
 */
function inOrder(layers: ReadonlyMap<number, Layer>): Layer[] {
  const ordered = new Set<Layer>();
  const begun = new Set<Layer>();
  const byInputs = [...layers.values()].sort((a, b) => isFed(a) - isFed(b));
  for (const first of byInputs) {
    const path = [{ layer: first, next: 0 }];
    while (path.length > 0) {
      const top = path[path.length - 1];
      const { layer } = top;
      begun.add(layer);
      const source = ordered.has(layer) ? undefined : layer.sources[top.next++];
      if (source === undefined) {
        ordered.add(layer);
        path.pop();
      } else if (!ordered.has(source.layer)) {
        if (begun.has(source.layer)) {
          const { title } = source.layer;
          throw malformed(`${title} depends on its own output`, { node: title });
        }
        path.push({ layer: source.layer, next: 0 });
      }
    }
  }
  return [...ordered];
}

const isFed = ({ inputs }: Layer): number => Number(inputs.size > 0);

function childOf(parent: Element, name: string, who: string): Element | null {
  const found = parent.children.filter((child) => child.name === name);
  if (found.length > 1)
    throw malformed(`${who} has ${found.length} parts <${name}>`, { key: name, got: found.length });
  return found.length === 0 ? null : found[0];
}

/** Returns the name of a net or a layer, which may be missing. */
export const elementName = ({ attributes }: Element): string => attributes.get("name") ?? "";

function requiredAttribute({ attributes }: Element, name: string, who: string): string {
  const value = attributes.get(name);
  if (value === undefined) throw malformed(`${who} has no ${name}`, { key: name });
  return value;
}

const decimalOf = (part: Element, name: string, who: string): number =>
  checkDecimal(requiredAttribute(part, name, who), name, who);

/** Throws `malformed-file` unless the text is a number from 0 to 2^53 - 1. */
export function checkDecimal(text: string, name: string, who: string): number {
  const value = parseDecimal(text);
  if (value !== null) return value;
  throw malformed(
    `${who} has ${name} ${printValue(text)}, which must be a decimal number below 2^53`,
    { key: name, got: factOf(text) },
  );
}
