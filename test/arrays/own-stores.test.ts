/** Stores and fetch functions of the caller that misbehave: each gets one sentence, and no wrong value. */

import assert from "node:assert/strict";
import { after, test } from "node:test";
import {
  createArray,
  openArray,
  openGroup,
  type Fetch,
  type Store,
} from "../../src/entries/zarr.ts";
import { gatherChunked } from "../../src/entries/chunked.ts";
import type { ErrorCode } from "../../src/core/errors.ts";
import { equals } from "../../src/core/tensor/compare.ts";
import { tensor } from "../../src/core/tensor/tensor.ts";
import { serveFiles } from "../support/http-server.ts";
import { makeHome } from "../support/job-files.ts";
import { setLimits } from "../support/limits.ts";
import { assertRejected, assertRejectedCode, type Facts } from "../support/refusal.ts";
import { serveS3 } from "../support/s3-server.ts";

const home = makeHome();
const VALUES = tensor("int32", [4], [1, 2, 3, 4]);
const OPTIONS = { dtype: "int32", shape: [4], chunkShape: [2] } as const;

async function objectsOf(): Promise<Map<string, Uint8Array>> {
  const objects = new Map<string, Uint8Array>();
  await (await createArray(objects, OPTIONS)).write(VALUES);
  return objects;
}

/** A store with every function. */
const fullStore = (objects: Map<string, Uint8Array>) => ({
  get: (key: string, range?: { offset: number; length: number }): unknown =>
    objects.get(key)?.slice(range?.offset, range && range.offset + range.length),
  size: (key: string): unknown => objects.get(key)?.length,
  put(key: string, bytes: Uint8Array, { ifAbsent }: { ifAbsent: boolean }): unknown {
    if (ifAbsent && objects.has(key)) return false;
    objects.set(key, bytes);
    return true;
  },
  list: (prefix: string): unknown => [...objects.keys()].filter((key) => key.startsWith(prefix)),
  delete: (key: string): unknown => objects.delete(key),
});

const isChunk = (key: string): boolean => key.startsWith("c/");

/** Bytes whose length is a lie. */
class Longer extends Uint8Array {
  override get length(): number {
    return 8;
  }
}

function transferred(): Uint8Array {
  const bytes = new Uint8Array(8);
  structuredClone(bytes, { transfer: [bytes.buffer] });
  return bytes;
}

const THROWING: object = new Proxy(
  {},
  {
    get() {
      throw new Error("no");
    },
  },
);

type Full = ReturnType<typeof fullStore>;
type Misdeed = (key: string, rest: Full) => unknown;

/** The function that misbehaves, how, and the key of the error. */
const BAD: readonly (readonly [name: keyof Full, what: string, misdeed: Misdeed])[] = [
  ["get", "returns text", () => "bytes"],
  ["get", "returns an ArrayBuffer", () => new ArrayBuffer(8)],
  ["get", "returns a list", () => [1, 2, 3]],
  ["get", "returns too few bytes", () => new Uint8Array(7)],
  ["get", "returns too many bytes", () => new Uint8Array(9)],
  ["get", "returns no bytes of an object that has a size", () => undefined],
  ["get", "returns bytes with a wrong length", () => new Longer(4)],
  ["get", "returns bytes whose memory was transferred", transferred],
  [
    "get",
    "throws an error",
    () => {
      throw new Error("no token");
    },
  ],
  [
    "get",
    "throws a text",
    () => {
      throw "no token";
    },
  ],
  ["get", "rejects with an object without text", () => Promise.reject(Object.create(null))],
  ["get", "rejects with nothing", () => Promise.reject()],
  ["get", "never answers", () => new Promise(() => {})],
  ["get", "returns a proxy that throws", () => THROWING],
  ["size", "returns text", () => "8"],
  ["size", "returns a negative number", () => -1],
  ["size", "returns NaN", () => NaN],
  ["size", "never answers", () => new Promise(() => {})],
  ["list", "returns a number", () => 5],
  ["list", "lists numbers", () => [1, 2]],
  ["list", "returns a broken iterator", () => ({ [Symbol.iterator]: () => 5 })],
  [
    "list",
    "never ends",
    async function* () {
      await new Promise(() => {});
      yield "c/0";
    },
  ],
  [
    "put",
    "throws",
    () => {
      throw new Error("full");
    },
  ],
  ["put", "never answers", () => new Promise(() => {})],
  [
    "delete",
    "throws",
    () => {
      throw new Error("kept");
    },
  ],
];

for (const [name, what, misdeed] of BAD) {
  test(`a store whose ${name} ${what} is an error`, async () => {
    const restore = setLimits({ HTTP: { store: 50 } });
    try {
      const full = fullStore(await objectsOf());
      const affected = (key: string): boolean =>
        name === "list" || isChunk(key) || name === "delete";
      const own = full[name] as (...args: readonly unknown[]) => unknown;
      const store = {
        ...full,
        [name]: (key: string, ...rest: readonly unknown[]) =>
          affected(key) ? misdeed(key, full) : own(key, ...rest),
      } as unknown as Store;
      const array = (await openArray(store)) as Awaited<ReturnType<typeof createArray>>;
      await assertRejectedCode("engine", { key: name }, async () => {
        if (name === "get" || name === "size") await array.read();
        if (name === "list") await array.stored();
        if (name === "put") await array.write(VALUES);
        if (name === "delete") await createArray(store, { ...OPTIONS, overwrite: true });
      });
    } finally {
      restore();
    }
  });
}

/** What is not a store. */
const NO_STORES: readonly (readonly [what: string, store: unknown])[] = [
  ["an object without get", { size: () => 1 }],
  ["a get that is not a function", { get: 1 }],
  ["a put that is not a function", { get: () => undefined, put: true }],
  [
    "a getter that throws",
    {
      get get() {
        throw new Error("no");
      },
    },
  ],
  ["a proxy that throws", THROWING],
  ["a function", () => undefined],
];

for (const [what, store] of NO_STORES) {
  test(`${what} is not a store`, async () => {
    for (const open of [openArray, openGroup, (one: never) => createArray(one, OPTIONS)]) {
      await assertRejectedCode("attribute", { key: "location" }, () => open(store as never));
    }
  });
}

test("metadata that a store changes for ever are read once", async () => {
  const objects = await objectsOf();
  let count = 0;
  const store: Store = {
    get(key) {
      const bytes = objects.get(key)?.slice();
      // The bytes change after they were returned, and with every call.
      if (bytes !== undefined) setTimeout(() => bytes.fill(count++), 0);
      return bytes;
    },
  };
  const array = await openArray(store);
  const values = await array.read();
  await new Promise((resolve) => void setTimeout(resolve, 20));
  assert.ok(count > 2);
  assert.ok(equals(values, VALUES));
});

test("a store may return all bytes in the same memory", async () => {
  const objects = await objectsOf();
  const memory = new Uint8Array(2 ** 12);
  const { get, size } = fullStore(objects);
  const store: Store = {
    get(key, range) {
      const bytes = get(key, range) as Uint8Array | undefined;
      if (bytes !== undefined) memory.fill(255).set(bytes);
      return bytes && memory.subarray(0, bytes.length);
    },
  };
  for (const more of [{}, { size }] as Partial<Store>[]) {
    const array = await openArray({ ...store, ...more });
    const [one, two] = await Promise.all([array.read(), array.read()]);
    assert.ok(equals(one, VALUES) && equals(two, VALUES));
  }
});

test("bytes that a store keeps are not changed afterwards", async () => {
  const objects = await objectsOf();
  const array = await createArray(objects, {
    ...OPTIONS,
    path: "kept",
    shape: [2 ** 16],
    chunkShape: [2 ** 15],
  });
  const ones = tensor("int32", [2 ** 16], new Int32Array(2 ** 16).fill(1));
  await array.write(ones);
  ones.data.fill(2);
  await array.write(tensor("int32", [1], [3]), [0]);
  const read = await array.read([0], [3]);
  assert.deepEqual(read.toArray(), [3, 1, 1]);
});

test("keys outside a path are refused", async () => {
  const objects = await objectsOf();
  await createArray(objects, { ...OPTIONS, path: "a" });
  const store: Store = { get: (key) => objects.get(key), list: () => ["a/c/0", "c/0"] };
  const array = (await openArray(store, { path: "a" })) as Awaited<ReturnType<typeof createArray>>;
  await assertRejected("engine", { key: "list" }, () => array.stored());
});

test("a conditional put must say whether it has stored the object", async () => {
  const { put: _, ...rest } = fullStore(new Map());
  const store = { ...rest, put: () => undefined } as unknown as Store;
  await assertRejected("engine", { key: "put" }, () => createArray(store, OPTIONS));
});

test("a store without functions for writing and listing says so", async () => {
  const objects = await objectsOf();
  const store: Store = { get: (key) => objects.get(key) };
  const array = (await openArray(store)) as Awaited<ReturnType<typeof createArray>>;
  await assertRejected("attribute", { key: "location" }, () => array.write(VALUES));
  await assertRejected("engine", {}, () => array.stored());
  await assertRejected("attribute", { key: "location" }, () =>
    createArray({ get: () => undefined }, OPTIONS),
  );
});

test("an empty store has no array and no group", async () => {
  await assertRejected("malformed-file", { expected: "array" }, () => openArray(new Map()));
  const options = { path: "a/b" };
  await assertRejected("malformed-file", { expected: "group" }, () =>
    openGroup(new Map(), options),
  );
});

test("a signal ends the wait for a store", async () => {
  const objects = await objectsOf();
  const controller = new AbortController();
  const store: Store = {
    get: (key) => (isChunk(key) ? new Promise(() => {}) : objects.get(key)),
  };
  const array = await openArray(store, { signal: controller.signal });
  const reading = array.read();
  controller.abort(new Error("stopped"));
  await assert.rejects(reading, { message: "stopped" });
});

test("a job refuses an array in a store of the caller", async () => {
  const data = await openArray(await objectsOf());
  const ids = await createArray(new Map(), { dtype: "int32", shape: [1, 1], chunkShape: [1, 1] });
  const out = `${home}/out.zarr`;
  const facts: Facts = { key: "location", got: "store" };
  await assertRejected("attribute", facts, () => gatherChunked(data, ids, { out, threads: 0 }));
});

const web = await serveFiles(home);
const s3 = await serveS3(null);
after(() => {
  web.close();
  s3.close();
});

test("a fetch function of the caller sends all requests", async () => {
  const asked: string[] = [];
  const fetch: Fetch = (url, init) => {
    asked.push(`${init?.method} ${String(url)}`);
    return globalThis.fetch(url, {
      ...init,
      headers: { ...(init?.headers as object), "x-own": "1" },
    });
  };
  const keys = { endpoint: s3.endpoint, region: "r" };
  for (const secrets of [{}, { accessKeyId: "id", secretAccessKey: "secret" }]) {
    asked.length = 0;
    const options = { fetch, s3: { ...keys, ...secrets } };
    const place = `s3://bucket/${Object.keys(secrets).length}`;
    const array = await createArray(place, { ...OPTIONS, ...options });
    await array.write(VALUES);
    assert.ok(equals(await (await openArray(place, options)).read(), VALUES));
    assert.ok(asked.length > 8);
    assert.ok(asked.every((one) => one.includes(`${s3.endpoint}/bucket/`)));
  }
  await (await createArray(`${home}/a.zarr`, OPTIONS)).write(VALUES);
  asked.length = 0;
  assert.ok(equals(await (await openArray(`${web.address}/a.zarr`, { fetch })).read(), VALUES));
  assert.equal(web.asked.length, asked.length);
  assert.ok(web.headers.every((one) => one["x-own"] === "1"));
});

/** What a fetch function does, and the code of the error. */
const FETCHES: readonly (readonly [what: string, fetch: unknown, code: ErrorCode])[] = [
  ["a number", 5, "attribute"],
  ["a function that returns nothing", () => undefined, "attribute"],
  ["a function that returns a page", async () => "<html>", "attribute"],
  [
    "a function that throws",
    () => {
      throw new Error("no token");
    },
    "engine",
  ],
  ["a function that rejects", () => Promise.reject(new Error("no token")), "engine"],
];

for (const [what, fetch, code] of FETCHES) {
  test(`the option fetch is ${what}`, async () => {
    const restore = setLimits({ HTTP: { retries: 0, first: 1 } });
    try {
      for (const place of [`${web.address}/a.zarr`, `${web.address}/a.npy`, `${web.address}/a.zip`])
        await assertRejectedCode(code, code === "attribute" ? { key: "fetch" } : {}, () =>
          openArray(place, { fetch: fetch as Fetch }),
        );
    } finally {
      restore();
    }
  });
}
