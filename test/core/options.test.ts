/** Options and attributes as callers give them: which objects they may be, and what is refused. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { optionsOf } from "../../src/core/foreign.ts";
import { assertRefused } from "../support/refusal.ts";

class Options {
  reduction = "add";
  get out(): undefined {
    return undefined;
  }
  method(): void {}
}
class OddOptions extends Options {
  get mood(): string {
    return "odd";
  }
}

const KNOWN = ["reduction", "out"];

test("options are the properties of an object, its own and what it inherits", () => {
  const add = { reduction: "add" };
  assert.deepEqual(optionsOf(add, KNOWN, {}), add);
  assert.deepEqual(optionsOf(Object.assign(Object.create(null), add), KNOWN, {}), add);
  assert.deepEqual(optionsOf(Object.create(add), KNOWN, {}), add);
  assert.deepEqual(optionsOf(new Proxy(add, {}), KNOWN, {}), add);
  assert.deepEqual(optionsOf(new Options(), KNOWN, {}), { reduction: "add", out: undefined });
});

// prettier-ignore
const BAD_OPTIONS: readonly (readonly [name: string, options: unknown])[] = [
  ["null", null],
  ["text", "add"],
  ["a number", 1],
  ["a function", () => 1],
  ["a list", []],
  ["a typed array", new Uint8Array(0)],
  ["a Map", new Map([["reduction", "add"]])],
  ["a Set", new Set(["reduction"])],
  ["a Promise", Promise.resolve({})],
  ["a Date", new Date(0)],
  ["boxed text", Object("add")],
  ["an unknown name", { reductions: "add" }],
  ["an inherited unknown name", Object.create({ axes: 1 })],
  ["an unknown getter of a class", new OddOptions()],
  ["a getter that throws", { get reduction() { throw new RangeError("mine"); } }],
];

for (const [name, options] of BAD_OPTIONS) {
  test(`${name} as options is refused`, () => {
    assertRefused("attribute", {}, () => optionsOf(options, KNOWN, {}));
  });
}
