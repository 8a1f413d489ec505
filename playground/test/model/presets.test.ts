/** Every example of the documents is on the page, with the values of the library's tests. */

import assert from "node:assert/strict";
import fs from "node:fs";
import { test } from "node:test";
import { equals, operators, run, tensor, type Tensor } from "ndscatter";
import { roleOf, resolve } from "ndscatter/operators";
import { EXAMPLES, type Example } from "../../../test/fixtures/examples.ts";
import type { Preset } from "../../src/examples/preset.ts";
import { CONFUSIONS_GROUP, PRESETS } from "../../src/examples/presets.ts";
import { readState, explainState } from "../../src/document/read-state.ts";
import { defaultText } from "../../src/values/schema.ts";

const ofDocuments = PRESETS.filter(({ group }) => group !== CONFUSIONS_GROUP);
const confusions = PRESETS.filter(({ group }) => group === CONFUSIONS_GROUP);

/** The shape of nested lists. */
const shapeOf = (nested: unknown): number[] =>
  Array.isArray(nested) ? [nested.length, ...(nested.length > 0 ? shapeOf(nested[0]) : [])] : [];

const tensorOf = (dtype: Tensor["dtype"], nested: unknown): Tensor =>
  tensor(dtype, shapeOf(nested), nested as never);

/** Whether a preset is the call of a row, on the same bits. */
function isOf({ state }: Preset, row: Example): boolean {
  const { domain = "ai.onnx", op, versions, attributes = {} } = row;
  if (state.domain !== domain || state.op !== op || !versions.includes(state.opset)) return false;
  const version = resolve(state);
  const isCalledAlike = version.attributes.every(({ name }) => {
    const text = defaultText(version, name);
    const wanted = Object.hasOwn(attributes, name) ? String(attributes[name]) : text;
    return (state.attributes[name] ?? text) === wanted;
  });
  const { inputs } = readState(state);
  return (
    isCalledAlike &&
    version.inputs.every((schema, position) => {
      const role = roleOf(schema);
      const wanted = row[role];
      const got = inputs[position];
      if (wanted === undefined || got === undefined) return wanted === got;
      const dtype = role === "indices" ? row.indexType : role === "axis" ? got.dtype : row.dtype;
      return equals(got, tensorOf(dtype, wanted));
    })
  );
}

for (const row of EXAMPLES) {
  test(`${row.domain ?? "ai.onnx"}: ${row.source}`, () => {
    const found = ofDocuments.filter((preset) => isOf(preset, row));
    assert.ok(found.length > 0, "no preset has it");
    const [output] = run(readState(found[0].state).node, readState(found[0].state).inputs);
    assert.ok(equals(output, tensorOf(row.dtype, row.output)));
  });
}

test("there are no other examples of documents", () => {
  for (const preset of ofDocuments) {
    assert.ok(
      EXAMPLES.some((row) => isOf(preset, row)),
      preset.id,
    );
  }
  assert.equal(ofDocuments.length, EXAMPLES.length);
});

test("the note of an example with a corrected value says what the specification prints", () => {
  for (const row of EXAMPLES.filter(({ source }) => /corrected|brackets/.test(source))) {
    const preset = ofDocuments.find((one) => isOf(one, row));
    assert.match(preset?.note ?? "", /The specification prints/, row.source);
  }
});

/** What a note says about each row of docs/errata.md, in the order of the rows. */
const ERRATA: readonly RegExp[] = [
  /says that mul adds, which is wrong\. mul multiplies/,
  /second part should be data\.shape\[k:\], with the last axis/,
  /NumPy needs output\[tuple\(indices\[idx\]\)\]/,
  /The operator should be =, because f already adds/,
  /prints the third block/,
  /rank q \+ r - k - 1, which leaves out the batches/,
  /prints `indices = \[,\]`/,
  /does not give the output shape/,
  /the axis is batch_dims \+ i/,
  /each tuple addresses only its own batch/,
  /the inverse of ScatterND\. This statement is true only without batches/,
  /With a reduction, indices may repeat/,
  /In fact, only targets must not repeat/,
  /says nothing about bounds/,
  /without commas between its rows/,
  /output\[4\] as 4/,
  /single tuple of 5 indices, which is more than data has axes/,
  /\[50, 40, 20, 4\]/,
  /the products are 2 · 30/,
  /instead of func\(out\[tuple/,
  /max and min on slices, which fails/,
  /writes the type ScatterNdUpdate, and puts reduction on <layer>/,
  /The correct type is ScatterNDUpdate/,
  /adds a further index, i_k/,
  /The correct formula is data\.shape\[j\] \+ index/,
  /ScatterNDUpdate do not define min and max of booleans/,
  /an extra pair of brackets/,
  /Version 1 requires that indices are within bounds/,
  /takes the remainder of every coordinate/,
  /where the result is written/,
  /the result is the mean of all values/,
  /The correct formula is data\.shape\[axis\] \+ index/,
  /puts reduction and use_init_val on <layer>/,
  /the batch axes are merged into one axis/,
  /batch axes may be broadcast/,
];

test("every known erratum is in a note", () => {
  const errata = fs.readFileSync(new URL("../../../docs/errata.md", import.meta.url), "utf8");
  const rows = errata.split("\n").filter((line) => line.startsWith("|"));
  // The first two are the head and the line below it.
  assert.equal(ERRATA.length, rows.length - 2);
  for (const sentence of ERRATA)
    assert.ok(
      PRESETS.some(({ note }) => sentence.test(note)),
      String(sentence),
    );
});

test("every operator has an example, and the newest version of each is among them", () => {
  for (const { domain, name } of operators()) {
    const states = PRESETS.map(({ state }) => state).filter(
      (one) => one.op === name && one.domain === domain,
    );
    assert.ok(states.length > 0, name);
    const newest = resolve({ domain, op: name, opset: Number.MAX_SAFE_INTEGER }).sinceVersion;
    assert.ok(
      states.some(({ opset }) => opset === newest || newest === 11),
      name,
    );
  }
});

test("ids are plain, and no two presets have one", () => {
  const ids = PRESETS.map(({ id }) => id);
  assert.equal(new Set(ids).size, ids.length);
  for (const id of ids) assert.match(id, /^[a-z0-9]+(-[a-z0-9]+)*$/);
});

test("titles differ within a group", () => {
  const titles = PRESETS.map(({ group, title }) => `${group}: ${title}`);
  assert.equal(new Set(titles).size, titles.length);
});

/** The outcome of each confusion, worked out by hand: the output in JSON, or the code of the error. */
const OUTCOMES: Readonly<Record<string, string>> = {
  "Indices of rank 1 are a single tuple": "[[[0,0,0],[0,0,0]],[[0,0,5],[0,0,0]]]",
  "A list of scalars needs one more axis": "[0,30,0,20,10,0]",
  "… and without it is refused": "rank",
  "k, the length of a tuple: 2": "[[[0,0,0],[1,2,3]],[[4,5,6],[0,0,0]]]",
  "q - 1, the axes that count tuples: 2": "[[[1,2,3],[4,5,6]],[[7,8,9],[10,11,12]]]",
  "Duplicates: without a reduction, the last one wins": "[[1,1],[50,60],[1,1]]",
  "Duplicates: with add, all updates count": "[[1,1],[91,121],[1,1]]",
  "Duplicates: 2 and -1 name one target": "[0,0,20]",
  "Duplicates: what ONNX leaves open": "[0,30,20,0]",
  "batch_dims 0: tuples address all of data": "[[3,4],[5,6]]",
  "batch_dims 1: each batch has its own tuple": "[2,7]",
  "Axis 0: an index is a row": "[[1,5,0],[0,2,6],[4,0,3]]",
  "Axis 1: an index is a column": "[[1,2,3],[5,6,4],[0,0,0]]",
  "GatherElements: an index picks one element": "[[1,8,6]]",
  "Gather: an index picks a whole slice": "[[[1,2,3],[7,8,9],[4,5,6]]]",
  "ScatterND: a row of indices is one address": "[[0,10,0],[0,0,0],[20,0,0]]",
  "torch.scatter is ScatterElements": "[[10,40,0],[0,20,0],[30,0,0]]",
  "Indices smaller than data": "[[1,-2,3],[4,5,6],[-1,8,9]]",
  "Negative indices count from the back": "[[5,6,7,8],[0,0,0,0],[0,0,0,0],[1,2,3,4]]",
  "Updates of the wrong shape": "shape-mismatch",
  "An index out of range": "index-out-of-range",
  "Out of range in Gather-13 is an error": "index-out-of-range",
  "Out of range in Gather-8 gives 0": "[4,0,5]",
  "TensorScatter, circular: the cache is a ring": "[[20,30,3,10]]",
  "TensorScatter, linear: the same does not fit": "index-out-of-range",
  "Half precision: each step is rounded": "[2048,2050]",
  "Integers wrap around": "[4,7]",
};

for (const { title, state } of confusions) {
  test(`the outcome of ${title}`, () => {
    const { explanation, faults } = explainState(state);
    const { output, error } = explanation ?? {};
    assert.equal(error?.code ?? JSON.stringify(output?.toArray()), OUTCOMES[title]);
    assert.equal(faults.length > 0, error !== null);
  });
}

test("every confusion has an outcome", () => {
  assert.deepEqual(
    confusions.map(({ title }) => title),
    Object.keys(OUTCOMES),
  );
});
