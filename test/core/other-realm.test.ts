/** Errors of another realm, as Jest's code sees those of Node's modules: no instance of this realm's classes. */

import assert from "node:assert/strict";
import { test } from "node:test";
import * as fs from "node:fs";
import * as path from "node:path";
import * as vm from "node:vm";
import { checkSignal } from "../../src/arrays/boxes/checks.ts";
import { isUnshared } from "../../src/core/tensor/storage.ts";
import { plainBytes } from "../../src/core/tensor/bytes.ts";
import { ROOT } from "../support/root.ts";
import { assertCode } from "../support/refusal.ts";
import { isCode, withPath } from "../../src/arrays/boxes/file.ts";
import { codesOf, isTransient } from "../../src/arrays/zarr/stores/retries.ts";
import { isError, isTensorError, messageOf } from "../../src/core/errors.ts";
import { WITHOUT_NODE_ITSELF } from "../support/platform.ts";

const skip = WITHOUT_NODE_ITSELF;

const foreign = (code: string): Error => inOtherRealm(code) as Error;

function inOtherRealm(code: string): unknown {
  return vm.runInNewContext(code);
}

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

test("a signal is known by its name", { skip }, () => {
  checkSignal(undefined);
  checkSignal(AbortSignal.abort());
  checkSignal(inOtherRealm('({ aborted: false, [Symbol.toStringTag]: "AbortSignal" })'));
  const revoked = Proxy.revocable({}, {});
  revoked.revoke();
  for (const wrong of [null, {}, new AbortController(), "AbortSignal", revoked.proxy]) {
    assertCode("attribute", { key: "signal" }, () => checkSignal(wrong));
  }
});

test("bytes keep their memory", { skip }, () => {
  const bytes = inOtherRealm("new Uint8Array([1, 2, 3])") as Uint8Array;
  assert.notEqual(Object.getPrototypeOf(bytes), Uint8Array.prototype);
  assert.ok(isUnshared(bytes.buffer));
  assert.equal(plainBytes(bytes, "the test takes").buffer, bytes.buffer);
  assert.ok(!isUnshared(new SharedArrayBuffer(8)));
});

/** Classes of the platform, of which another realm has its own. */
const ASKED =
  /instanceof (?:\w*Error|DOMException|Abort\w+|Promise|ArrayBuffer|Date|Map|Set|URL|Blob|Response)\b/;

/** Classes of errors that this package creates. Commands run in a process of their own. */
const OWN = /instanceof (?:TensorError|NotRun|RuntimeFailure)/;

test("no source asks a value of the platform for its class", { skip }, () => {
  const files = fs.readdirSync(path.join(ROOT, "src"), { recursive: true, encoding: "utf8" });
  const asking = files
    .filter((file) => file.endsWith(".ts") && !file.startsWith("cli"))
    .filter((file) =>
      fs
        .readFileSync(path.join(ROOT, "src", file), "utf8")
        .split("\n")
        .some((line) => ASKED.test(line) && !OWN.test(line) && !/^ *(?:\*|\/\/)/.test(line)),
    );
  assert.deepEqual(asking, []);
});
