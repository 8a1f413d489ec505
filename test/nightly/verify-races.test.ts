/** Races of ONNX Runtime itself: plain `verify` commands find them in every one of 20 runs, and name the reason. */

import assert from "node:assert/strict";
import * as fs from "node:fs";
import * as os from "node:os";
import { test } from "node:test";
import { writeModel, type Model } from "../../src/entries/onnx.ts";
import { tensor } from "../../src/core/tensor/tensor.ts";
import { makeFolder } from "../support/cli.ts";
import { F32, i64, scatterND } from "../support/node-models.ts";
import { MODULES, WITHOUT_RUNTIME } from "../support/onnxruntime.ts";
import { graphNetwork, manyIntoFew } from "../support/racing-models.ts";

const skip = WITHOUT_RUNTIME;
const folder = makeFolder();
fs.symlinkSync(MODULES, folder.at("node_modules"));

const save = (name: string, model: Model): void =>
  fs.writeFileSync(folder.at(name), writeModel(model));

const TIMES = 20;

/** One thread has nobody to race with. */
const single = os.availableParallelism() < 2 ? "the machine has one core" : skip;

for (const [title, model, options] of [
  ["a graph network of three layers", graphNetwork(), "--random --dim N=2000"],
  ["40,000 rows that are added into 8", manyIntoFew(), "--random"],
] as const) {
  test(
    `${title}: found in ${TIMES} of ${TIMES} commands, as lost updates`,
    { skip: single },
    async () => {
      save("racing.onnx", model);
      const said: string[] = [];
      for (let time = 0; time < TIMES; time++) {
        // oxlint-disable-next-line no-await-in-loop
        const { status, stdout } = await folder.ndscatter(`verify racing.onnx ${options}`);
        if (status === 1 && stdout.includes("not reproducible")) said.push(stdout);
      }
      assert.equal(said.length, TIMES);
      for (const one of said) {
        assert.match(one, /\(lost-updates, /);
        assert.doesNotMatch(one, /\(rounding, /);
      }
    },
  );
}

test(
  "with one thread the same rows are exact, and the report says how often",
  { skip },
  async () => {
    save("racing.onnx", manyIntoFew());
    const { status, stdout } = await folder.ndscatter("verify racing.onnx --random --threads 1");
    assert.equal(status, 0);
    assert.match(stdout, /equal: ScatterND-18 sum: .*\d+ runs/);
  },
);

test("a maximum with NaN: the first reason is the right one", { skip }, async () => {
  const nan = scatterND({
    data: F32(1),
    indices: i64([2, 1], 0, 0),
    updates: tensor("float32", [2], [NaN, 5]),
    attributes: { reduction: "max" },
  });
  save("nan.onnx", nan);
  folder.save("one.npy", tensor("float32", [1], [1]));
  const { stdout } = await folder.ndscatter("verify nan.onnx --feed data=one.npy");
  assert.match(stdout, /\(nan-one-operand, .*onnxruntime-cpu/);
});

test(
  "100 runs of a model that races end, with the first result explained",
  { skip: single },
  async () => {
    save("racing.onnx", manyIntoFew());
    const { status, stdout } = await folder.ndscatter("verify racing.onnx --random --runs 100");
    assert.equal(status, 1);
    assert.match(stdout, /differs: .*\brun \d+/);
    assert.match(stdout, /\(lost-updates, /);
  },
);
