/** Splits a model at some of its values into parts that load separately. */

import { nearestName, optionsOf, wrongValue } from "../../core/foreign.ts";
import { TensorError } from "../../core/errors.ts";
import type { TensorType } from "../../core/operators/operator.ts";
import { checkType, listFrom, modelFrom, recordFrom } from "../model/foreign-model.ts";
import { listNames, quote } from "../model/graph.ts";
import { valueNames, type Graph, type Model, type ValueInfo } from "../model/model.ts";
import { GraphUses } from "../model/uses.ts";
import { countLevels, levelsOf, neededNodes, neededPart, partOf } from "./part.ts";
import { inferTypes, scopeOf } from "./types.ts";

/** Options of {@link splitModel}. */
export interface SplitOptions {
  /** Types of cut values, for values whose type {@link inferTypes} does not find. */
  readonly types?: Readonly<Record<string, TensorType>> | undefined;
}

/**
 * Splits a model at some values. A cut value becomes an output of the part that computes it, and an input of the parts
 * that use it. The number of parts is minimal. Each node is in one part, and weights are in every part that uses them.
 * Other values that a later part uses also become outputs and inputs.
 *
 * @param model a model of any format, which stays unchanged
 * @param values names of node outputs in the model's own graph; bodies of If, Loop and Scan are not split
 * @param options types of values that cannot be inferred
 * @returns the parts in execution order; together they compute the model's outputs. The inputs and outputs of a part
 * are in `part.graph.inputs` and `part.graph.outputs`. `writeModel` writes a part as a file, with its references to
 * external data.
 * @throws TensorError `unsupported-model` for a value that no node of the graph computes, and for a value of unknown
 * data type between parts, `malformed-file` for an inconsistent model
 *
 * @example
 * ```ts
 * import { readFileSync } from "node:fs";
 *
 * const model = readModel(readFileSync("model.onnx"));
 * const [before, after] = splitModel(model, ["sums"]);
 * before?.graph.outputs.map(({ name }) => name); // ["sums"]
 * after?.graph.inputs.map(({ name }) => name); // ["sums"]
 * ```
 */
export function splitModel(
  model: Model,
  values: readonly string[],
  options: SplitOptions = {},
): Model[] {
  const own = modelFrom(model);
  const { graph } = own;
  const cut = new Set(namesFrom(values, graph));
  const wanted = graph.outputs.map(({ name }) => name);
  const given = new Set(graph.inputs.map(({ name }) => name));
  const { nodes } = neededNodes(graph, [...wanted, ...cut], given);
  const uses = new GraphUses(graph.nodes.filter((node) => nodes.has(node)));
  for (const name of cut) {
    if (!uses.makers.has(name))
      throw new TensorError("unsupported-model", `no node computes the value ${quote(name)}`, {
        key: "values",
        got: name,
      });
  }
  const levels = levelsOf(uses, (name) => cut.has(name));
  const typeOf = typesOf(own, options);
  const scope = scopeOf(graph, own.opsets, null, own.irVersion);
  const kept = new Set([...wanted, ...cut]);
  const partAt = (level: number): Model => {
    const nodes = uses.nodes.filter((node) => levels.get(node) === level);
    const makes = new Set(nodes.flatMap(({ outputs }) => outputs));
    const needs = new Set(nodes.flatMap((node) => uses.needsOf(node)));
    const isNeeded = ({ name }: { readonly name: string }): boolean => needs.has(name);
    const handed = [...needs].filter((name) => uses.makers.has(name) && !makes.has(name));
    const isOutput = (name: string): boolean =>
      name !== "" &&
      (kept.has(name) || uses.usersOf(name).some((user) => levels.get(user) !== level));
    const outputs = nodes.flatMap((node) => node.outputs).filter(isOutput);
    // The first part returns model outputs that no node computes, such as inputs.
    const others = graph.outputs.filter(({ name }) => level === 0 && !uses.makers.has(name));
    const isPassed = (one: { readonly name: string }): boolean =>
      others.some(({ name }) => name === one.name);
    return partOf(own, {
      ...{ graph, opsets: own.opsets, nodes },
      typeOf: (name) => scope.get(name).certain.type,
      inputs: [
        ...graph.inputs.filter(isNeeded),
        ...graph.inputs.filter((one) => !isNeeded(one) && isPassed(one)),
        ...handed.map((name) => handedOver(name, typeOf(name))),
      ],
      outputs: [...outputs.map((name) => declaredOutput(graph, name, typeOf(name))), ...others],
      constants: graph.constants.filter((one) => isNeeded(one) || isPassed(one)),
    });
  };
  const count = countLevels(levels);
  return Array.from({ length: count }, (_, level) => partAt(level));
}

/**
 * Returns the part of a model that computes some values, as a separate model. The part excludes the nodes, weights and
 * inputs that the values do not need.
 *
 * @param model a model of any format, which stays unchanged
 * @param values names of values in the model's own graph, which become the part's outputs
 * @throws TensorError `unsupported-model` for a value that the model does not have, `malformed-file` for an
 * inconsistent model
 *
 * @example
 * ```ts
 * import { readFileSync } from "node:fs";
 *
 * const model = readModel(readFileSync("model.onnx"));
 * const part = neededFor(model, ["sums"]);
 * part.graph.nodes.map(({ name }) => name); // ["sums"]
 * ```
 */
export function neededFor(model: Model, values: readonly string[]): Model {
  const own = modelFrom(model);
  const { graph } = own;
  const wanted = namesFrom(values, graph);
  const given = new Set(graph.inputs.map(({ name }) => name));
  const known = inferTypes(own);
  return neededPart(own, graph, wanted, given, (names) => ({
    inputs: graph.inputs.filter(({ name }) => names.has(name)),
    outputs: wanted.map((name) => declaredOutput(graph, name, known.get(name) ?? null)),
    constants: graph.constants.filter(({ name }) => names.has(name)),
  }));
}

function namesFrom(values: readonly string[], graph: Graph): readonly string[] {
  const known = new Set(valueNames(graph));
  return listFrom<unknown>("values", values).map((name) => {
    if (typeof name !== "string" || name === "") {
      throw wrongValue("attribute", "a value must be a name", name, { key: "values" });
    }
    if (known.has(name)) return name;
    const nearest = nearestName(name, known) ?? undefined;
    const question = nearest === undefined ? "" : `; did you mean ${quote(nearest)}?`;
    const sentence = `the model has no value ${quote(name)}${question}`;
    throw new TensorError("unsupported-model", sentence, { key: "values", got: name, nearest });
  });
}

/** Returns an output's declaration; for other values, the known type. */
function declaredOutput(graph: Graph, name: string, known: TensorType | null): ValueInfo {
  const declared = graph.outputs.find((one) => one.name === name);
  if (declared !== undefined) return declared;
  const type = known && { dtype: known.dtype, shape: known.shape };
  return { name, type };
}

type TypeOf = (name: string) => TensorType | null;

function typesOf(model: Model, options: SplitOptions): TypeOf {
  const { types = {} } = optionsOf(options, ["types"], {}, "the options of splitModel");
  const given = recordFrom("types", types as NonNullable<SplitOptions["types"]>);
  for (const [name, type] of Object.entries(given)) checkType(name, type);
  const known = inferTypes(model);
  return (name) => {
    if (Object.hasOwn(given, name)) return given[name];
    const type = known.get(name);
    if (type === undefined) return null;
    // A declared shape may be wrong, and runtimes enforce the shapes of a part's inputs.
    return { dtype: type.dtype, shape: type.isCertain ? type.shape : null };
  };
}

function handedOver(name: string, type: TensorType | null): ValueInfo {
  if (type !== null) return { name, type };
  const sentence = `the data type of the value ${quote(name)} is unknown, so it cannot be an input of a part; give it as types: { ${listNames([name])}: { dtype, shape } }`;
  throw new TensorError("unsupported-model", sentence, { input: name, key: "types" });
}
