/** What one operator of a target cannot say as it stands, but another one, or other updates, can. */

import { quote } from "../model/graph.ts";
import { lookUp } from "../operators/registry.ts";
import { run } from "../call/run.ts";
import { reader } from "../tensor/scalar.ts";
import { product } from "../tensor/shape.ts";
import { full, tensor, Tensor } from "../tensor/tensor.ts";
import type { Additions } from "./additions.ts";
import { refusal, targetVersion, wordOf, type Meaning } from "./meaning.ts";
import type { Scope } from "./scope.ts";
import type { Target } from "./target.ts";

/**
 * The meaning with a reduction and an operator that the target has, where that is exact.
 * @throws TensorError `unsupported-model`
 */
export function reword(
  meaning: Meaning,
  target: Target,
  scope: Scope,
  additions: Additions,
): Meaning {
  const plain =
    meaning.op === "ScatterUpdate" ? fromSlices(meaning, target, scope, additions) : meaning;
  return plain.settings.reduction === "sub" ? negated(plain, target, scope, additions) : plain;
}

/**
 * a - b is a + (-b), for integers, which wrap around, as for floats: signs of zero are those of the difference, and a
 * NaN that is made is the same one. Only for truth values it is not.
 */
function negated(meaning: Meaning, target: Target, scope: Scope, additions: Additions): Meaning {
  const row = targetVersion(meaning.op, target);
  if (row === null || wordOf(row, "sub") !== null || wordOf(row, "add") === null) return meaning;
  const { updates = "" } = meaning.inputs;
  const one = scope.constantOf(updates);
  if (one === null || one.dtype === null || one.dtype === "bool") return meaning;
  const name = additions.constant(updates, "negated", () => negate(one.read()));
  return {
    ...meaning,
    settings: { ...meaning.settings, reduction: "add" },
    inputs: { ...meaning.inputs, updates: name },
  };
}

/** 0 - x by the package's own arithmetic, as one slice; of zeros -0, so that 0 becomes -0 and -0 becomes 0. */
function negate({ dtype, shape, size, data }: Tensor): Tensor {
  const zeros = full(dtype, [size], -0);
  const whole = new Tensor("int32", [1, 0], 0, new Int32Array());
  const updates = new Tensor(dtype, [1, size], size, data);
  const node = {
    domain: "openvino",
    op: "ScatterNDUpdate",
    opset: 15,
    attributes: { reduction: "sub" },
  };
  const [result] = run(node, [zeros, whole, updates]);
  return new Tensor(dtype, [...shape], size, result.data);
}

/** More expanded indices would make a small model a large one. */
const MOST_INDICES = 2 ** 20;

/**
 * ScatterUpdate along the first axis is ScatterND with tuples of one index. Along another axis it is ScatterElements with
 * every index repeated along the others.
 */
function fromSlices(meaning: Meaning, target: Target, scope: Scope, additions: Additions): Meaning {
  if (targetVersion(meaning.op, target) !== null) return meaning;
  const { indices = "", data = "", updates = "" } = meaning.inputs;
  const rank = scope.typeOf(data)?.shape?.length;
  const { axis: given } = meaning.settings;
  const axis = given !== null && given < 0 && rank !== undefined ? given + rank : given;
  const one = scope.constantOf(indices);
  const why = `${target.domain} has no ScatterUpdate, and only one with`;
  if (axis === null || axis < 0) throw refusal(`${why} a known axis can be said in other words`);
  if (one === null || one.dtype === null) {
    throw refusal(
      `${why} constant indices can be said in other words, which ${quote(indices)} are not`,
    );
  }
  const { axis: _, ...inputs } = meaning.inputs;
  const as = (op: string, settingsAxis: number, name: string): Meaning => ({
    ...meaning,
    op,
    version: lookUp({ domain: "openvino", op: `${op}Update`, opset: 3 }).version,
    settings: { ...meaning.settings, axis: settingsAxis },
    inputs: { ...inputs, indices: name },
  });
  if (axis === 0) {
    const name = additions.constant(indices, "tuples", () => {
      const { dtype, shape, size, data: values } = one.read();
      return new Tensor(dtype, [...shape, 1], size, values);
    });
    return as("ScatterND", 0, name);
  }
  const shape = scope.typeOf(updates)?.shape ?? null;
  const isKnown = shape !== null && shape.every((dim) => typeof dim === "number");
  if (!isKnown || one.shape.length !== 1 || shape[axis] !== one.shape[0]) {
    throw refusal(
      `${why} indices of rank 1 and updates of a known shape can be said along axis ${axis}`,
    );
  }
  if (product(shape) > MOST_INDICES) {
    throw refusal(`${why} at most ${MOST_INDICES} updates can be said along axis ${axis}`);
  }
  const name = additions.constant(
    indices,
    "expanded",
    () => {
      const { dtype, data: values } = one.read();
      const read = reader(dtype, values);
      const inner = product(shape, axis + 1);
      const list = Array.from({ length: product(shape) }, (_unused, position) =>
        BigInt(read(Math.floor(position / inner) % shape[axis]) as number | bigint),
      );
      return tensor("int64", shape, list);
    },
    [shape, axis],
  );
  return as("ScatterElements", axis, name);
}
