/** The stand-in for `node:assert/strict` that browsers get says of all pairs of values what Node's says. */

import assert from "node:assert/strict";
import * as fs from "node:fs";
import * as path from "node:path";
import { test } from "node:test";
import standIn from "../runners/browser/node-assert.ts";
import { ROOT } from "../support/root.ts";
import { tensor, zeros } from "../../src/core/tensor/tensor.ts";

class Named {
  readonly a = 1;
}

// prettier-ignore
const VALUES: readonly unknown[] = [
  0, -0, 1, NaN, 0n, 1n, "", "1", true, false, null, undefined,
  [], [0], [-0], [NaN], [1, 2], [[1], [2]], [undefined], Object.assign([], { length: 1 }), Object.assign([1, 2], { a: 1 }),
  {}, { a: 1 }, { a: undefined }, { b: 1 }, { a: 1, b: 2 }, { b: 2, a: 1 }, { a: [1, { b: -0 }] }, { a: [1, { b: 0 }] },
  new Named(), Object.create(null), { [Symbol.iterator]: 1 },
  new Set(), new Set([1, 2]), new Set([2, 1]), new Set(["1"]),
  new Uint8Array(), new Uint8Array([1, 2]), new Int8Array([1, 2]), new Float32Array([0]), new Float32Array([-0]), new Float32Array([NaN]),
  new BigInt64Array([1n]), new BigUint64Array([1n]),
  zeros("float32", [2]), zeros("float64", [2]), tensor("float32", [2], [0, -0]), zeros("float32", [2, 1]), zeros("string", [2]),
];

const isHeld = (action: () => void): boolean => {
  try {
    action();
    return true;
  } catch {
    return false;
  }
};

for (const name of ["deepEqual", "notDeepEqual", "equal", "notEqual"] as const) {
  test(`${name} is Node's`, () => {
    for (const [i, a] of VALUES.entries()) {
      for (const [j, b] of VALUES.entries()) {
        const held = isHeld(() => assert[name](a, b));
        assert.equal(
          isHeld(() => standIn[name](a, b)),
          held,
          `values ${i} and ${j}`,
        );
      }
    }
  });
}

test("the stand-in has every function of assert that a test calls", () => {
  const folder = path.join(ROOT, "test");
  const sources = fs
    .readdirSync(folder, { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(".ts") && !name.includes("node_modules"))
    .map((name) => fs.readFileSync(path.join(folder, name), "utf8"));
  const names = new Set(
    sources.flatMap((text) => [...text.matchAll(/\bassert\.(\w+)\(/g)].map(([, name]) => name)),
  );
  assert.ok(names.size > 8);
  assert.deepEqual(
    [...names].filter((name) => !Object.hasOwn(standIn, name)),
    [],
  );
});

test("ok, match and doesNotMatch are Node's", () => {
  for (const value of VALUES) {
    assert.equal(
      isHeld(() => standIn.ok(value)),
      isHeld(() => assert.ok(value)),
    );
  }
  assert.ok(isHeld(() => standIn.match("ab", /b/)) && !isHeld(() => standIn.match("ab", /c/)));
  assert.ok(!isHeld(() => standIn.doesNotMatch("ab", /b/)));
  assert.ok(isHeld(() => standIn.doesNotMatch("ab", /c/)));
  assert.throws(() => standIn.fail("why"), /why/);
});

test("throws and doesNotThrow are Node's, but what was not expected is thrown on", () => {
  const error = new RangeError("too far");
  const throwing = () => {
    throw error;
  };
  for (const expected of [undefined, /too far/, /RangeError: t/, /near/, () => true, () => false]) {
    const held = isHeld(() => assert.throws(throwing, expected as RegExp));
    assert.equal(
      isHeld(() => standIn.throws(throwing, expected)),
      held,
      String(expected),
    );
  }
  assert.throws(() => standIn.throws(throwing, /near/), error);
  assert.throws(() => standIn.throws(() => 1), /nothing was thrown/);
  standIn.doesNotThrow(() => 1);
  assert.throws(() => standIn.doesNotThrow(throwing), error);
});

test("rejects is Node's, of a promise and of a function that returns one", async () => {
  const error = new RangeError("too far");
  const action = () => Promise.reject(error);
  const isHeld = (outcome: Promise<void>) =>
    outcome.then(
      () => true,
      () => false,
    );
  for (const expected of [undefined, /too far/, /near/, () => true, () => false]) {
    const held = await isHeld(assert.rejects(action, expected as RegExp));
    assert.equal(await isHeld(standIn.rejects(action, expected)), held, String(expected));
    assert.equal(await isHeld(standIn.rejects(action(), expected)), held, String(expected));
  }
  await assert.rejects(standIn.rejects(action, /near/), error);
  await assert.rejects(standIn.rejects(Promise.resolve(1)), /nothing was rejected/);
});

test("what the stand-in cannot compare is an error", () => {
  const pairs = [
    [new Map(), new Map()],
    [new ArrayBuffer(1), new ArrayBuffer(1)],
    [new Date(0), new Date(0)],
    [new Set([{}]), new Set([{}])],
  ];
  for (const [a, b] of pairs) assert.throws(() => standIn.deepEqual(a, b), /cannot compare/);
});

test("throws is Node's, by a pattern, a test and properties", () => {
  const error = Object.assign(new TypeError("no such thing"), { code: "gone", at: [1, 2] });
  const expected: readonly (RegExp | ((error: unknown) => boolean) | object)[] = [
    /no such/,
    /TypeError/,
    /nothing/,
    (one: unknown) => one === error,
    () => false,
    TypeError,
    RangeError,
    Error,
    { code: "gone" },
    { code: "here" },
    { message: /^no such/ },
    { message: "no such thing", code: /go/ },
    { message: /^such/ },
    { at: [1, 2] },
    { at: [1, 3] },
    { missing: undefined, code: "gone" },
    { name: "TypeError", at: /1,2/ },
  ];
  const action = (): never => {
    throw error;
  };
  for (const [at, one] of expected.entries()) {
    const held = isHeld(() => assert.throws(action, one as RegExp));
    assert.equal(
      isHeld(() => standIn.throws(action, one as RegExp)),
      held,
      `${at}`,
    );
  }
});
