/**
 * Bodies of OpenVINO layers, for the writer. Other parts of a layer refer to the body's layers by number. A body is
 * therefore written back unchanged, and a changed body is an error.
 */

import { printValue } from "../../core/foreign.ts";
import { TensorError } from "../../core/errors.ts";
import { nodeTitle, SOURCE, type Graph, type ModelNode } from "../model/model.ts";
import { bodyElements } from "./net.ts";
import { IRSource, readBody } from "./read-ir.ts";
import type { Element } from "./xml.ts";

/**
 * Returns the names of a node's attributes that are layer bodies. Throws `unsupported-model` for a body that was
 * changed, removed or replaced.
 */
export function keptBodies(node: ModelNode, source: IRSource | null): ReadonlySet<string> {
  const names = new Set<string>();
  if (source === null) return names;
  const numbers = new Map<Element, number>();
  for (const element of bodyElements(source)) {
    const { name } = element;
    const attribute = Object.hasOwn(node.attributes, name) ? node.attributes[name] : undefined;
    const graphs = attribute?.type === "other" ? attribute.graphs : undefined;
    const before = [readBody(element, `layer ${printValue(source.name)}`, source.bin)];
    if (!graphs || printGraphs(graphs, numbers) !== printGraphs(before, numbers)) {
      throw new TensorError(
        "unsupported-model",
        `${nodeTitle(node)} has a changed ${name}, but bodies in an IR cannot be changed`,
        { op: node.op, node: nodeTitle(node), key: name },
      );
    }
    names.add(name);
  }
  return names;
}

/**
 * Prints graphs as a text for comparison. Constants from a layer are printed with the layer's number in `numbers`, so
 * that constants with different values differ.
 */
function printGraphs(graphs: readonly Graph[], numbers: Map<Element, number>): string {
  const numberOf = (element: Element): number => {
    const number = numbers.get(element) ?? numbers.size;
    numbers.set(element, number);
    return number;
  };
  return JSON.stringify(graphs, (_, value: unknown) => {
    if (typeof value === "bigint") return String(value);
    if (typeof value !== "object" || value === null || !(SOURCE in value)) return value;
    const { [SOURCE]: source } = value;
    return source instanceof IRSource ? { ...value, layer: numberOf(source.element) } : value;
  });
}
