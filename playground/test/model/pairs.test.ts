/** Pairs of examples: both sides are there, differ in what the pair says and nothing else, and have other outcomes. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { ruleFor } from "../../src/why/dialect-view.ts";
import { PAIRS, pairOf, type Side } from "../../src/examples/pairs.ts";
import { PRESETS } from "../../src/examples/presets.ts";
import { explainState, readState } from "../../src/document/read-state.ts";
import type { State } from "../../src/values/state.ts";

function stateOf({ preset }: Side): State {
  const found = PRESETS.find(({ id }) => id === preset);
  assert.ok(found, preset);
  return found.state;
}

/** The parts of a call by name. */
function partsOf(side: Side): Map<string, string> {
  const { domain, op, opset, attributes, inputs } = stateOf(side);
  const { version } = readState(stateOf(side));
  return new Map([
    ["operator", op],
    ["version", String(opset)],
    ["domain", domain],
    ["system", side.dialect ?? ""],
    ...Object.entries(attributes),
    ...inputs.flatMap((input, p) => {
      const name = version?.inputs[p].name ?? "";
      const { shape, ...others } = input ?? {};
      return [
        [name, JSON.stringify(others)] as const,
        [`shape of ${name}`, String(shape)] as const,
      ];
    }),
  ]);
}

/** The parts in which the sides of a pair may differ, by what the pair says. */
const PARTS: Readonly<Record<string, readonly (readonly string[])[]>> = {
  reduction: [["reduction"]],
  system: [["system"]],
  axis: [["axis"]],
  // The two scatters need updates of two shapes.
  operator: [["operator", "shape of updates", "updates"], ["operator"]],
  batch_dims: [["batch_dims"]],
  // The axis is an input there.
  domain: [["axis", "domain", "shape of axis", "version"]],
  "shape of indices": [["shape of indices"]],
  mode: [["mode"]],
};

for (const { by, sides } of PAIRS) {
  const [one, other] = sides;
  test(`${by}: ${one.label} and ${other.label} differ in nothing else`, () => {
    const [left, right] = sides.map(partsOf);
    const names = new Set([...left.keys(), ...right.keys()]);
    const differing = [...names].filter((name) => left.get(name) !== right.get(name)).toSorted();
    assert.ok(
      PARTS[by].some((parts) => String(parts) === String(differing)),
      `they differ in ${differing.join(", ")}`,
    );
  });

  test(`${by}: ${one.label} and ${other.label} have other outcomes`, () => {
    const outcomes = sides.map((side) => {
      const { node, inputs, explanation } = explainState(stateOf(side));
      if (side.dialect === undefined) return String(explanation?.output ?? "an error");
      const rule = ruleFor(node, inputs, side.dialect);
      return rule === null ? "an error" : `${rule.output}, open: ${[...rule.undecided].join()}`;
    });
    assert.notEqual(outcomes[0], outcomes[1]);
  });
}

test("what a label says is what its side has", () => {
  for (const { by, sides } of PAIRS) {
    for (const side of sides) {
      const { op, attributes, inputs } = stateOf(side);
      const said: Record<string, string> = {
        reduction: attributes["reduction"] ?? "none",
        axis: `axis ${attributes["axis"] ?? "0"}`,
        batch_dims: `batch_dims ${attributes["batch_dims"] ?? "0"}`,
        mode: attributes["mode"] ?? "linear",
        operator: op,
        "shape of indices": `[${inputs[1]?.shape.join(", ")}]`,
      };
      if (by in said) assert.equal(side.label, said[by]);
    }
  }
});

test("on repeats ONNX leaves the element open, and TensorFlow keeps the last update", () => {
  const pair = PAIRS.find(({ by }) => by === "system");
  const [onnx, tensorflow] = pair?.sides ?? [];
  assert.ok(onnx?.dialect && tensorflow?.dialect);
  const { node, inputs } = readState(stateOf(onnx));
  assert.deepEqual([...(ruleFor(node, inputs, onnx.dialect)?.undecided ?? [])], [1]);
  const rule = ruleFor(node, inputs, tensorflow.dialect);
  assert.deepEqual(rule?.output.toArray(), [0, 30, 20, 0]);
  assert.equal(rule.undecided.size, 0);
});

test("a preset is in one pair at most, and both of its sides find it", () => {
  for (const pair of PAIRS) for (const { preset } of pair.sides) assert.equal(pairOf(preset), pair);
  assert.equal(pairOf("first"), null);
  assert.equal(pairOf(""), null);
});
