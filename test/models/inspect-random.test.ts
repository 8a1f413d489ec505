/** Random nodes, inspected and run: what is wrong does not run, what runs is not wrong, however little is known. */

import assert from "node:assert/strict";
import { test } from "node:test";

import { run } from "../../src/core/functions.ts";
import { isTensorError } from "../../src/core/errors.ts";
import {
  inspectModel,
  nodeCall,
  runModel,
  type AttributeInput,
  type Finding,
  type Model,
} from "../../src/entries/onnx.ts";
import { roleOf, type OperatorVersion, type Role } from "../../src/core/operators/operator.ts";
import { operators } from "../../src/core/operators/registry.ts";
import { product, type Dim } from "../../src/core/tensor/shape.ts";
import { tensor, zeros, type Tensor } from "../../src/core/tensor/tensor.ts";
import { caseCount } from "../support/cases.ts";
import { lastOpset, randomModel } from "../support/models.ts";
import { behindUnknown, oneNode, type Given } from "../support/node-models.ts";
import { randomFrom, type Random } from "../support/random.ts";

const findingsOf = (model: Model): readonly Finding[] => {
  const { nodes, findings } = inspectModel(model);
  return [...nodes.flatMap((node) => node.findings), ...findings];
};

const isWrong = ({ severity }: Finding): boolean => severity === "wrong";

/** A node of constants that may be wrong in any way: attributes, data types, shapes, indices. */
function anyNode(
  { domain, name, sinceVersion, attributes, inputs }: OperatorVersion,
  next: Random,
): Model {
  const pick = <T>(list: readonly T[]): T => list[next(list.length)];
  const opset = Math.max(1, sinceVersion + pick([0, 0, 0, 0, 0, 1, -1]));
  const data = Array.from({ length: 1 + next(3) }, () => 1 + next(3));
  const indices = pick([data, [2, 1], [2], [1, data.length], [data[0], 1], []]);
  const shapes: Record<Role, readonly number[]> = {
    data,
    indices,
    updates: pick([indices, [...indices.slice(0, -1), ...data.slice(indices.at(-1))], data]),
    axis: pick([[], [1]]),
  };
  const small = (shape: readonly number[], least: number): Tensor =>
    tensor(
      next(8) === 0 ? pick(["int32", "uint8"] as const) : "int64",
      shape,
      Array.from({ length: product(shape) }, () => Math.abs(least + next(3))),
    );
  const valueOf = (role: Role): Tensor => {
    if (role === "axis") return small(shapes.axis, next(2));
    if (role !== "indices") return zeros(next(9) === 0 ? "bool" : "float32", shapes[role]);
    const made = small(shapes.indices, 0);
    if (made.dtype === "int64" && next(3) === 0 && made.size > 0) made.data[0] = -1n;
    return made;
  };
  const given = inputs.map((input): readonly [Role, Given] => {
    const isLeftOut = input.optional === true && next(2) === 0;
    return [roleOf(input), isLeftOut ? null : valueOf(roleOf(input))];
  });
  const names = attributes.map((one) => one.name).filter(() => next(2) === 0);
  if (next(9) === 0) names.push(pick(["axis", "reduction", "batch_dims"]));
  const words = { reduction: ["none", "add", "sum", "max", "mean"], mode: ["circular"] };
  const values = names.map((one): readonly [string, AttributeInput] => [
    one,
    one === "reduction" || one === "mode" ? pick(words[one]) : next(3) - 1,
  ]);
  const parts = { ...Object.fromEntries(given), attributes: Object.fromEntries(values), opset };
  return oneNode(domain, name, parts);
}

test("where everything is known, what runs is not wrong and what is wrong does not run", () => {
  const next = randomFrom(22);
  const versions = operators();
  const outcomes = { runs: 0, fails: 0, indices: 0 };
  for (let round = 0; round < caseCount(4000, 8); round++) {
    const model = anyNode(versions[next(versions.length)], next);
    let error: unknown = null;
    try {
      runModel(model, {});
      outcomes.runs++;
    } catch (thrown) {
      error = thrown;
      outcomes.fails++;
    }
    const found = findingsOf(model);
    const wrong = found.filter(isWrong);
    const story = `round ${round}: ${String(error)}\n${found.map(({ sentence }) => sentence).join("\n")}`;
    // The model names all nodes that are not run here at once.
    if (isTensorError(error, "unsupported-model")) {
      assert.match(found[0].id, /^operator-newer-than-opset$/, story);
      continue;
    }
    assert.equal(wrong.length > 0, error !== null, story);
    if (!isTensorError(error) || wrong.length !== 1) continue;
    const [{ id, code, sentence, at, axis, got, expected }] = wrong;
    assert.equal(code, error.code, story);
    if (id !== "index-out-of-range") continue;
    outcomes.indices++;
    assert.ok(error.message.includes(`: ${sentence} (`), story);
    const { at: runAt, axis: runAxis, got: runGot, expected: runExpected } = error;
    assert.deepEqual([at, axis, got, expected], [runAt, runAxis, runGot, runExpected]);
  }
  const { runs, fails, indices } = outcomes;
  // One model in seven runs; with some seeds, one in nine.
  assert.ok(
    runs > caseCount(300, 8) && fails > caseCount(500, 8) && indices > caseCount(100, 8),
    JSON.stringify(outcomes),
  );
});

/** Whether two updates have one target, by the engine. */
function hasRepeats(model: Model, inputs: Readonly<Record<string, Tensor>>): boolean {
  const call = nodeCall(model, model.graph.nodes[0], inputs);
  try {
    run(call.node, call.inputs, { duplicates: "error" });
    return false;
  } catch (error) {
    if (isTensorError(error, "duplicate-index")) return true;
    throw error;
  }
}

/** The model with types of which some is not known. */
function forget(model: Model, random: Random): Model {
  const dimOf = (dim: Dim): Dim => [dim, null, "N"][random(3)];
  const inputs = model.graph.inputs.map(({ name, type }) => {
    if (type === null || random(5) === 0) return { name, type: null };
    const isRanked = type.shape !== null && random(5) > 0;
    return { name, type: { ...type, shape: isRanked ? (type.shape?.map(dimOf) ?? null) : null } };
  });
  return { ...model, graph: { ...model.graph, inputs } };
}

test("however little is known, what runs is not wrong, and what repeats for certain repeats", () => {
  const versions = operators();
  const counts = { repeats: 0, hidden: 0, none: 0 };
  const hasAll = (): boolean =>
    counts.repeats > caseCount(150, 4) &&
    counts.hidden >= caseCount(6, 4) &&
    counts.none > caseCount(200, 4);
  // Hidden repeats are one case in four hundred, so some seeds need more cases until there are enough.
  const isEnough = (round: number): boolean =>
    round >= caseCount(2500, 4) && (hasAll() || round >= caseCount(25_000, 4));
  for (let round = 0; !isEnough(round); round++) {
    const random = randomFrom(round);
    const version = versions[random(versions.length)];
    const isScatter = version.inputs.some((input) => roleOf(input) === "updates");
    const { model, inputs } = randomModel(version, lastOpset(version), random);
    const less = forget(model, random);
    const found = findingsOf(less);
    const story = `round ${round}: ${found.map(({ sentence }) => sentence).join("\n")}`;
    assert.deepEqual(found.filter(isWrong), [], story);
    if (!isScatter || version.name === "TensorScatter") continue;
    const { indices } = inputs;
    const isConstant = indices === undefined;
    const isFound = found.some(({ id }) => id.startsWith("repeated-target"));
    if (!isConstant) {
      assert.ok(!isFound, story);
      continue;
    }
    const reduction = model.graph.nodes[0].attributes["reduction"]?.value ?? "none";
    if (reduction !== "none") continue;
    const repeats = hasRepeats(model, inputs);
    if (isFound) assert.ok(repeats, story);
    counts[isFound ? "repeats" : repeats ? "hidden" : "none"]++;
  }
  assert.ok(hasAll(), JSON.stringify(counts));
});

test("no declaration makes wrong what runs", () => {
  const versions = operators();
  let risky = 0;
  for (let round = 0; round < caseCount(1000, 8); round++) {
    const random = randomFrom(round);
    const version = versions[random(versions.length)];
    const { model } = randomModel(version, lastOpset(version), random);
    const dims = [null, 0, 1, 2, 3, 9];
    const lies = behindUnknown(model, ({ dtype }) => ({
      dtype: random(4) === 0 ? "bool" : dtype,
      shape: random(4) === 0 ? null : Array.from({ length: random(4) }, () => dims[random(6)]),
    }));
    lies.graph.values?.push({ name: "y", type: { dtype: "bool", shape: [random(3)] } });
    const found = findingsOf(lies);
    assert.deepEqual(found.filter(isWrong), [], `round ${round}`);
    if (found.some(({ id, severity }) => severity === "risky" && id !== "operator-deprecated"))
      risky++;
  }
  assert.ok(risky > caseCount(300, 8), String(risky));
});
