/** Models in other opsets and formats: what is rewritten, what is refused, what stays, and that the results are the same. */

import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";

import { isTensorError } from "../src/errors.ts";
import {
  convertModel,
  readModel,
  runModel,
  writeModel,
  type ConvertTarget,
  type Model,
} from "../src/onnx/index.ts";
import { readIR, writeIR } from "../src/openvino/index.ts";
import { operators } from "../src/operators/registry.ts";
import { equals } from "../src/tensor.ts";
import { randomModel } from "./support/models.ts";
import { randomFrom } from "./support/random.ts";

const seed = Number(process.env["SEED"] ?? 20261120);

/** The model after it was a file. */
function asFile(model: Model): Model {
  if ("ai.onnx" in model.opsets) return readModel(writeModel(model));
  const { xml, bin } = writeIR(model);
  return readIR(xml, bin);
}

test("a random node of any operator, version and data type gives the same bits in any other opset and format", () => {
  const versions = operators();
  const converted = new Map<string, number>();
  let refused = 0;
  const property = fc.property(fc.nat(), (number) => {
    const random = randomFrom(number);
    const version = versions[random(versions.length)];
    const next = versions.find(
      ({ name, domain, sinceVersion }) =>
        name === version.name && domain === version.domain && sinceVersion > version.sinceVersion,
    );
    const { model, inputs } = randomModel(version, (next?.sinceVersion ?? 29) - 1, random);
    const target: ConvertTarget =
      random(2) === 0
        ? { opset: 9 + random(20) }
        : { domain: "openvino", ...(random(2) === 0 && { opset: 3 + random(14) }) };
    let result: Model;
    try {
      result = convertModel(model, target).model;
    } catch (error) {
      assert.ok(isTensorError(error, "unsupported-model"), String(error));
      assert.match(error.message, /^node "node" cannot be converted to /);
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
      assert.ok(equals(runModel(after, inputs)[output.name], before), JSON.stringify(target));
    }
  });
  fc.assert(property, { seed, numRuns: 1500 });
  const least = {
    "ai.onnx to ai.onnx": 300,
    "ai.onnx to openvino": 250,
    "openvino to ai.onnx": 120,
  };
  for (const [pair, count] of Object.entries(least))
    assert.ok(
      (converted.get(pair) ?? 0) >= count,
      `${pair}: ${converted.get(pair)}, and ${refused} refused`,
    );
});
