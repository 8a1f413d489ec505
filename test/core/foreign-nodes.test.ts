/** Nodes, lists of inputs and rows from outside: read once, and refused in a sentence that says what they should be. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { explain, infer, operators, run } from "../../src/entries/index.ts";
import { compareVersions, resolve, roleOf, typesOf } from "../../src/entries/operators.ts";
import type { ErrorCode } from "../../src/core/errors.ts";
import { tensor, zeros, type Tensor } from "../../src/core/tensor/tensor.ts";
import { assertRefused, type Facts } from "../support/refusal.ts";

const NODE = { op: "ScatterND", opset: 18 };
const data = (): Tensor => zeros("float32", [2, 2]);
const indices = (): Tensor => tensor("int64", [1, 1], [1]);
const updates = (): Tensor => tensor("float32", [1, 2], [1, 2]);
const inputs = (): Tensor[] => [data(), indices(), updates()];

/** `target` behind a Proxy that counts how often each property is read. */
function counted<T extends object>(target: T): { value: T; counts: Map<string, number> } {
  const counts = new Map<string, number>();
  const value = new Proxy(target, {
    get(from, key) {
      counts.set(String(key), (counts.get(String(key)) ?? 0) + 1);
      return Reflect.get(from, key);
    },
  });
  return { value, counts };
}

for (const [name, call] of Object.entries({ run, infer, explain })) {
  test(`${name} reads a node, the list of inputs and an input once`, () => {
    const node = counted({ ...NODE, domain: "", attributes: {} });
    const like = counted({ dtype: "float32", shape: [2, 2], data: new Float32Array(4) } as const);
    const list = counted([like.value, indices(), updates()]);
    call(node.value, list.value);
    const once = (keys: readonly string[]): [string, number][] => keys.map((key) => [key, 1]);
    assert.deepEqual([...node.counts], once(["domain", "op", "opset", "attributes"]));
    assert.deepEqual([...list.counts], once(["length", "0", "1", "2"]));
    for (const part of ["dtype", "shape"]) assert.equal(like.counts.get(part), 1);
  });
}

const fails = (): never => {
  throw new RangeError("the caller's own error");
};
const throwing: never = new Proxy({}, { get: fails }) as never;
const endless: never = new Proxy([], {
  get: (_, key) => (key === "length" ? 2 ** 32 : 0),
}) as never;
const cyclic: object[] = [];
cyclic.push(cyclic);
const [row] = operators();

/** So many objects inside each other. */
const nested = (levels: number): object => (levels === 1 ? {} : { inside: nested(levels - 1) });
const disposed = data();
disposed.dispose();
const goneAxis = tensor("int64", [], [0n]);
goneAxis.dispose();
const UPDATE = { op: "ScatterUpdate", opset: 3, domain: "openvino" };

// prettier-ignore
const REFUSALS: readonly (readonly [code: ErrorCode, facts: Facts, call: () => unknown])[] = [
  ["unknown-operator", {}, () => resolve(null as never)],
  ["unknown-operator", {}, () => resolve(throwing)],
  ["unknown-operator", {}, () => run(throwing, [])],
  ["unknown-operator", {}, () => infer(throwing, [])],
  ["shape-mismatch", { op: "ScatterND", opset: 18, got: 4294967296 },
    () => run(NODE, endless)],
  ["shape-mismatch", { op: "ScatterND", opset: 18 },
    () => run(NODE, new Proxy([], { get: fails }))],
  ["dtype", { op: "ScatterND", opset: 18, input: "data" },
    () => infer(NODE, [new Proxy({ dtype: "int8", shape: [] } as const, { get: fails }), indices(), updates()]),
  ],
  ["disposed", { op: "ScatterUpdate", opset: 3, input: "axis" },
    () => infer(UPDATE, [data(), indices(), data(), goneAxis])],
  ["unknown-operator", {}, () => roleOf({} as never)],
  ["unknown-operator", {}, () => roleOf(null as never)],
  ["unknown-operator", {},
    () => typesOf([] as never, "T")],
  ["unknown-operator", {},
    () => compareVersions(row, { ...row, inputs: endless })],
  ["unknown-operator", {},
    () => compareVersions({ ...row, inputs: cyclic as never }, row)],
];

for (const [code, facts, call] of REFUSALS) {
  test(`${code}: ${String(call)}`, () => {
    assertRefused(code, facts, call);
  });
}

test("a copy of a version may hold ten levels", () => {
  const [{ name, types }] = row.typeConstraints;
  const of = (levels: number): readonly string[] =>
    typesOf(Object.assign({ ...row }, { more: nested(levels) }), name);
  assert.deepEqual(of(10), types);
  assertRefused("unknown-operator", {}, () => of(11));
});

test("an explanation holds the error of run, whatever is wrong with a node or an input", () => {
  assert.equal(explain(throwing, inputs()).error?.code, "unknown-operator");
  assert.equal(explain(NODE, endless).error?.code, "shape-mismatch");
  const { error, inputs: explained } = explain(NODE, [disposed, indices(), updates()]);
  assert.deepEqual([error?.code, error?.input, error?.opset], ["disposed", "data", 18]);
  assert.deepEqual(
    explained.map(({ tensor: one }) => one === null),
    [true, false, false],
  );
});

test("a copy of a row is a row: of a worker, or out of JSON", () => {
  for (const one of operators()) {
    const copy = structuredClone(one);
    assert.deepEqual(compareVersions(one, copy), []);
    for (const { type } of one.inputs) assert.deepEqual(typesOf(copy, type), typesOf(one, type));
    assert.deepEqual(copy.inputs.map(roleOf), one.inputs.map(roleOf));
  }
});
