/** Models from files: what a conversion does not change stays as it was, byte by byte, with all that is not known. */

import assert from "node:assert/strict";
import { test } from "node:test";

import { convertModel, externalFiles, readModel, writeModel } from "../../src/entries/onnx.ts";
import { bytes, file, int, text } from "../support/onnx-encoder.ts";
import { BODY, graphAttribute, PLAIN, withBodies } from "../support/body-files.ts";
import { assertRefused } from "../support/refusal.ts";
import { reportSentence } from "../support/sentences.ts";

/** The records of a message by field number, each as text. */
function recordsOf(message: Uint8Array): [field: number, bytes: Uint8Array][] {
  const list: [number, Uint8Array][] = [];
  let at = 0;
  const number = (): number => {
    let value = 0;
    for (let scale = 1; ; scale *= 128) {
      const byte = message[at++];
      value += (byte & 0x7f) * scale;
      if (byte < 0x80) return value;
    }
  };
  while (at < message.length) {
    const tag = number();
    const start = at;
    const value = number();
    const isVarint = tag % 8 === 0;
    const end = isVarint ? at : at + value;
    list.push([tag >> 3, message.subarray(isVarint ? start : at, end)]);
    at = end;
  }
  return list;
}

const partsOf = (message: Uint8Array, field: number): Uint8Array[] =>
  recordsOf(message).flatMap(([number, part]) => (number === field ? [part] : []));

const attribute = (name: string, value: number): number[] =>
  bytes(5, [...text(1, name), ...int(3, value), ...int(20, 2)]);

const encoded = (content: string): Uint8Array => new TextEncoder().encode(content);

/** 200 nodes, of which every 40th is of the family; with metadata, doc strings and unknown fields everywhere. */
function large(): Uint8Array {
  const nodes = Array.from({ length: 200 }, (_, at) => {
    const isFamily = at % 40 === 20;
    const names = isFamily
      ? [...text(1, `v${at}`), ...text(1, "indices"), ...text(1, "updates")]
      : text(1, `v${at}`);
    return bytes(1, [
      ...names,
      ...text(2, `v${at + 1}`),
      ...text(3, `node ${at}`),
      ...text(4, isFamily ? "Scatter" : ["Relu", "Conv", "Sigmoid"][at % 3]),
      ...(isFamily || at % 2 === 0 ? attribute("axis", 0) : []),
      ...text(6, `about ${at}`),
      ...(at % 5 === 0 ? text(7, isFamily || at % 3 > 0 ? "" : "com.example") : []),
      ...bytes(9, [...text(1, "key"), ...text(2, `value ${at}`)]),
      ...int(900, at),
    ]);
  });
  const weights = bytes(5, [
    ...int(1, 1),
    ...int(2, 1),
    ...text(8, "weights"),
    ...int(14, 1),
    ...bytes(13, [...text(1, "location"), ...text(2, "w.bin")]),
  ]);
  const indices = bytes(5, [
    ...int(1, 2),
    ...int(2, 7),
    ...text(8, "indices"),
    ...int(7, 1),
    ...int(7, 0),
    ...text(12, "doc"),
  ]);
  return file(
    int(1, 4),
    text(2, "tool"),
    text(6, "about the model"),
    bytes(7, [
      ...nodes.flat(),
      ...text(2, "g"),
      ...weights,
      ...indices,
      ...text(10, "about the graph"),
      ...bytes(11, text(1, "v0")),
      ...bytes(11, text(1, "updates")),
      ...bytes(12, text(1, "v200")),
      ...bytes(14, text(1, "weights")),
      ...int(901, 1),
    ]),
    bytes(8, int(2, 10)),
    bytes(8, [...text(1, "com.example"), ...int(2, 3)]),
    bytes(14, [...text(1, "k"), ...text(2, "v")]),
    int(1000, 4),
  );
}

test("of 200 nodes the 195 of other operators stay as they are, byte by byte, and so does what is not known", () => {
  const original = large();
  const model = readModel(original);
  const { model: converted, changes, unchecked, notes } = convertModel(model, { opset: 18 });
  const written = writeModel(converted);
  assert.deepEqual(
    changes,
    [20, 60, 100, 140, 180].map((at) => `node "node ${at}": Scatter-9 to ScatterElements-18`),
  );
  assert.equal(unchecked.size, 0);
  assert.deepEqual(notes, []);
  // As sets of records: a writer puts the fields that it does not know behind the others.
  const sorted = (message: Uint8Array): string[] =>
    recordsOf(message)
      .map(([field, part]) => `${field}:${part.join()}`)
      .sort();
  const graphs = [original, written].map((one) => partsOf(one, 7)[0]);
  const [before, after] = graphs.map((graph) => partsOf(graph, 1).map(sorted));
  assert.equal(after.length, 200);
  for (const [at, records] of before.entries()) {
    const isFamily = at % 40 === 20;
    const expected = isFamily
      ? records
          .map((one) =>
            one === `4:${[...encoded("Scatter")].join()}`
              ? `4:${[...encoded("ScatterElements")].join()}`
              : one,
          )
          .sort()
      : records;
    assert.deepEqual(after[at], expected, `node ${at}`);
  }
  const rest = (message: Uint8Array, field: number): string[] =>
    sorted(message).filter((one) => !one.startsWith(`${field}:`));
  assert.deepEqual(rest(graphs[1], 1), rest(graphs[0], 1));
  const outside = (message: Uint8Array): string[] =>
    rest(message, 7).filter((one) => !/^[18]:/.test(one));
  assert.deepEqual(outside(written), outside(original));
  assert.deepEqual(readModel(written).opsets, { "ai.onnx": 18, "com.example": 3 });
  assert.equal(readModel(written).irVersion, 8);
  assert.deepEqual(externalFiles(readModel(written)), ["w.bin"]);
  // The model that was converted is as it was, and nothing has to change twice.
  assert.deepEqual(writeModel(model), writeModel(readModel(original)));
  const again = convertModel(readModel(written), { opset: 18 });
  assert.deepEqual([again.changes, again.unchecked.size], [[], 0]);
  assert.deepEqual(writeModel(again.model), written);
});

test("bodies are converted as well, and keep what is not known", () => {
  const model = readModel(withBodies());
  const { model: converted, changes, unchecked } = convertModel(model, { opset: 13 });
  const written = writeModel(converted);
  assert.equal(changes.length, 1);
  reportSentence("change", changes[0]);
  assert.equal(unchecked.size, 0);
  const [node] = partsOf(partsOf(written, 7)[0], 1);
  const [then, otherwise] = partsOf(node, 5).map((one) => partsOf(one, 6)[0]);
  assert.deepEqual([...otherwise], PLAIN);
  const shown = new TextDecoder().decode(then);
  for (const kept of ["ScatterElements", "doc", "then"]) assert.ok(shown.includes(kept), kept);
  assert.ok(recordsOf(then).some(([field]) => field === 902));
  assert.ok(new TextDecoder().decode(node).includes("about"));
  // Nothing in a body has to change: it is the one that was there.
  const back = convertModel(readModel(written), { opset: 14 }).model;
  assert.deepEqual(partsOf(partsOf(writeModel(back), 7)[0], 1)[0], node);
});

test("so are bodies of operators of other domains", () => {
  const node = [
    ...text(2, "y"),
    ...text(4, "Repeat"),
    ...text(7, "com.example"),
    ...graphAttribute("body", BODY),
  ];
  const bytesOf = file(
    int(1, 4),
    bytes(7, [...bytes(1, node), ...bytes(12, text(1, "y"))]),
    bytes(8, int(2, 10)),
    bytes(8, [...text(1, "com.example"), ...int(2, 1)]),
  );
  const { model, changes, unchecked } = convertModel(readModel(bytesOf), { opset: 13 });
  assert.deepEqual([changes.length, unchecked.size], [1, 0]);
  assert.ok(new TextDecoder().decode(writeModel(model)).includes("ScatterElements"));
});

/** A function of one node, of which nothing but the operator, its attributes and its opset is given. */
const functionOf = (op: string, opset: number, ...attributes: number[][]): number[] => [
  ...text(1, "f"),
  ...bytes(7, [...text(1, "x"), ...text(2, "z"), ...text(4, op), ...attributes.flat()]),
  ...bytes(9, int(2, opset)),
  ...text(10, "com.example"),
  ...int(903, 1),
];

test("a function comes into the opset of the model, and the rest of it stays", () => {
  const { model } = convertModel(readModel(withBodies(functionOf("Relu", 11))), { opset: 13 });
  assert.deepEqual([...partsOf(writeModel(model), 25)[0]], functionOf("Relu", 13));
  const same = convertModel(readModel(withBodies(functionOf("Relu", 13))), { opset: 13 }).model;
  assert.deepEqual([...partsOf(writeModel(same), 25)[0]], functionOf("Relu", 13));
});

test("nodes of a function are converted, with constants that its own nodes make", () => {
  const axes = bytes(5, [...text(1, "axes"), ...int(8, 1), ...int(20, 7)]);
  const model = readModel(withBodies(functionOf("Unsqueeze", 11, axes)));
  const written = writeModel(convertModel(model, { opset: 13 }).model);
  const [{ opsets, graph }] = readModel(written).functions ?? [];
  assert.deepEqual(opsets, { "ai.onnx": 13 });
  const [made, unsqueeze] = graph.nodes;
  assert.deepEqual([made.op, made.inputs, made.outputs], ["Constant", [], ["z/axes"]]);
  assert.ok(made.attributes["value"].type === "tensor");
  assert.deepEqual(made.attributes["value"].value.read().toArray(), [1n]);
  assert.deepEqual([unsqueeze.op, unsqueeze.inputs], ["Unsqueeze", ["x", "z/axes"]]);
  assert.deepEqual(Object.keys(unsqueeze.attributes), []);
});

test("what the caller of a function decides is refused where it has to be known", () => {
  const axis = bytes(5, [...text(1, "axis"), ...text(21, "axis"), ...int(20, 2)]);
  const softmax = readModel(withBodies(functionOf("Softmax", 11, axis)));
  assert.equal(convertModel(softmax, { opset: 12 }).model.functions?.[0].opsets["ai.onnx"], 12);
  assertRefused("unsupported-model", {}, () => convertModel(softmax, { opset: 13 }));
  const gather = readModel(withBodies(functionOf("Concat", 13, axis)));
  assert.deepEqual(convertModel(gather, { opset: 18 }).changes.length, 1);
});
