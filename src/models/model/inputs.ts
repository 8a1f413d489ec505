/** Checks a model's input tensors against the declared inputs of its graph. */

import { TensorError, type ErrorContext } from "../../core/errors.ts";
import type { TensorType } from "../../core/operators/operator.ts";
import { nearestName } from "../../core/foreign.ts";
import { printShape } from "../../core/tensor/shape.ts";
import { asTensor, type Tensor } from "../../core/tensor/tensor.ts";
import { listNames, quote } from "./graph.ts";
import type { Graph } from "./model.ts";

/** The size of a named dimension, and the first input that uses the name. */
interface Binding {
  readonly size: number;
  readonly input: string;
}

/**
 * Returns the input tensors by name. An input that is also a constant may be left out, because the constant is its
 * default. Before version 4, ONNX's IR required every constant to be an input. Throws `shape-mismatch` for missing and
 * unknown names and for wrong sizes, `dtype` and `rank` for other tensors.
 */
export function bindInputs(
  graph: Graph,
  inputs: Readonly<Record<string, unknown>>,
): Map<string, Tensor> {
  const tensors = bindGiven(graph, inputs, new Map());
  const defaults = new Set(graph.constants.map(({ name }) => name));
  const needed = graph.inputs.map(({ name }) => name).filter((name) => !defaults.has(name));
  const missing = needed.find((name) => !tensors.has(name));
  if (missing === undefined) return tensors;
  throw missingInput(missing, needed, "the model");
}

/**
 * Checks given tensors without requiring all inputs. With `bindings`, each named dimension must have one size; without
 * `bindings`, the runtime checks the names.
 */
export function bindGiven(
  graph: Graph,
  inputs: Readonly<Record<string, unknown>>,
  bindings?: Map<string, Binding>,
): Map<string, Tensor> {
  const names = graph.inputs.map(({ name }) => name);
  const declared = new Set(names);
  const defaults = new Set(graph.constants.map(({ name }) => name));
  const unknown = Object.keys(inputs).find((name) => !declared.has(name));
  if (unknown !== undefined) {
    if (!defaults.has(unknown)) throw unknownInput(unknown, names, "the model");
    const what = `${quote(unknown)} is a constant of the model, not an input`;
    const sentence = `${what}; the inputs of the model are ${listNames(names)}`;
    throw new TensorError("shape-mismatch", sentence, { input: unknown, allowed: names });
  }
  const tensors = new Map<string, Tensor>();
  for (const { name, type } of graph.inputs) {
    if (!Object.hasOwn(inputs, name)) continue;
    const value = asTensor(inputs[name], {}, name);
    if (type !== null) checkInput(name, type, value, bindings);
    tensors.set(name, value);
  }
  return tensors;
}

export function unknownInput(
  name: string,
  known: readonly string[],
  who: string,
  fields: ErrorContext = {},
): TensorError {
  const nearest = nearestName(name, known) ?? undefined;
  const hint =
    nearest === undefined ? `; it has ${listNames(known)}` : `; did you mean ${quote(nearest)}?`;
  const sentence = `${who} has no input ${quote(name)}${hint}`;
  return new TensorError("shape-mismatch", sentence, {
    ...fields,
    input: name,
    allowed: known,
    nearest,
  });
}

export const missingInput = (name: string, needed: readonly string[], who: string): TensorError =>
  new TensorError(
    "shape-mismatch",
    `${who} needs an input ${quote(name)}; its inputs are ${listNames(needed)}`,
    { input: name, allowed: needed },
  );

function checkInput(
  input: string,
  { dtype, shape }: TensorType,
  value: Tensor,
  bindings?: Map<string, Binding>,
): void {
  const who = `the model's input ${quote(input)}`;
  if (value.dtype !== dtype) {
    const fields = { input, got: value.dtype, expected: dtype };
    throw new TensorError("dtype", `${who} is ${dtype}, got ${value.dtype}`, fields);
  }
  if (shape === null) return;
  const shapes = `${printShape(shape)}, got ${printShape(value.shape)}`;
  if (value.shape.length !== shape.length) {
    const fields = { input, got: value.shape.length, expected: shape.length };
    throw new TensorError("rank", `${who} has rank ${shape.length}, ${shapes}`, fields);
  }
  for (const [axis, dim] of shape.entries()) {
    const got = value.shape[axis];
    if (typeof dim === "number" && dim !== got) {
      const fields = { input, axis, got, expected: dim };
      throw new TensorError("shape-mismatch", `${who} has the shape ${shapes}`, fields);
    }
    if (typeof dim !== "string" || bindings === undefined) continue;
    const first = bindings.get(dim);
    if (first !== undefined && first.size !== got) {
      const sentence = `${quote(dim)} stands for one size, but is ${first.size} in ${quote(first.input)} and ${got} in ${quote(input)}`;
      const fields = { input, axis, got, expected: first.size, other: first.input };
      throw new TensorError("shape-mismatch", sentence, fields);
    }
    bindings.set(dim, { size: got, input });
  }
}
