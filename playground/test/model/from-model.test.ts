/** Dropped models of both formats, alone, with tensors and as `ndscatter capture` writes them; and single tensors. */

import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { run, tensor, zeros, type DType, type TensorType } from "ndscatter";
import { writeNpy } from "ndscatter/npy";
import {
  buildModel,
  writeModel,
  writeTensor,
  type ModelNodeSpec,
  type ModelSpec,
} from "ndscatter/onnx";
import { writeIR } from "ndscatter/openvino";
import { readState } from "../../src/document/read-state.ts";
import { isCase, MODEL } from "../../src/reading/file-kinds.ts";
import { fromModel } from "../../src/reading/from-model.ts";
import { textIn, type NamedFile } from "../../src/reading/tensor-files.ts";
import type { Choice, Content, Refusal } from "../../src/reading/offer.ts";
import { fromTensors } from "../../src/reading/from-tensors.ts";
import { placesFile } from "../../../test/support/place-models.ts";
import { stateOf, SUM } from "../support/states.ts";

const read = (files: readonly NamedFile[]): Promise<Content | Refusal> =>
  files.some(({ name }) => MODEL.test(name)) ? fromModel(files) : fromTensors(files, stateOf(SUM));

const bytesOf = (text: string): Uint8Array => new TextEncoder().encode(text);

/** Returns a node from its operator, inputs and output, such as `Gather data rows taken`. */
const nodeFrom = (text: string, more: Partial<ModelNodeSpec> = {}): ModelNodeSpec => {
  const [op, ...inputs] = text.split(" ");
  return { op, outputs: inputs.splice(-1), inputs, ...more };
};

/** Returns a type from a text such as `float32 N,4`. */
const typeFrom = (text: string): TensorType => {
  const [dtype, dims] = text.split(" ");
  const shape = dims.split(",").map((dim) => (/^\d+$/.test(dim) ? Number(dim) : dim));
  return { dtype: dtype as DType, shape };
};

/** Returns the bytes of a model whose outputs are those of its last node. */
function modelOf(
  nodes: readonly ModelNodeSpec[],
  inputs: Readonly<Record<string, string>>,
  constants: ModelSpec["constants"] = {},
  opset = 18,
): NamedFile {
  const types = Object.entries(inputs).map(([name, text]) => [name, typeFrom(text)]);
  const outputs = { [nodes[nodes.length - 1].outputs[0]]: null };
  const spec = { opsets: { "ai.onnx": opset }, inputs: Object.fromEntries(types) };
  return {
    name: "node.onnx",
    bytes: writeModel(buildModel({ ...spec, constants, nodes, outputs })),
  };
}

async function contentOf(...files: readonly NamedFile[]): Promise<Content> {
  const found = await read(files);
  assert.ok("choices" in found, "error" in found ? found.error : "");
  return found;
}

type NodeChoice = Extract<Choice, { kind: "node" }>;

async function nodesOf(
  ...files: readonly NamedFile[]
): Promise<{ nodes: NodeChoice[]; remarks: readonly string[] }> {
  const { choices, remarks } = await contentOf(...files);
  return { nodes: choices.flatMap((one) => (one.kind === "node" ? one : [])), remarks };
}

const FLOATS = tensor("float32", [4], [1.5, -0, NaN, 1e-45]);

for (const [title, bytes] of [
  ["updates.npy", writeNpy(FLOATS)],
  ["Updates.NPY", writeNpy(FLOATS)],
  ["input_0.pb", writeTensor(FLOATS)],
] as const) {
  test(`a tensor: ${title}`, async () => {
    const input = { dtype: "float32", shape: [4], values: ["1.5", "-0", "nan", "1e-45"] } as const;
    assert.deepEqual(await contentOf({ name: title, bytes }), {
      choices: [{ kind: "tensor", title, input }],
      remarks: [],
    });
  });
}

const CACHE = nodeFrom("ScatterND data indices rows y", {
  name: "cache",
  attributes: { reduction: "add" },
});
const ROWS: ModelNodeSpec = {
  ...{ op: "Constant", inputs: [], outputs: ["rows"] },
  attributes: { value: tensor("float32", [2, 4], [1, 2, 3, 4, 5, 6, 7, 8]) },
};
const CONSTANTS = { indices: tensor("int64", [2, 1], [[1], [-1]]) };

/** Scatters and a gather between other nodes. Some inputs are constants; of others nothing is known. */
const SPECIFIED = modelOf(
  [
    nodeFrom("Relu data positive"),
    ROWS,
    CACHE,
    nodeFrom("ScatterElements positive indices made z", {
      attributes: { axis: 1, reduction: "none" },
    }),
    nodeFrom("Gather y indices w"),
  ],
  { data: "float32 N,4" },
  CONSTANTS,
  17,
);

test("a model: its nodes with their constants, and zeros for the rest", async () => {
  const { nodes, remarks } = await nodesOf(SPECIFIED);
  assert.deepEqual(remarks, []);
  assert.deepEqual(
    nodes.map(({ title }) => title),
    ['ScatterND-16 "cache"', 'ScatterElements-16 "z"', 'Gather-13 "w"'],
  );
  const [cache, elements] = nodes;
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
  const { nodes } = await nodesOf({ name: "places.onnx", bytes: placesFile() });
  const deep = 'If "choose" / then_branch / If "again" / then_branch';
  assert.deepEqual(
    nodes.map(({ title }) => title),
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
  assert.deepEqual(
    nodes.slice(1, 4).map(({ state }) => state.inputs[1]?.values),
    [["1"], ["2"], ["0"]],
  );
  const last = nodes[8];
  assert.deepEqual(last.state.attributes, {});
  assert.match(last.remarks.join("\n"), /the value of axis comes from the function's caller/);
});

test("types that the model determines are not invented", async () => {
  const model = modelOf(
    [nodeFrom("Add x one sum"), nodeFrom("ScatterND sum at one y")],
    { x: "int64 4" },
    { at: tensor("int64", [1, 1], [2]), one: tensor("int64", [1], [1]) },
  );
  const [choice] = (await nodesOf(model)).nodes;
  assert.deepEqual(choice.state.inputs[0], { dtype: "int64", shape: [4], values: [..."0000"] });
  assert.equal(choice.remarks.length, 1);
});

test("an IR: with its .bin, and without it", async () => {
  const attributes = { reduction: "sum" };
  const domain = "openvino";
  const model = buildModel({
    irVersion: 11,
    opsets: { openvino: 15 },
    inputs: { data: typeFrom("float32 4") },
    constants: { indices: tensor("int32", [1, 1], [[-1]]), updates: tensor("float32", [1], [9]) },
    nodes: [nodeFrom("ScatterNDUpdate data indices updates y", { domain, attributes })],
    outputs: { y: typeFrom("float32 4") },
  });
  const { xml, bin } = writeIR(model);
  const file = { name: "model.xml", bytes: bytesOf(xml) };
  const { nodes } = await nodesOf(file, { name: "model.bin", bytes: bin });
  assert.equal(nodes.length, 1);
  const [choice] = nodes;
  const { node, inputs, faults } = readState(choice.state);
  assert.deepEqual(faults, []);
  assert.deepEqual(run(node, inputs)[0].toArray(), [0, 0, 0, 9]);
  const [alone] = (await nodesOf(file)).nodes;
  assert.match(alone.remarks.join("\n"), /indices cannot be read: /);
  assert.deepEqual(
    alone.state.inputs.map((input) => input?.shape),
    [[4], [1, 1], [1]],
  );
});

test("what is larger than the page shows is refused, and its neighbours are shown", async () => {
  for (const [shape, sentence] of [
    [[200, 200], /up to 20,000 elements, but x.npy of shape \[200, 200\] has 40,000/],
    [[1, 1, 1, 1, 1, 1], /up to 5 axes/],
  ] as const) {
    const found = await textIn({ name: "x.npy", bytes: writeNpy(zeros("int8", shape)) });
    assert.ok("error" in found);
    assert.match(found.error, sentence);
  }
  const model = modelOf(
    [ROWS, CACHE, nodeFrom("Gather small indices v"), nodeFrom("GatherND small indices w")],
    { data: "float32 100000,4", small: "float32 3,4" },
    CONSTANTS,
    17,
  );
  const { nodes, remarks } = await nodesOf(model);
  assert.equal(nodes.length, 2);
  assert.match(remarks[0], /^ScatterND-16 "cache" is not shown: .*400,000$/);
});

for (const [name, bytes, sentence] of [
  [
    ...(["m.onnx", modelOf([nodeFrom("Relu x y")], { x: "float32 1" }).bytes] as const),
    /^the model has no scatter or gather that the page supports, only Relu$/,
  ],
  ["m.bin", new Uint8Array(4), /^the name "m\.bin" must end in one of \.npy, \.pb, \.onnx, \.xml$/],
  ["constructor", new Uint8Array(4), /must end in one of/],
  ["a.npy", new Uint8Array(4), /NPY/],
  ["a.xml", bytesOf("<net>"), /./],
] as const) {
  test(`a file that holds nothing for the page: ${name}`, async () => {
    const found = await read([{ name, bytes }]);
    assert.ok("error" in found);
    assert.match(found.error, sentence);
  });
}

const DATA = tensor("float32", [4, 2], [1, 2, 3, 4, 5, 6, 7, 8]);
const INDICES = tensor("int64", [3, 1], [1, -1, 1]);
const UPDATES = tensor("float32", [3, 2], [10, 20, 30, 40, 50, 60]);
/** The first update of row 1 stayed. */
const GAVE = tensor("float32", [4, 2], [1, 2, 10, 20, 5, 6, 30, 40]);

/** As capture writes it: inputs have the operator's names, and the output has no shape. */
const APPEND = nodeFrom("ScatterND data indices updates output", { name: "append" });
const NODE = modelOf([APPEND], {
  ...{ data: "float32 4,2", indices: "int64 3,1", updates: "float32 3,2" },
});

const FILES: readonly NamedFile[] = [
  { name: "case/data.npy", bytes: writeNpy(DATA) },
  { name: "case/indices.npy", bytes: writeNpy(INDICES) },
  { name: "case/node.onnx", bytes: NODE.bytes },
  { name: "case/runtime.0.npy", bytes: writeNpy(GAVE) },
  { name: "case/updates.npy", bytes: writeNpy(UPDATES) },
];

async function nodeOf(
  files: readonly NamedFile[],
): Promise<{ choice: NodeChoice; remarks: readonly string[] }> {
  const { nodes, remarks } = await nodesOf(...files);
  assert.equal(nodes.length, 1);
  return { choice: nodes[0], remarks };
}

const without = (...names: string[]): NamedFile[] =>
  FILES.filter(({ name }) => names.every((one) => !name.includes(one)));

test("a case: the call that was captured, and what the runtime gave", async () => {
  const { choice, remarks } = await nodeOf(FILES);
  assert.deepEqual(remarks, []);
  assert.deepEqual(choice.remarks, []);
  assert.equal(choice.title, 'ScatterND-18 "append"');
  const { node, inputs, faults } = readState(choice.state);
  assert.deepEqual(faults, []);
  assert.deepEqual(
    inputs.map((one) => one?.toArray()),
    [DATA, INDICES, UPDATES].map((one) => one.toArray()),
  );
  assert.deepEqual(run(node, inputs)[0].toArray(), [
    [1, 2],
    [50, 60],
    [5, 6],
    [30, 40],
  ]);
  assert.deepEqual(choice.actual, {
    dtype: "float32",
    shape: [4, 2],
    values: ["1", "2", "10", "20", "5", "6", "30", "40"],
  });
});

test("the order and the folders of the files do not matter", async () => {
  const others = FILES.map(({ name, bytes }) => ({
    name: name.replace("case/", "C:\\x\\"),
    bytes,
  }));
  assert.deepEqual(await nodeOf(others.toReversed()), await nodeOf(FILES));
});

test("a case of a node that failed has no output of the runtime", async () => {
  const { choice } = await nodeOf(without("runtime"));
  assert.equal(choice.actual, undefined);
  assert.equal(choice.state.inputs[0]?.values[0], "1");
});

test("an input without its file is zeros, and a file that cannot be read is named", async () => {
  const broken = { name: "data.npy", bytes: new Uint8Array(3) };
  const large = { name: "updates.npy", bytes: writeNpy(zeros("float32", [200, 200])) };
  const { choice, remarks } = await nodeOf([...without("data", "updates"), broken, large]);
  assert.equal(choice.remarks.length, 1);
  assert.match(
    choice.remarks[0],
    /^The model has no values for data and updates, so they are zeros here\. /,
  );
  assert.deepEqual(choice.state.inputs[0]?.shape, [4, 2]);
  assert.match(remarks[0], /^data\.npy cannot be read: .*NPY/);
  assert.match(remarks[1], /^updates\.npy cannot be read: .*20,000/);
});

test("files that are for no input are named", async () => {
  const { remarks } = await nodeOf([...FILES, { name: "mask.npy", bytes: writeNpy(DATA) }]);
  assert.deepEqual(remarks, ["No node has an input mask, so the file is not used."]);
});

test("a tensor may be a .pb, and have any name if its type and its shape are clear", async () => {
  const whole = await nodeOf(FILES);
  const pb = { name: "indices.pb", bytes: writeTensor(INDICES) };
  assert.deepEqual(await nodeOf([...without("indices"), pb]), whole);
  const others = [pb, { name: "m.npy", bytes: writeNpy(UPDATES) }];
  const types = { data: "float32 4,2", indices: "int64 3,1", updates: "float32 N,2" };
  const { choice, remarks } = await nodeOf([
    ...[...without("indices", "updates", "node"), ...others],
    modelOf([APPEND], types),
  ]);
  assert.deepEqual(choice, whole.choice);
  assert.deepEqual(remarks, []);
  const unfit = { name: "m.npy", bytes: writeNpy(GAVE) };
  assert.deepEqual((await nodeOf([...without("updates", "runtime"), unfit])).remarks, [
    "No node has an input m, so the file is not used.",
  ]);
});

test("of a model of several nodes, what the runtime gave is not used", async () => {
  const model = modelOf(
    [nodeFrom("ScatterND data indices updates a"), nodeFrom("ScatterND a indices updates b")],
    { data: "float32 4,2" },
    { indices: INDICES, updates: UPDATES },
  );
  const { nodes, remarks } = await nodesOf(model, ...without("node"));
  assert.equal(nodes.length, 2);
  assert.ok(nodes.every(({ actual }) => actual === undefined));
  assert.ok(remarks.includes("No node has an input runtime.0, so the file is not used."));
});

test("which files may be a case", () => {
  assert.ok(isCase(FILES.map(({ name }) => name)));
  assert.ok(isCase(["a.xml", "a.bin", "data.npy"]));
  assert.ok(isCase(["a.onnx", "a.onnx.data"]));
  for (const names of [["a.onnx"], ["a.npy", "b.npy"], ["a.onnx", "b.onnx", "c.npy"], []]) {
    assert.ok(!isCase(names), names.join());
  }
});

test("no bytes throw", async () => {
  const folders = [FILES, [SPECIFIED], [FILES[0]]];
  const changed = fc
    .tuple(
      ...([fc.constantFrom(...folders), fc.nat(), fc.nat()] as const),
      fc.uint8Array({ minLength: 1, maxLength: 4 }),
    )
    .map(([files, number, place, other]) => {
      const at = number % files.length;
      const bytes = files[at].bytes.slice();
      bytes.set(other, Math.min(place % bytes.length, bytes.length - other.length));
      return files.with(at, { name: files[at].name, bytes });
    });
  const names = "node.onnx m.xml data.npy indices.pb m.bin __proto__.npy".split(" ");
  const random = fc.array(fc.record({ name: fc.constantFrom(...names), bytes: fc.uint8Array() }), {
    minLength: 1,
    maxLength: 5,
  });
  await fc.assert(
    fc.asyncProperty(fc.oneof(changed, random), async (files) => {
      const found = await read(files);
      if ("error" in found) assert.ok(found.error.length > 0);
      else for (const choice of found.choices) if (choice.kind === "node") readState(choice.state);
    }),
    { numRuns: 600 },
  );
});
