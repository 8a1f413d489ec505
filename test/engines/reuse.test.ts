/** What a call keeps for the next one (views, offsets, accepted words, memory) never shows in a result. */

import assert from "node:assert/strict";
import { after, test } from "node:test";
import {
  createEngine,
  equals,
  explain,
  full,
  gatherND,
  planScatterND,
  scatterND,
  tensor,
  vjp,
  zeros,
  type DType,
  type Tensor,
} from "../../src/entries/index.ts";
import { withLimits } from "../support/limits.ts";
import { isTensorError, type TensorError } from "../../src/core/errors.ts";
import { assertRefused } from "../support/refusal.ts";

const data = tensor("float32", [4, 2], [1, 2, 3, 4, 5, 6, 7, 8]);
const indices = tensor("int64", [2, 1], [3n, 0n]);
const updates = tensor("float32", [2, 2], [10, 20, 30, 40]);
const RESULT = [30, 40, 3, 4, 5, 6, 10, 20];

const valuesOf = ({ data }: Tensor): unknown[] => Array.from<unknown>(data as Float32Array);

const errorOf = (action: () => unknown): TensorError => {
  try {
    action();
  } catch (error) {
    if (isTensorError(error)) return error;
  }
  throw new Error("there was no TensorError");
};

test("the lists of an error are its own", () => {
  const wrong: readonly (() => unknown)[] = [
    () => scatterND(data, indices, zeros("float32", [2, 3]) as never),
    () => scatterND(data, indices, updates, { out: zeros("float32", [4, 3]) as never }),
    () => planScatterND([4, 2], indices).gather(zeros("float32", [4, 3])),
  ];
  for (const action of wrong) {
    const { expected } = errorOf(action);
    assert.ok(Array.isArray(expected));
    expected.fill(0);
    expected.push(7);
    const { expected: again } = errorOf(action);
    assert.ok(Array.isArray(again) && !again.includes(7));
  }
  assert.deepEqual(
    [data.shape, updates.shape],
    [
      [4, 2],
      [2, 2],
    ],
  );
  assert.deepEqual(valuesOf(scatterND(data, indices, updates)), RESULT);
});

test("indices are read anew by each call", () => {
  const own = tensor("int64", [2, 1], new BigInt64Array([3n, 0n]));
  assert.deepEqual(valuesOf(scatterND(data, own, updates)), RESULT);
  own.data[1] = -2n;
  assert.deepEqual(valuesOf(scatterND(data, own, updates)), [1, 2, 3, 4, 30, 40, 10, 20]);
  own.data[0] = 4n;
  assertRefused(
    "index-out-of-range",
    { input: "indices", at: [0, 0], axis: 0, got: 4, expected: [-4, 3] },
    () => scatterND(data, own, updates),
  );
});

const transfer = ({ data }: Tensor): void => {
  const { buffer } = data as Float32Array;
  structuredClone(buffer, { transfer: [buffer as ArrayBuffer] });
};

test("memory that was transferred after a call is gone for the next", () => {
  const inputs = [
    tensor("float32", [4, 2], new Float32Array(8)),
    tensor("int64", [2, 1], new BigInt64Array(2)),
    tensor("float32", [2, 2], new Float32Array(4)),
    tensor("float32", [4, 2], new Float32Array(8)),
  ] as const;
  const call = (): unknown => scatterND(inputs[0], inputs[1], inputs[2], { out: inputs[3] });
  call();
  for (const [position, name] of (["out", "updates", "indices", "data"] as const).entries()) {
    transfer(inputs[3 - position]);
    // Data is looked at first, then indices, updates and out.
    assertRefused("disposed", { input: name }, call);
  }
});

test("a data type that was accepted says nothing of another", () => {
  const call = (dtype: DType, index: DType, update: DType, reduction?: "mul"): unknown =>
    scatterND(zeros(dtype, [4]), zeros(index, [2, 1]) as never, zeros(update, [2]) as never, {
      reduction,
    });
  for (let turn = 0; turn < 3; turn++) {
    call("float32", "int64", "float32", "mul");
    call("string", "int32", "string");
    assertRefused("dtype", { input: "indices" }, () => call("float32", "float32", "float32"));
    assertRefused("dtype", { input: "updates" }, () => call("float32", "int64", "float64"));
    assertRefused("dtype", { input: "updates" }, () => call("string", "int64", "float32"));
    assertRefused("reduction", {}, () => call("string", "int64", "string", "mul"));
  }
});

test("options are those of the call, whatever came before", () => {
  const one = zeros("float32", [2]);
  const twice = tensor("int64", [2, 1], [1n, 1n]);
  const call = (options?: object): unknown[] =>
    valuesOf(scatterND(one, twice, [3, 4], options as never));
  for (let turn = 0; turn < 3; turn++) {
    assert.deepEqual(call(), [0, 4]);
    assert.deepEqual(call({ reduction: "add" }), [0, 7]);
    assert.deepEqual(call({ reduction: "add", negative: "error" }), [0, 7]);
    assert.deepEqual(call({ negative: "error", reduction: "mul" }), [0, 0]);
    assert.deepEqual(call({ reduction: undefined }), [0, 4]);
    assert.deepEqual(call({}), [0, 4]);
    assertRefused("attribute", {}, () => call({ reductoin: "add" }));
    assertRefused("attribute", {}, () => call({ constructor: "add" }));
    assertRefused("duplicate-index", { input: "indices", at: [1] }, () =>
      call({ duplicates: "error" }),
    );
  }
});

const node = { domain: "ai.onnx", op: "ScatterND", opset: 18 };

test("the offsets of a story and of a kept plan are not those of later calls", () => {
  const plan = planScatterND([4, 2], indices);
  const { story } = explain(node, [data, indices, updates]);
  assert.ok(story?.kind === "scatter");
  const targets = (): unknown =>
    Array.from(story.targets, ({ coordinates, count }) => [coordinates, count]);
  const before = JSON.stringify(targets());
  for (let p = 0; p < 4; p++) scatterND(data, [[p], [p]], updates);
  assert.equal(JSON.stringify(targets()), before);
  assert.deepEqual(valuesOf(plan.scatter(data, updates)), RESULT);
});

const SIZES = [1, 3, 64, 100, 255, 256, 300, 700, 1025];

const engine = createEngine({ threads: 2 });
const js = createEngine({ kind: "js" });
after(() => {
  engine.dispose();
  js.dispose();
});

test("calls of all sizes, one after the other and at once, share nothing", async () => {
  for (let turn = 0; turn < 10; turn++) await withLimits(turn, callsOfAllSizes);
});

async function callsOfAllSizes(): Promise<void> {
  const made = SIZES.map((count) => {
    const size = 2 * count + 3;
    const places = BigInt64Array.from({ length: count }, (_, p) => BigInt((p * 7919) % size));
    const source = tensor(
      "float32",
      [size],
      Float32Array.from({ length: size }, (_, p) => p / 3),
    );
    const some = tensor(
      "float32",
      [count],
      Float32Array.from({ length: count }, (_, p) => p + 0.5),
    );
    const at = tensor("int64", [count, 1], places);
    const options = { reduction: "add" } as const;
    const call = (on: Pick<typeof js, "scatterND">): Tensor =>
      on.scatterND(source, at, some, options);
    return {
      call,
      pending: () => engine.async.scatterND(source, at, some, options),
      want: call(js),
    };
  });
  const order = [0, 8, 3, 7, 1, 8, 5, 2, 6, 4, 0, 8, 5];
  for (const turn of order) assert.ok(equals(made[turn].call({ scatterND }), made[turn].want));
  const pending = order.map((turn) => {
    const promise = made[turn].pending();
    // Another call while the one before is under way.
    const other = made[(turn + 4) % made.length];
    assert.ok(equals(other.call(engine), other.want));
    return promise;
  });
  const results = await Promise.all(pending);
  for (const [i, turn] of order.entries()) assert.ok(equals(results[i], made[turn].want));
}

test("results that were disposed of leave nothing in later ones", () => {
  const big = zeros("float32", [3000]);
  const ones = tensor("float32", [3000], new Float32Array(3000).fill(1));
  const at = [[0], [2999]];
  for (let turn = 0; turn < 4; turn++) {
    const first = scatterND(ones, at, [5, 6]);
    const old = first.data;
    first.dispose();
    const next = scatterND(big, at, [7, 8]);
    assert.deepEqual([next.data[0], next.data[1500], next.data[2999]], [7, 0, 8]);
    assert.ok(old.length === 0 || old[1500] === 1);
    gatherND(ones, at).dispose();
  }
});

test("memory that is used again, of any length, has been cleared", () => {
  const engine = createEngine({ kind: "wasm" });
  after(() => engine.dispose());
  // Memory is cleared in blocks of 32,768 bytes.
  for (const bytes of [1, 32_767, 32_768, 32_769, 65_537, 98_303, 200_000]) {
    for (let round = 0; round < 3; round++) {
      const own = engine.alloc("uint8", [bytes]);
      assert.equal(
        own.data.findIndex((value) => value !== 0),
        -1,
        `${bytes} bytes, round ${round}`,
      );
      own.data.fill(7);
      own.dispose();
    }
    const out = full("float32", [bytes], 7);
    const gradient = tensor("float32", [1], [5]);
    vjp({ function: "gather" }, [zeros("float32", [bytes]), [0]], gradient, {
      out: [out, null],
      engine,
    });
    const [first, ...rest] = out.data;
    assert.equal(first, 5);
    assert.ok(
      rest.every((value) => value === 0),
      String(bytes),
    );
  }
});

test("an input whose memory goes while a list is read is gone", () => {
  for (const take of [(one: Tensor): void => one.dispose(), transfer]) {
    for (const dtype of ["uint32", "uint8", "float32"] as const) {
      const every = Int32Array.from({ length: 8192 }, (_, p) => p);
      const big = gatherND(zeros(dtype, [8192]), tensor("int32", [8192, 1], every));
      // Once: a buffer that is gone cannot be transferred again.
      let isThere = true;
      const list = new Proxy([[1], [2]], {
        get(target, key) {
          if (key === "0" && isThere) take(big);
          if (key === "0") isThere = false;
          return Reflect.get(target, key);
        },
      });
      assertRefused("disposed", { input: "data" }, () => gatherND(big, list));
    }
  }
});

test("data whose memory goes while a kept plan reads a list, or an out of another kind, is gone", () => {
  const every = Int32Array.from({ length: 8192 }, (_, p) => p);
  const fresh = (): Tensor => gatherND(zeros("uint32", [8192]), tensor("int32", [8192, 1], every));
  const plan = planScatterND([8192], [[1], [2]]);
  const outOf = (data: Tensor, size: number): Tensor =>
    ({
      dtype: "uint32",
      get shape() {
        data.dispose();
        return [size];
      },
      data: new Uint32Array(size),
    }) as never;
  const calls: readonly ((data: Tensor) => unknown)[] = [
    (data) => {
      const get = (list: number[], key: string): unknown => {
        if (key === "0") data.dispose();
        return Reflect.get(list, key);
      };
      return plan.scatter(data, new Proxy([5, 6], { get: get as never }));
    },
    (data) => plan.scatter(data, [5, 6], { out: outOf(data, 8192) }),
    (data) => plan.gather(data, { out: outOf(data, 2) }),
    (data) => gatherND(data, [[1], [2]], { out: outOf(data, 2) }),
  ];
  for (const call of calls) assertRefused("disposed", { input: "data" }, () => call(fresh()));
});

test("a result for which memory is missing is an error of the operator, of a kept plan too", () => {
  const rows = zeros("string", [2, 100_000]);
  const many = tensor("int32", [1000, 1], new Int32Array(1000));
  const plan = planScatterND([2, 100_000], many);
  const node = { domain: "ai.onnx", op: "GatherND", opset: 13 };
  for (const error of [
    errorOf(() => gatherND(rows, many)),
    errorOf(() => plan.gather(rows)),
    explain(node, [rows, tensor("int64", [1000, 1], new BigInt64Array(1000))]).error,
  ]) {
    assert.equal(error?.code, "too-large");
    assert.match(String(error?.op), /^(Gather|Scatter)ND$/);
  }
});
