/** Errors of another realm, as Jest's code sees those of Node's modules: no instance of this realm's classes. */

import assert from "node:assert/strict";
import { test } from "node:test";
import * as vm from "node:vm";
import { isCode, withPath } from "../../src/arrays/boxes/file.ts";
import { codesOf, isTransient } from "../../src/arrays/zarr/stores/retries.ts";
import { isError, isTensorError, messageOf } from "../../src/core/errors.ts";
import { WITHOUT_NODE_ITSELF } from "../support/platform.ts";

const skip = WITHOUT_NODE_ITSELF;

const foreign = (code: string): Error => vm.runInNewContext(code) as Error;

const MISSING = 'Object.assign(new Error("no such file"), { code: "ENOENT" })';

test("an error of another realm is an error", { skip }, () => {
  const error = foreign(MISSING);
  assert.ok(!(error instanceof Error));
  assert.ok(isError(error) && isError(error, "Error") && !isError(error, "RangeError"));
  assert.equal(messageOf(error), "no such file");
  assert.ok(isError(foreign('new RangeError("too long")'), "RangeError"));
  for (const other of [null, undefined, "text", 5, {}, { message: 5, name: "Error" }, []]) {
    assert.equal(isError(other), false);
  }
  assert.equal(isError(new Proxy({}, { get: () => assert.fail("a getter") })), false);
});

test("its code says what has failed", { skip }, () => {
  assert.ok(isCode(foreign(MISSING), "EEXIST", "ENOENT"));
  assert.ok(!isCode(foreign(MISSING), "EEXIST"));
  assert.equal(Reflect.get(withPath(foreign(MISSING), "a.npy") as object, "path"), "a.npy");
  const cut = foreign(
    'const cause = Object.assign(new Error("cut"), { code: "ECONNRESET" }); new TypeError("fetch failed", { cause })',
  );
  assert.deepEqual(codesOf(cut), ["ECONNRESET"]);
  assert.ok(isTransient(cut));
  assert.ok(isTransient(foreign('new TypeError("Failed to fetch")')));
  assert.ok(!isTransient(foreign(MISSING)));
});

test("an error of another copy of the package is one of the package", { skip }, () => {
  const error = foreign(
    'Object.assign(new Error("axis 5"), { name: "TensorError", code: "axis", got: 5 })',
  );
  assert.ok(isTensorError(error) && isTensorError(error, "axis") && !isTensorError(error, "rank"));
});
