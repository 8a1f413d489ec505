/** The entry `ndscatter/webgpu` where there is no GPU: what `test/gpu/` tests with one needs a driver. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { assertRejected } from "../support/refusal.ts";

/** Replaces `navigator` for a while: most runtimes have one, and some of them a GPU. */
async function withNavigator(get: () => unknown, action: () => Promise<void>): Promise<void> {
  const own = Object.getOwnPropertyDescriptor(globalThis, "navigator");
  Object.defineProperty(globalThis, "navigator", { configurable: true, get });
  try {
    await action();
  } finally {
    if (own === undefined) Reflect.deleteProperty(globalThis, "navigator");
    else Object.defineProperty(globalThis, "navigator", own);
  }
}

const entry = () => import("../../src/entries/webgpu.ts");

// First, because nothing else in this file may have loaded the entry.
test("importing the entry exports one function, and does nothing else", async () => {
  let looks = 0;
  const count = (): undefined => void looks++;
  await withNavigator(count, async () => {
    const before = Object.getOwnPropertyNames(globalThis);
    assert.deepEqual(Object.keys(await entry()), ["createGpuEngine"]);
    assert.deepEqual(Object.getOwnPropertyNames(globalThis), before);
    assert.equal(looks, 0);
    // That it would have been seen.
    const { createGpuEngine } = await entry();
    await assert.rejects(createGpuEngine());
    assert.ok(looks > 0);
  });
});

const gpuOf = (gpu: object) => () => ({ gpu });
const refuses = (): never => {
  throw new Error("lent elsewhere");
};
const limits = { maxBufferSize: 1, maxStorageBufferBindingSize: 1 };

/** What a page may find. */
const PLACES: readonly (readonly [name: string, navigator: () => unknown])[] = [
  ["no navigator", () => undefined],
  ["no GPU", () => ({})],
  ["no adapter", gpuOf({ requestAdapter: async () => null })],
  ["an adapter that is refused", gpuOf({ requestAdapter: refuses })],
  [
    "a device that is refused",
    gpuOf({ requestAdapter: async () => ({ limits, requestDevice: async () => refuses() }) }),
  ],
];

for (const [name, navigator] of PLACES) {
  test(`an engine where there is ${name}`, async () => {
    const { createGpuEngine } = await entry();
    await withNavigator(navigator, async () => {
      await assertRejected("engine", {}, () => createGpuEngine());
      await assertRejected("engine", {}, () => createGpuEngine({ device: undefined }));
    });
  });
}

test("what is no device is refused before anything is asked for", async () => {
  const { createGpuEngine } = await entry();
  const revoked = Proxy.revocable({}, {});
  revoked.revoke();
  for (const device of [null, 7, "gpu", {}, [], () => {}, revoked.proxy]) {
    const given = { device } as Parameters<typeof createGpuEngine>[0];
    await assertRejected("attribute", {}, () => createGpuEngine(given));
  }
  const misspelt = { devices: null } as Parameters<typeof createGpuEngine>[0];
  await assertRejected("attribute", {}, () => createGpuEngine(misspelt));
  const list = [] as Parameters<typeof createGpuEngine>[0];
  await assertRejected("attribute", {}, () => createGpuEngine(list));
});
