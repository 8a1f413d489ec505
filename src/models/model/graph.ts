/**
 * Checks that a graph must pass before it runs, whatever its operators are. Reading a model does not check its graph.
 */

import { malformed, type TensorError } from "../../core/errors.ts";
import { listFirst, printValue } from "../../core/foreign.ts";
import { NEWEST_OPSETS, type Domain } from "../../core/operators/operator.ts";
import { nodeTitle, type Graph, type ModelFunction, type ModelNode } from "./model.ts";

/** Returns the opset version for a node's domain; null if the model does not import the domain. */
export function findOpset(
  opsets: ModelFunction["opsets"],
  { domain, opset }: ModelNode,
): number | null {
  if (opset !== undefined) return opset;
  // A domain's name may equal the name of an inherited method.
  return Object.hasOwn(opsets, domain) ? opsets[domain] : null;
}

/** Returns the opset version for a node's domain. Throws `malformed-file` if the model does not import the domain. */
export function opsetOf({ opsets }: Pick<ModelFunction, "opsets">, node: ModelNode): number {
  const found = findOpset(opsets, node);
  if (found !== null) return found;
  const { domain } = node;
  const known = Object.keys(opsets).join(", ") || "none";
  throw malformed(
    `the model imports no version of the domain ${domain}, to which ${nodeTitle(node)} belongs; it imports ${known}`,
    { node: nodeTitle(node), key: "domain", got: domain },
  );
}

export const newerOpset = (domain: Domain, opset: number): string =>
  `opset ${opset} of ${domain} is newer than this package knows: the newest known opset is ${NEWEST_OPSETS[domain]}`;

/** A value that a graph defines more than once. */
export interface Repeated {
  readonly name: string;
  /** The title of the node that defines the value again; null for a constant. */
  readonly maker: string | null;
  readonly sentence: string;
}

export function repeatedValues({ inputs, nodes, constants }: Graph): readonly Repeated[] {
  const makers = new Map<string, string>();
  const repeated: Repeated[] = [];
  const make = (name: string, maker: string): void => {
    const other = makers.get(name);
    if (other === undefined) {
      makers.set(name, maker);
      return;
    }
    const by = other === maker ? `, both times by ${maker}` : `: by ${other} and by ${maker}`;
    repeated.push({ name, maker, sentence: `${quote(name)} is computed twice${by}` });
  };
  for (const { name } of inputs) make(name, "the inputs of the graph");
  const initial = new Set<string>();
  for (const { name } of constants) {
    if (initial.has(name))
      repeated.push({ name, maker: null, sentence: `two constants are named ${quote(name)}` });
    // A constant with an input's name is the input's default.
    else if (!makers.has(name)) make(name, "a constant");
    initial.add(name);
  }
  for (const node of nodes)
    for (const name of node.outputs) if (name !== "") make(name, nodeTitle(node));
  return repeated;
}

/**
 * Checks that no node computes a value that already exists in the graph. Throws `malformed-file`, which names the value
 * and the nodes.
 */
export function checkUnique(graph: Graph): void {
  const twice = repeatedValues(graph).find(({ maker }) => maker !== null);
  if (twice !== undefined) throw repeatedError(twice);
}

const repeatedError = ({ name, maker, sentence }: Repeated): TensorError =>
  malformed(sentence, { input: name, ...(maker === null ? {} : { node: maker }) });

/**
 * Checks that every value is computed exactly once, before its first use. Throws `malformed-file`, which names the
 * value and the nodes.
 */
export function checkGraph(graph: Graph): void {
  const [twice] = repeatedValues(graph);
  if (twice !== undefined) throw repeatedError(twice);
  const { inputs, outputs, nodes, constants } = graph;
  const there = new Set([...inputs, ...constants].map(({ name }) => name));
  const makerOf = new Map<string, ModelNode>();
  for (const node of nodes)
    for (const name of node.outputs) if (!makerOf.has(name)) makerOf.set(name, node);
  const use = (name: string, user: string): void => {
    if (there.has(name)) return;
    const node = makerOf.get(name);
    const why =
      node === undefined
        ? ", which no node computes"
        : ` before ${nodeTitle(node)} computes it; nodes must be in execution order`;
    throw malformed(`${user} needs ${quote(name)}${why}`, { input: name, node: user });
  };
  for (const node of nodes) {
    for (const name of node.inputs) if (name !== "") use(name, nodeTitle(node));
    for (const name of node.outputs) if (name !== "") there.add(name);
  }
  for (const { name } of outputs) {
    if (!there.has(name))
      throw malformed(`no node computes the graph's output ${quote(name)}`, { input: name });
  }
}

export const quote = (name: string): string => printValue(name);

/** Returns up to 20 quoted names, separated by commas; `none` for an empty list. */
export function listNames(names: readonly string[]): string {
  return names.length === 0 ? "none" : shortList(names.map(quote));
}

/** Joins up to 20 texts by commas, and counts the rest. */
export const shortList = (texts: readonly string[]): string => listFirst(texts, MAX_NAMES);

/** The maximum number of nodes or values that a sentence names. */
export const MAX_NAMES = 20;
