/**
 * Arrays in object storage, on s3rver. It knows no conditional writes, so a server in front of it adds that one rule; it
 * checks keys but no signatures of version 4, and cannot list more than a thousand objects on Node of today. Both bind to
 * loopback, on ports of their own. `zarr-s3.test.ts` has what s3rver lacks.
 */

import assert from "node:assert/strict";
import * as fs from "node:fs";
import * as http from "node:http";
import { createRequire } from "node:module";
import type { AddressInfo } from "node:net";
import * as os from "node:os";
import * as path from "node:path";
import { after, before, test } from "node:test";
import { fileURLToPath } from "node:url";
import { equals } from "../../src/core/tensor/compare.ts";
import { tensor } from "../../src/core/tensor/tensor.ts";
import {
  createArray,
  createPending,
  openArray,
  openPending,
  type CreateOptions,
  type ZarrArray,
} from "../../src/entries/zarr.ts";
import { assertRejectedCode } from "../support/refusal.ts";

interface S3Server {
  run(): Promise<AddressInfo>;
  close(): Promise<void>;
}

type S3rver = new (options: object) => S3Server;

const PLACE = fileURLToPath(new URL("../../../test/nightly/s3/package.json", import.meta.url));

function load(): S3rver | null {
  try {
    return createRequire(PLACE)("s3rver") as S3rver;
  } catch {
    return null;
  }
}

const S3rver = load();
const skip = S3rver === null ? "s3rver is not installed: npm ci --prefix test/nightly/s3" : false;

const home = fs.mkdtempSync(path.join(os.tmpdir(), "ndscatter-s3-"));
const KEYS = { accessKeyId: "S3RVER", secretAccessKey: "S3RVER", region: "us-east-1" };
let endpoint = "";
const ends: (() => Promise<unknown>)[] = [];
/** What was asked for: methods, paths and ranges. */
const requests: string[] = [];
/** Objects that were made under the condition that there is none. */
const made = new Set<string>();

/** Passes requests on to a port of loopback, but for a conditional PUT of an object that is there. */
function conditional(port: number): http.Server {
  const forward = (request: http.IncomingMessage) =>
    new Promise<http.IncomingMessage>((resolve, reject) => {
      const { headers, url, method } = request;
      const passed = http.request({ port, host: "127.0.0.1", method, path: url, headers }, resolve);
      passed.on("error", reject);
      request.pipe(passed);
    });
  return http.createServer((request, response) => {
    const { method = "", url, headers } = request;
    requests.push(`${method} ${url} ${headers.range ?? ""}`.trim());
    const answer = async (): Promise<void> => {
      if (method === "PUT" && headers["if-none-match"] === "*") {
        const file = path.join(home, decodeURIComponent(`${url}._S3rver_object`));
        if (fs.existsSync(file) || made.has(file)) {
          request.resume();
          response.writeHead(412).end();
          return;
        }
        made.add(file);
      }
      const passed = await forward(request);
      response.writeHead(passed.statusCode ?? 500, passed.headers);
      passed.pipe(response);
    };
    answer().catch((error: unknown) => response.destroy(error as Error));
  });
}

before(async () => {
  if (S3rver === null) return;
  const server = new S3rver({
    address: "127.0.0.1",
    port: 0,
    silent: true,
    directory: home,
    configureBuckets: [{ name: "bucket" }],
  });
  const { port } = await server.run();
  ends.push(() => server.close());
  const front = conditional(port);
  await new Promise<void>((resolve) => {
    front.listen(0, "127.0.0.1", resolve);
  });
  ends.push(
    () =>
      new Promise((resolve) => {
        front.closeAllConnections();
        front.close(resolve);
      }),
  );
  endpoint = `http://127.0.0.1:${(front.address() as AddressInfo).port}`;
});

after(async () => {
  for (const end of ends.toReversed()) await end();
  fs.rmSync(home, { recursive: true });
});

const s3 = () => ({ ...KEYS, endpoint });

const OPTIONS: CreateOptions = {
  dtype: "int32",
  shape: [9, 4],
  chunkShape: [2, 4],
  codecs: ["zstd"],
};
const VALUES = tensor(
  "int32",
  [9, 4],
  Array.from({ length: 36 }, (_, at) => at),
);

test("an array is made, written, opened, read and listed", { skip }, async () => {
  const place = "s3://bucket/some folder/a&b.zarr";
  const array = await createArray(place, { ...OPTIONS, s3: s3() });
  assert.equal(array.location.path, place);
  await array.write(VALUES);
  const opened = (await openArray(place, { s3: s3() })) as ZarrArray;
  assert.ok(equals(await opened.read(), VALUES));
  assert.equal(opened.fingerprint, array.fingerprint);
  const { chunks, bytes } = await opened.stored();
  assert.equal(chunks, 5);
  assert.ok(bytes > 0);
  await assertRejectedCode("attribute", {}, () => createArray(place, { ...OPTIONS, s3: s3() }));
  await assertRejectedCode("attribute", {}, () =>
    createArray(place, { ...OPTIONS, overwrite: true, s3: s3() }),
  );
});

test("of a shard only ranges are read", { skip }, async () => {
  const place = "s3://bucket/shards.zarr";
  const options: CreateOptions = { ...OPTIONS, codecs: [], shards: [10, 4], s3: s3() };
  const array = await createArray(place, options);
  await array.write(VALUES);
  requests.length = 0;
  assert.deepEqual([...(await array.read([4, 0], [1, 4])).data], [16, 17, 18, 19]);
  assert.deepEqual(requests, [
    "HEAD /bucket/shards.zarr/c/0/0",
    "GET /bucket/shards.zarr/c/0/0 bytes=160-243",
    "GET /bucket/shards.zarr/c/0/0 bytes=64-79",
  ]);
});

test("of two makers of one array one is the first", { skip }, async () => {
  const place = "s3://bucket/race.zarr";
  const make = (fillValue: number) => createArray(place, { ...OPTIONS, fillValue, s3: s3() });
  const results = await Promise.allSettled(Array.from({ length: 6 }, (_, one) => make(one)));
  const [winner, ...others] = results.filter(({ status }) => status === "fulfilled");
  assert.equal(others.length, 0);
  const opened = await openArray(place, { s3: s3() });
  assert.ok(winner.status === "fulfilled" && winner.value.fingerprint === opened.fingerprint);
});

test("an array is made step by step", { skip }, async () => {
  const place = "s3://bucket/pending.zarr";
  const pending = await createPending(place, { ...OPTIONS, s3: s3() });
  await assertRejectedCode("malformed-file", {}, () => openArray(place, { s3: s3() }));
  const chunk = new Uint8Array(Int32Array.from({ length: 8 }, (_, at) => at).buffer);
  const other = await openPending(place, { s3: s3() });
  await other.stageChunk([0, 0], chunk, "one");
  await other.stageChunk([1, 0], chunk, "left");
  assert.equal(await pending.publishChunk([0, 0], "one"), true);
  assert.equal(await pending.publishChunk([0, 0], "one"), false);
  assert.equal(await pending.stageCopy(pending, [0, 0], "copy"), true);
  assert.equal(await pending.stageCopy(pending, [3, 0], "none"), false);
  assert.equal(await pending.publishChunk([1, 0], "copy"), true);
  await pending.publish();
  await pending.publish();
  await pending.endStaging();
  const opened = (await openArray(place, { s3: s3() })) as ZarrArray;
  assert.deepEqual(
    [...(await opened.read([0, 0], [4, 4])).data],
    [...new Int32Array(chunk.buffer), ...new Int32Array(chunk.buffer)],
  );
  assert.deepEqual(
    fs.readdirSync(path.join(home, "bucket/pending.zarr")).filter((one) => one === ".ndscatter"),
    [],
  );
});

test("an array is read by its URL, without keys where it is public", { skip }, async () => {
  const array = await openArray(`${endpoint}/bucket/shards.zarr`, { s3: KEYS });
  assert.ok(equals(await array.read(), VALUES));
  await assertRejectedCode("attribute", {}, () =>
    createPending(`${endpoint}/bucket/no.zarr`, { ...OPTIONS, s3: KEYS }),
  );
});

test("what the server refuses is an error that says what to look at", { skip }, async () => {
  const wrong = { ...s3(), accessKeyId: "wrong" };
  await assertRejectedCode("engine", { got: 403 }, () =>
    openArray("s3://bucket/shards.zarr", { s3: wrong }),
  );
  await assertRejectedCode("engine", {}, () =>
    createArray("s3://nowhere/a.zarr", { ...OPTIONS, s3: s3() }),
  );
  await assertRejectedCode("malformed-file", {}, () =>
    openArray("s3://bucket/nothing.zarr", { s3: s3() }),
  );
  await assertRejectedCode("engine", {}, () =>
    openArray("s3://bucket/a.zarr", { s3: { endpoint: "http://127.0.0.1:1" } }),
  );
  await assertRejectedCode("attribute", {}, () =>
    openArray("s3://bucket/a.zarr", { s3: { region: 4 } as never }),
  );
});

test("an object that changes while it is read is noticed", { skip }, async () => {
  const place = "s3://bucket/changing.zarr";
  const array = await createArray(place, { ...OPTIONS, codecs: [], s3: s3() });
  await array.write(VALUES);
  const source = await array.store.open("c/0/0");
  await array.writeChunk([0, 0], new Uint8Array(32).fill(1));
  await assertRejectedCode("malformed-file", {}, async () => source?.read(0, new Uint8Array(32)));
});
