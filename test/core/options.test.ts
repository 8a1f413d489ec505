/** Options and attributes as callers give them: which objects they may be, and what is refused. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { optionsOf } from "../../src/core/tensor/options.ts";
import { isTensorError } from "../../src/core/errors.ts";

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
const BAD_OPTIONS: readonly (readonly [name: string, options: unknown, says: string])[] = [
  ["null", null, "options must be an object, got null"],
  ["text", "add", 'options must be an object, got "add"'],
  ["a number", 1, "options must be an object, got 1"],
  ["a function", () => 1, "options must be an object, got a function"],
  ["a list", [], "options must be an object, got a list"],
  ["a typed array", new Uint8Array(0), "options must be an object, got a list"],
  ["a Map", new Map([["reduction", "add"]]), "options must be an object, got an object of the class Map"],
  ["a Set", new Set(["reduction"]), "got an object of the class Set"],
  ["a Promise", Promise.resolve({}), "got an object of the class Promise"],
  ["a Date", new Date(0), "got an object of the class Date"],
  ["boxed text", Object("add"), "got an object of the class String"],
  ["an unknown name", { reductions: "add" }, 'unknown option "reductions"; the options are reduction, out'],
  ["an inherited unknown name", Object.create({ axes: 1 }), 'unknown option "axes"'],
  ["an unknown getter of a class", new OddOptions(), 'unknown option "mood"'],
  ["a getter that throws", { get reduction() { throw new RangeError("mine"); } }, "whose properties can be read"],
];

for (const [name, options, says] of BAD_OPTIONS) {
  test(`${name} as options is refused`, () => {
    assert.throws(
      () => optionsOf(options, KNOWN, {}),
      (error) => isTensorError(error, "attribute") && error.message.includes(says),
    );
  });
}
