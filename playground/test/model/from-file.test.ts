/** Dropped files: tensors, models of both formats, and files that are neither. */

import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { run, tensor, zeros } from "ndscatter";
import { writeNpy } from "ndscatter/npy";
import { buildModel, writeModel, writeTensor, type ModelSpec } from "ndscatter/onnx";
import { writeIR } from "ndscatter/openvino";
import { fromFile, type FileContent } from "../../src/reading/from-file.ts";
import { readState } from "../../src/document/read-state.ts";
import { placesFile } from "../../../test/support/place-models.ts";

const UPDATES = tensor(
  "float32",
  [2, 2],
  [
    [1.5, -0],
    [NaN, 1e-45],
  ],
);

async function contentOf(
  name: string,
  bytes: Uint8Array,
  bin?: Uint8Array,
): Promise<Exclude<FileContent, { error: string }>> {
  const found = await fromFile(name, bytes, bin && [{ name: "model.bin", bytes: bin }]);
  assert.ok("choices" in found, "error" in found ? found.error : "");
  return found;
}

async function refused(name: string, bytes: Uint8Array): Promise<string> {
  const found = await fromFile(name, bytes);
  assert.ok("error" in found);
  return found.error;
}

for (const [name, bytes] of [
  ["updates.npy", writeNpy(UPDATES)],
  ["Updates.NPY", writeNpy(UPDATES)],
  ["input_0.pb", writeTensor(UPDATES)],
] as const) {
  test(`a tensor: ${name}`, async () => {
    assert.deepEqual(await contentOf(name, bytes), {
      choices: [
        {
          kind: "tensor",
          title: name,
          input: { dtype: "float32", shape: [2, 2], values: ["1.5", "-0", "nan", "1e-45"] },
        },
      ],
      remarks: [],
    });
  });
}

/** Scatters and a gather between other nodes. Some inputs are constants; of others nothing is known. */
const SPEC: ModelSpec = {
  opsets: { "ai.onnx": 17 },
  inputs: { data: { dtype: "float32", shape: ["N", 4] } },
  constants: { indices: tensor("int64", [2, 1], [[1], [-1]]) },
  nodes: [
    { op: "Relu", inputs: ["data"], outputs: ["positive"] },
    {
      op: "Constant",
      inputs: [],
      outputs: ["rows"],
      attributes: { value: tensor("float32", [2, 4], [1, 2, 3, 4, 5, 6, 7, 8]) },
    },
    {
      op: "ScatterND",
      name: "cache",
      inputs: ["data", "indices", "rows"],
      outputs: ["y"],
      attributes: { reduction: "add" },
    },
    {
      op: "ScatterElements",
      inputs: ["positive", "indices", "made"],
      outputs: ["z"],
      attributes: { axis: 1, reduction: "none" },
    },
    { op: "Gather", inputs: ["y", "indices"], outputs: ["w"] },
  ],
  outputs: { y: null, z: null },
};

test("a model: its nodes with their constants, and zeros for the rest", async () => {
  const { choices, remarks } = await contentOf("model.onnx", writeModel(buildModel(SPEC)));
  assert.deepEqual(remarks, []);
  assert.deepEqual(
    choices.map(({ title }) => title),
    ['ScatterND-16 "cache"', 'ScatterElements-16 "z"', 'Gather-13 "w"'],
  );
  const [cache, elements] = choices;
  assert.ok(cache.kind === "node" && elements.kind === "node");
  assert.deepEqual(cache.state, {
    domain: "ai.onnx",
    op: "ScatterND",
    opset: 16,
    attributes: { reduction: "add" },
    inputs: [
      { dtype: "float32", shape: [2, 4], values: Array.from("00000000") },
      { dtype: "int64", shape: [2, 1], values: ["1", "-1"] },
      { dtype: "float32", shape: [2, 4], values: Array.from("12345678") },
    ],
  });
  assert.deepEqual(cache.remarks, [
    "The model has no values for data, so it is zeros here. To see the real call, open the model together with .npy " +
      "files of the node's inputs.",
    "data is float32 [N, 4] in the model; float32 [2, 4] stands for it.",
  ]);
  // Both updates hit row 1 of two.
  const { node, inputs, faults } = readState(cache.state);
  assert.deepEqual(faults, []);
  assert.deepEqual(run(node, inputs)[0].toArray(), [
    [0, 0, 0, 0],
    [6, 8, 10, 12],
  ]);
  assert.deepEqual(elements.state.attributes, { axis: "1" });
  assert.deepEqual(
    elements.state.inputs.map((input) => input?.shape),
    [
      [2, 4],
      [2, 1],
      [2, 1],
    ],
  );
  assert.equal(elements.remarks.length, 3);
  assert.equal(
    elements.remarks[2],
    "The type of updates is unknown; float32 [2, 1] stands for it.",
  );
  assert.match(
    elements.remarks[0],
    /^The model has no values for \w+ and \w+, so they are zeros here\. /,
  );
});

test("nodes in bodies and functions are listed with their paths, and read values around them", async () => {
  const { choices } = await contentOf("places.onnx", placesFile());
  const deep = 'If "choose" / then_branch / If "again" / then_branch';
  assert.deepEqual(
    choices.map(({ title }) => title),
    [
      'GatherND-13 "take" in If "choose" / then_branch',
      `GatherND-13 "outer index" in ${deep}`,
      `GatherND-13 "made index" in ${deep}`,
      `GatherND-13 "inner index" in ${deep}`,
      'GatherND-13 "take" in If "choose" / else_branch',
      'GatherND-13 "l" in Loop "looped" / body',
      'GatherND-13 "own"',
      'GatherND-13 "first" in function d.F',
      'Gather-13 "second" in function d.F',
    ],
  );
  const indices = choices.slice(1, 4).map((one) => one.kind === "node" && one.state.inputs[1]);
  assert.deepEqual(
    indices.map((one) => one && one.values),
    [["1"], ["2"], ["0"]],
  );
  const last = choices[8];
  assert.ok(last.kind === "node");
  assert.deepEqual(last.state.attributes, {});
  assert.match(last.remarks.join("\n"), /the value of axis comes from the function's caller/);
});

test("types that the model determines are not invented", async () => {
  const model = buildModel({
    opsets: { "ai.onnx": 18 },
    inputs: { x: { dtype: "int64", shape: [4] } },
    constants: { at: tensor("int64", [1, 1], [2]), one: tensor("int64", [1], [1]) },
    nodes: [
      { op: "Add", inputs: ["x", "one"], outputs: ["sum"] },
      { op: "ScatterND", inputs: ["sum", "at", "one"], outputs: ["y"] },
    ],
    outputs: { y: null },
  });
  const [choice] = (await contentOf("m.onnx", writeModel(model))).choices;
  assert.ok(choice.kind === "node");
  assert.deepEqual(choice.state.inputs[0], { dtype: "int64", shape: [4], values: [..."0000"] });
  assert.equal(choice.remarks.length, 1);
});

test("an IR: with its .bin, and without it", async () => {
  const model = buildModel({
    irVersion: 11,
    opsets: { openvino: 15 },
    inputs: { data: { dtype: "float32", shape: [4] } },
    constants: { indices: tensor("int32", [1, 1], [[-1]]), updates: tensor("float32", [1], [9]) },
    nodes: [
      {
        op: "ScatterNDUpdate",
        domain: "openvino",
        inputs: ["data", "indices", "updates"],
        outputs: ["y"],
        attributes: { reduction: "sum" },
      },
    ],
    outputs: { y: { dtype: "float32", shape: [4] } },
  });
  const { xml, bin } = writeIR(model);
  const bytes = new TextEncoder().encode(xml);
  const { choices } = await contentOf("model.xml", bytes, bin);
  assert.equal(choices.length, 1);
  const [choice] = choices;
  assert.ok(choice.kind === "node");
  const { node, inputs, faults } = readState(choice.state);
  assert.deepEqual(faults, []);
  assert.deepEqual(run(node, inputs)[0].toArray(), [0, 0, 0, 9]);
  const [without] = (await contentOf("model.xml", bytes)).choices;
  assert.ok(without.kind === "node");
  assert.match(without.remarks.join("\n"), /indices cannot be read: /);
  assert.deepEqual(
    without.state.inputs.map((input) => input?.shape),
    [[4], [1, 1], [1]],
  );
});

test("what is larger than the page shows is refused, and its neighbours are shown", async () => {
  assert.match(
    await refused("large.npy", writeNpy(zeros("int8", [200, 200]))),
    /up to 20,000 elements, but large.npy of shape \[200, 200\] has 40,000/,
  );
  assert.match(
    await refused("deep.npy", writeNpy(zeros("int8", [1, 1, 1, 1, 1, 1]))),
    /up to 5 axes/,
  );
  const spec = {
    ...SPEC,
    inputs: {
      data: { dtype: "float32", shape: [100_000, 4] },
      small: { dtype: "float32", shape: [3, 4] },
    },
    nodes: [
      ...SPEC.nodes.slice(1, 3),
      { op: "Gather", inputs: ["small", "indices"], outputs: ["v"] },
      { op: "GatherND", inputs: ["small", "indices"], outputs: ["w"] },
    ],
    outputs: { y: null },
  } as const;
  const { choices, remarks } = await contentOf("model.onnx", writeModel(buildModel(spec)));
  assert.equal(choices.length, 2);
  assert.match(remarks[0], /^ScatterND-16 "cache" is not shown: .*400,000$/);
});

test("files that hold nothing for the page are refused", async () => {
  const other = buildModel({
    opsets: { "ai.onnx": 18 },
    inputs: { x: { dtype: "float32", shape: [1] } },
    nodes: [{ op: "Relu", inputs: ["x"], outputs: ["y"] }],
    outputs: { y: null },
  });
  assert.equal(
    await refused("m.onnx", writeModel(other)),
    "the model has no scatter or gather that the page supports, only Relu",
  );
  assert.match(
    await refused("m.bin", new Uint8Array(4)),
    /^the name "m\.bin" must end in one of \.npy, \.pb, \.onnx, \.xml$/,
  );
  assert.match(await refused("constructor", new Uint8Array(4)), /must end in one of/);
  assert.match(await refused("a.npy", new Uint8Array(4)), /NPY/);
  assert.match(await refused("a.xml", new TextEncoder().encode("<net>")), /./);
});

test("no bytes throw", async () => {
  const sound = [writeNpy(UPDATES), writeTensor(UPDATES), writeModel(buildModel(SPEC))];
  const changed = fc
    .tuple(fc.constantFrom(...sound), fc.nat(), fc.uint8Array({ maxLength: 4 }))
    .map(([bytes, at, other]) => {
      const copy = bytes.slice();
      copy.set(other, Math.min(at % copy.length, copy.length - other.length));
      return copy;
    });
  await fc.assert(
    fc.asyncProperty(
      fc.constantFrom("a.npy", "a.pb", "a.onnx", "a.xml"),
      fc.oneof(fc.uint8Array(), changed),
      async (name, bytes) => {
        const found = await fromFile(name, bytes);
        if ("error" in found) assert.ok(found.error.length > 0);
        else
          for (const choice of found.choices) if (choice.kind === "node") readState(choice.state);
      },
    ),
    { numRuns: 500 },
  );
});
