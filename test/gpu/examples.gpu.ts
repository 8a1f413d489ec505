/** The examples of the operators' documents, and random calls by the nested loops of `other-rules.ts`, in every way. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { fromNested, tensor } from "../../src/core/tensor/tensor.ts";
import { EXAMPLES, type Example } from "../fixtures/examples.ts";
import { isScatter, outputShape, runWith, type Sample } from "../support/other-rules.ts";
import { anyCall } from "../support/planted.ts";
import { randomFrom } from "../support/random.ts";
import { hasArithmetic } from "./gpu.ts";
import type { Case, Name } from "../support/ways.ts";
import { goAll } from "./ways.ts";

/** The functions that do what operators of the two domains do. */
const FUNCTIONS: Readonly<Record<string, Name>> = {
  ScatterND: "scatterND",
  ScatterNDUpdate: "scatterND",
  Scatter: "scatterElements",
  ScatterElements: "scatterElements",
  ScatterElementsUpdate: "scatterElements",
  TensorScatter: "tensorScatter",
  GatherND: "gatherND",
  GatherElements: "gatherElements",
  Gather: "gather",
};

/** Reductions that openvino calls by other words. */
const WORDS: Readonly<Record<string, string>> = { sum: "add", prod: "mul" };

/** What no function of the package says. */
const ONLY_AS_NODES = /the batch axes are fused/;

/** As the functions of the package take them. Gather-8 of openvino fills in zeros for indices outside the axis. */
function optionsOf({ op, domain, versions, attributes = {}, axis }: Example) {
  const { reduction, batch_dims: batchDims, use_init_val: includeSelf, mode } = attributes;
  return {
    axis: axis === undefined ? attributes["axis"] : Number(axis),
    batchDims,
    reduction: typeof reduction === "string" ? (WORDS[reduction] ?? reduction) : undefined,
    mode,
    includeSelf,
    bounds: op === "Gather" && domain === "openvino" && versions.includes(8) ? "fill" : undefined,
  };
}

function caseOf(example: Example): Case {
  const { op, source, dtype, indexType, data, indices, updates, output } = example;
  // The document's own type, or the one that the functions take.
  const type = indexType === "uint8" ? "int32" : indexType;
  const places = indices === undefined ? undefined : fromNested(type, indices, {});
  const values = updates === undefined ? [] : [fromNested(dtype, updates, {})];
  const known = Object.entries(optionsOf(example)).filter(([, value]) => value !== undefined);
  const rest = places === undefined ? [] : [places];
  return {
    name: source,
    operator: FUNCTIONS[op],
    inputs: [
      fromNested(dtype, data, {}),
      ...(op === "TensorScatter" ? [...values, ...rest] : [...rest, ...values]),
    ],
    options: Object.fromEntries(known),
    expected: fromNested(dtype, output, {}),
  };
}

const examples = EXAMPLES.filter(
  ({ op, source, dtype }) => op in FUNCTIONS && dtype !== "string" && !ONLY_AS_NODES.test(source),
);

test("there are examples of all functions", () => {
  const named = new Set(examples.map(({ op }) => FUNCTIONS[op]));
  assert.deepEqual(named, new Set(Object.values(FUNCTIONS)));
});

for (const example of examples) {
  test(example.source, async () => {
    assert.ok((await goAll([caseOf(example)])) >= 3);
  });
}

function sampleCase(sample: Sample, name: string): Case {
  const { op, dtype, axis, batchDims, reduction, data, indices, updates } = sample;
  const places = tensor("int64", indices.shape, [...indices.values]);
  const values = isScatter(sample) ? [tensor(dtype, updates.shape, [...updates.values])] : [];
  const known = {
    ...(!op.endsWith("ND") && { axis }),
    ...(["GatherND", "Gather"].includes(op) && { batchDims }),
    ...(isScatter(sample) && op !== "TensorScatter" && { reduction }),
  };
  return {
    name: `${name} ${op} of ${dtype} ${JSON.stringify(known)}`,
    operator: FUNCTIONS[op],
    inputs: [
      tensor(dtype, data.shape, [...data.values]),
      ...(op === "TensorScatter" ? [...values, places] : [places, ...values]),
    ],
    options: known,
    expected: tensor(dtype, outputShape(sample), runWith(sample)),
  };
}

const DTYPES = [
  "float32",
  "float16",
  "bfloat16",
  "float64",
  "int16",
  "int32",
  "int64",
  "uint32",
] as const;
const OPS = [
  "ScatterND",
  "ScatterElements",
  "GatherND",
  "GatherElements",
  "Gather",
  "TensorScatter",
] as const;
const SAMPLES = 3;

for (const dtype of DTYPES) {
  test(`nested loops give the same for ${dtype}`, async () => {
    const random = randomFrom(dtype.length);
    // Products of 64-bit integers outgrow the loops' doubles.
    const words = (["none", "add", "mul", "max", "min"] as const).filter(
      (word) => word === "none" || (hasArithmetic(dtype) && !(dtype === "int64" && word === "mul")),
    );
    const cases: Case[] = [];
    for (const op of OPS) {
      for (const word of op.startsWith("Scatter") ? words : (["none"] as const)) {
        for (const batches of op.startsWith("Gather") && op !== "GatherElements"
          ? [false, true]
          : [false]) {
          for (let n = 0; n < SAMPLES; n++) {
            const sample = anyCall(random, { ops: [op], dtypes: [dtype], words: [word], batches });
            cases.push(sampleCase(sample, `sample ${cases.length}:`));
          }
        }
      }
    }
    assert.ok((await goAll(cases)) >= 50);
  });
}
