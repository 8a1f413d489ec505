/** Random models: in any opset and format they give the same bits, or are refused for a reason that is listed. */

import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";

import { isTensorError } from "../../src/core/errors.ts";
import { elementTypeOf } from "../../src/models/model/element-type.ts";
import {
  convertModel,
  readModel,
  runModel,
  writeModel,
  type ConvertTarget,
  type Model,
} from "../../src/entries/onnx.ts";
import { findVersion, operators } from "../../src/core/operators/registry.ts";
import { equals } from "../../src/core/tensor/compare.ts";
import type { Tensor } from "../../src/core/tensor/tensor.ts";
import { G, ND, OPENVINO } from "../fixtures/rewrites.ts";
import { mutate } from "../support/onnx-encoder.ts";
import { caseCount } from "../support/cases.ts";
import { reasonOf, refusedSentences } from "../support/convert-reasons.ts";
import { withBodies } from "../support/body-files.ts";
import { asFile } from "../support/model-files.ts";
import { lastOpset, randomModel } from "../support/models.ts";
import { gather, i64, oneNode, scatterND } from "../support/node-models.ts";
import { randomFrom, randomTensor, seedOf } from "../support/random.ts";

const seed = seedOf("convert-random");

/** Returns true for a model with a max or min. */
const hasMaxOrMin = ({ graph }: Model): boolean =>
  graph.nodes.some(({ attributes: { reduction } }) =>
    ["max", "min"].includes(reduction?.type === "string" ? reduction.value : ""),
  );

const numbersOf = (value: unknown): unknown[] =>
  Array.isArray(value) ? value.flatMap(numbersOf) : [value];

/** Compares floats as far as the formats agree on max and min: not where an operand is NaN, and 0 equals -0. */
function isEqualBesideNan(found: Tensor, expected: Tensor): boolean {
  const values = [found, expected].map((one) => numbersOf(one.toArray()));
  return values[0].every(
    (value, at) => Number.isNaN(value) || Number.isNaN(values[1][at]) || value === values[1][at],
  );
}

test("a random node of any version and data type gives the same bits in any opset and format", () => {
  const versions = operators();
  const converted = new Map<string, number>();
  const known = new Set(refusedSentences().map(reasonOf));
  let refused = 0;
  const property = fc.property(fc.nat(), (number) => {
    const random = randomFrom(number);
    const version = versions[random(versions.length)];
    const { model, inputs } = randomModel(version, lastOpset(version), random);
    const target: ConvertTarget =
      random(2) === 0
        ? { opset: 9 + random(20) }
        : { domain: "openvino", ...(random(2) === 0 && { opset: 3 + random(14) }) };
    let result: Model;
    let isNoted: boolean;
    try {
      const converted = convertModel(model, target);
      result = converted.model;
      isNoted = converted.notes.length > 0 && hasMaxOrMin(model);
    } catch (error) {
      assert.ok(isTensorError(error, "unsupported-model"), String(error));
      assert.ok(isTensorError(error.cause, "unsupported-model"), String(error));
      assert.ok(
        known.has(reasonOf(error.cause.message)),
        `${reasonOf(error.cause.message)}: ${error.message}`,
      );
      refused++;
      return;
    }
    const pair = `${version.domain} to ${target.domain ?? "ai.onnx"}`;
    converted.set(pair, (converted.get(pair) ?? 0) + 1);
    const [output] = model.graph.outputs;
    const before = runModel(model, inputs)[output.name];
    // Random text has halves of surrogate pairs, which no file holds.
    const isText = result.graph.constants.some(({ dtype }) => dtype === "string");
    for (const after of isText ? [result] : [result, asFile(result)]) {
      const found = runModel(after, inputs)[output.name];
      const isRight = equals(found, before) || (isNoted && isEqualBesideNan(found, before));
      assert.ok(isRight, JSON.stringify(target));
    }
  });
  fc.assert(property, { seed, numRuns: caseCount(1500, 8) });
  // Half of what is expected, or less, so that the counts hold for every seed.
  const least = {
    "ai.onnx to ai.onnx": 150,
    "ai.onnx to openvino": 125,
    "openvino to ai.onnx": 40,
    "openvino to openvino": 45,
  };
  for (const [pair, count] of Object.entries(least)) {
    const found = converted.get(pair) ?? 0;
    assert.ok(found >= caseCount(count, 8), `${pair}: ${found}, and ${refused} refused`);
  }
});

interface RoundTrip {
  readonly op: string;
  readonly data: readonly number[];
  /** Indices that every version takes. */
  readonly indices: Tensor;
  readonly updates?: readonly number[];
  readonly attributes?: Readonly<Record<string, number>>;
}

/** As the newest version of ONNX has them. */
const ROUND_TRIPS: readonly RoundTrip[] = [
  { op: "ScatterND", data: [3, 2], indices: i64([2, 1], 2, 0), updates: [2, 2] },
  {
    op: "ScatterElements",
    data: [3, 2],
    indices: i64([1, 2], 2, 0),
    updates: [1, 2],
    attributes: { axis: 0 },
  },
  { op: "GatherND", data: [2, 3], indices: i64([2, 1], 2, 0), attributes: { batch_dims: 1 } },
  { op: "Gather", data: [2, 3], indices: i64([2], 2, 0), attributes: { axis: 1 } },
  { op: "GatherElements", data: [2, 3], indices: i64([2, 1], 2, 0), attributes: { axis: 1 } },
];

test("every operator in every data type goes from ONNX to OpenVINO and back, through both kinds of files", () => {
  let trips = 0;
  for (const { op, data, indices, updates, attributes = {} } of ROUND_TRIPS) {
    const version = findVersion({ op, opset: 18 });
    assert.ok(version !== null);
    const { types } = version.typeConstraints[0];
    assert.equal(types.length, 16);
    for (const dtype of types) {
      const random = randomFrom(trips);
      const inputs = {
        data: randomTensor(dtype, data, random),
        ...(updates !== undefined && { updates: randomTensor(dtype, updates, random) }),
      };
      const model = oneNode("ai.onnx", op, {
        opset: 18,
        data: { dtype, shape: data },
        indices,
        ...(updates !== undefined && { updates: { dtype, shape: updates } }),
        attributes,
      });
      const there = (): Model => asFile(convertModel(asFile(model), OPENVINO).model);
      if (elementTypeOf(dtype) === null || (dtype === "string" && op !== "Gather")) {
        assert.throws(there, (error) => isTensorError(error, "unsupported-model"), dtype);
        continue;
      }
      trips++;
      const { y } = runModel(model, inputs);
      if (op === "Gather") assert.ok(equals(runModel(there(), inputs)["y"], y));
      const back = asFile(convertModel(there(), { opset: 18 }).model);
      assert.ok(equals(runModel(back, inputs)["y"], y), `${op} ${dtype}`);
      assert.deepEqual(
        back.graph.inputs.map(({ name, type }) => [name, type]),
        model.graph.inputs.map(({ name, type }) => [name, type]),
      );
      assert.deepEqual(back.graph.outputs[0].type?.dtype, dtype);
    }
  }
  // OpenVINO has no complex types, and strings only in Gather.
  assert.equal(trips, ROUND_TRIPS.length * 13 + 1);
});

test("files that are broken at random are converted, or refused with an error of the package", () => {
  const next = randomFrom(seed);
  const originals = [
    writeModel(gather(G)),
    withBodies(),
    writeModel(scatterND({ ...ND, attributes: { reduction: "add" } })),
  ];
  const counts = { converted: 0, refused: 0 };
  for (let round = 0; round < 2000; round++) {
    const broken = mutate(originals[round % originals.length], next);
    const target = round % 2 === 0 ? { opset: 9 + next(20) } : OPENVINO;
    try {
      const { model } = convertModel(readModel(broken), target);
      asFile(model);
      counts.converted++;
    } catch (error) {
      assert.ok(isTensorError(error), error instanceof Error ? error.stack : String(error));
      counts.refused++;
    }
  }
  assert.ok(Math.min(counts.converted, counts.refused) > 100, JSON.stringify(counts));
});
