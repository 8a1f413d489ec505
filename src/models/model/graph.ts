/** What must hold of a graph before it runs, whatever its operators. Reading a model does not check it. */

import { malformed, printValue } from "../../core/errors.ts";
import { nodeTitle, type Graph, type ModelFunction, type ModelNode } from "./model.ts";

/** The operator set version that a node is of, null where none is imported for its domain. */
export function findOpset(
  opsets: ModelFunction["opsets"],
  { domain, opset }: ModelNode,
): number | null {
  if (opset !== undefined) return opset;
  // A domain may be called as a method of objects.
  return Object.hasOwn(opsets, domain) ? opsets[domain] : null;
}

/**
 * The operator set version that a node of a model is of.
 * @throws TensorError `malformed-file` where the model imports no version of its domain
 */
export function opsetOf({ opsets }: Pick<ModelFunction, "opsets">, node: ModelNode): number {
  const found = findOpset(opsets, node);
  if (found !== null) return found;
  const { domain } = node;
  const known = Object.keys(opsets).join(", ") || "none";
  throw malformed(
    `the model imports no version of the domain ${domain}, which ${nodeTitle(node)} is of; it imports ${known}`,
  );
}

/**
 * Checks that every value is made exactly once, and before it is used.
 * @throws TensorError `malformed-file`, which names the value and the nodes
 */
export function checkGraph({ inputs, outputs, nodes, constants }: Graph): void {
  const makers = new Map<string, string>();
  const make = (name: string, maker: string): void => {
    const other = makers.get(name);
    if (other !== undefined)
      throw malformed(`${quote(name)} is made twice: by ${other} and by ${maker}`);
    makers.set(name, maker);
  };
  for (const { name } of inputs) make(name, "the inputs of the graph");
  const initial = new Set<string>();
  for (const { name } of constants) {
    if (initial.has(name)) throw malformed(`two constants are named ${quote(name)}`);
    initial.add(name);
    // A constant of an input's name is the default of that input.
    if (!makers.has(name)) make(name, "a constant");
  }
  const makerOf = new Map<string, ModelNode>();
  for (const node of nodes)
    for (const name of node.outputs) if (!makerOf.has(name)) makerOf.set(name, node);
  const use = (name: string, user: string): void => {
    if (makers.has(name)) return;
    const node = makerOf.get(name);
    if (node === undefined) throw malformed(`${user} needs ${quote(name)}, which nothing makes`);
    throw malformed(
      `${user} needs ${quote(name)} before ${nodeTitle(node)} makes it; ` +
        "nodes must stand in the order in which they run",
    );
  };
  for (const node of nodes) {
    for (const name of node.inputs) if (name !== "") use(name, nodeTitle(node));
    for (const name of node.outputs) if (name !== "") make(name, nodeTitle(node));
  }
  for (const { name } of outputs) {
    if (!makers.has(name)) throw malformed(`nothing makes the graph's output ${quote(name)}`);
  }
}

export const quote = (name: string): string => printValue(name);

/** Names in quotes, with commas between them; at most 20, and `none` where there are none. */
export function listNames(names: readonly string[]): string {
  if (names.length === 0) return "none";
  const shown = names.slice(0, MAX_NAMES).map(quote).join(", ");
  return names.length > MAX_NAMES ? `${shown} and ${names.length - MAX_NAMES} more` : shown;
}

/** A sentence names no more nodes or values than this. */
export const MAX_NAMES = 20;
