/** Signatures, checked by a server that computes them by another implementation: AWS's own signer. */

import assert from "node:assert/strict";
import { after, before, beforeEach, describe, test } from "node:test";
import { writeNpy } from "../../src/entries/npy.ts";
import {
  createArray,
  createPending,
  openArray,
  type S3Options,
  type ZarrArray,
} from "../../src/entries/zarr.ts";
import { equals } from "../../src/core/tensor/compare.ts";
import { tensor, type Tensor } from "../../src/core/tensor/tensor.ts";
import { makeClient } from "../../src/arrays/zarr/stores/s3-client.ts";
import { S3Store } from "../../src/arrays/zarr/stores/s3-store.ts";
import { assertRejectedCode } from "../support/refusal.ts";
import {
  loadSigner,
  makeSigner,
  refusalFor,
  serveS3,
  type S3Memory,
  type Verifier,
} from "../support/s3-server.ts";

const smithy = loadSigner();
const skip = smithy === null && "AWS's signer is not installed: npm ci --prefix test/nightly/s3";

const KEYS = {
  accessKeyId: "AKIDEXAMPLE",
  secretAccessKey: "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY",
  sessionToken:
    "AQoDYXdzEPT//////////wEXAMPLEtc764+bNrC9SAPBSM22wDOk4x4HIZ8j4FZTwdQWLWsKWHGBuFqwAeMicRXmxfpSPfIeoIYRqTflfKD8YUuwthAx7mSEI/qkPpKPi/kMcGd==",
};
const REGION = "eu-west-3";
const VALUES = tensor("int32", [4], [1, 2, 3, 4]);
const TYPE = { dtype: "int32", shape: [4], chunkShape: [2], codecs: [] } as const;

let offset = 0;
let server: S3Memory;
const verifier = (): Verifier => ({
  smithy: smithy ?? assert.fail(),
  keys: KEYS,
  region: REGION,
  now: () => Date.now() + offset,
});

before(async () => {
  if (smithy !== null) server = await serveS3(verifier());
});
after(() => server?.close());
beforeEach(() => {
  offset = 0;
  if (server === undefined) return;
  server.refused.length = 0;
  server.asked.length = 0;
});

const s3 = (more: S3Options = {}): S3Options => ({
  ...KEYS,
  region: REGION,
  endpoint: server.endpoint,
  ...more,
});

/** Folders as they are typed behind `s3://bucket/`, and the keys that they are. */
const FOLDERS: readonly (readonly [typed: string, key: string])[] = [
  ["plain", "plain"],
  ["a blank", "a blank"],
  ["plus+plus", "plus+plus"],
  ["%2B%25%3F%23", "+%?#"],
  ["~!*'()", "~!*'()"],
  ["a//b", "a//b"],
  ["ünïcödé/漢字/🙂", "ünïcödé/漢字/🙂"],
  ["&=;:@$,", "&=;:@$,"],
  ["[x]{y}|^`", "[x]{y}|^`"],
];

for (const [typed, key] of FOLDERS) {
  test(
    `an array at ${typed} is made, read, listed and published with right signatures`,
    { skip },
    async () => {
      const place = `s3://bucket/${typed}`;
      const array = await createArray(place, { ...TYPE, s3: s3() });
      await array.write(VALUES);
      assert.ok(
        server.objects.has(`bucket/${key}/zarr.json`),
        [...server.objects.keys()].join("\n"),
      );
      const opened = (await openArray(place, { s3: s3() })) as ZarrArray;
      assert.ok(equals((await opened.read()) as Tensor, VALUES));
      assert.deepEqual(await opened.stored(), { chunks: 2, bytes: 16 });
      const pending = await createPending(`${place}/pending`, { like: opened, s3: s3() });
      assert.ok(await pending.stageCopy(opened, [0], "x-1"));
      assert.ok(await pending.publishChunk([0], "x-1"));
      await pending.publish();
      await pending.endStaging();
      const published = await openArray(`${place}/pending`, { s3: s3() });
      assert.deepEqual((await published.read()).toArray(), [1, 2, 0, 0]);
      await assertRejectedCode("attribute", {}, () => createArray(place, { ...TYPE, s3: s3() }));
      assert.deepEqual(server.refused, []);
    },
  );
}

test(
  "more than a thousand objects are listed, by tokens that must be encoded",
  { skip },
  async () => {
    for (let at = 0; at < 2345; at++) server.objects.set(`bucket/many/c/${at}`, new Uint8Array(1));
    const store = new S3Store(await makeClient("s3://bucket/many", s3()));
    const keys = new Set<string>();
    for await (const { key } of store.list()) keys.add(key);
    assert.equal(keys.size, 2345);
    assert.equal(server.asked.length, 3);
    assert.deepEqual(server.refused, []);
  },
);

test("an object that changes while it is read is noticed by its tag", { skip }, async () => {
  const array = await createArray("s3://bucket/changing", { ...TYPE, s3: s3() });
  await array.write(VALUES);
  const source = await array.store.open("c/0");
  await array.writeChunk([0], new Uint8Array(8));
  await assertRejectedCode("malformed-file", {}, async () => source?.read(0, new Uint8Array(8)));
});

/** What is wrong with the keys, and what the error says. */
const WRONG: readonly (readonly [S3Options, RegExp, offset?: number])[] = [
  [{ accessKeyId: "OTHER" }, /status 403; the server does not know the access key id$/],
  [{ secretAccessKey: "other" }, /computes a different signature; check the secret access key/],
  [{ region: "us-west-2" }, /status 403; check the region and the access key$/],
  [{ sessionToken: "other" }, /computes a different signature/],
  [{}, /the local clock differs from the server's clock; set the local clock$/, -3_600_000],
  [{}, /the local clock differs from the server's clock; set the local clock$/, 3_600_000],
];

for (const [options, says, ahead = 0] of WRONG) {
  test(`the server refuses, and the error says why: ${says.source}`, { skip }, async () => {
    offset = ahead;
    const { message } = await assertRejectedCode("engine", { got: 403 }, () =>
      createArray("s3://bucket/wrong", { ...TYPE, s3: s3(options) }),
    );
    assert.match(message, says);
    assert.ok(server.refused.length > 0);
    assert.ok(server.asked.length <= 2, "a refusal is not asked for again");
  });
}

describe("a presigned URL", () => {
  const presigned = async (key: string, secret = KEYS.secretAccessKey): Promise<string> => {
    const signer = makeSigner(
      smithy ?? assert.fail(),
      { ...KEYS, secretAccessKey: secret },
      REGION,
    );
    const { host, hostname } = new URL(server.endpoint);
    const path = `/bucket/${key}`;
    const request = {
      method: "GET",
      protocol: "http:",
      hostname,
      path,
      query: {},
      headers: { host },
    };
    const { query } = await signer.presign(request, { expiresIn: 600 });
    const pairs = Object.entries(query).map((pair) => pair.map(encodeURIComponent).join("="));
    return `${server.endpoint}${path}?${pairs.join("&")}`;
  };

  test("is opened as it is, also where the environment has keys", { skip }, async (t) => {
    server.objects.set("bucket/a b.npy", writeNpy(VALUES));
    const url = await presigned("a%20b.npy");
    const variables = {
      AWS_ACCESS_KEY_ID: "x",
      AWS_SECRET_ACCESS_KEY: "y",
      AWS_ENDPOINT_URL: server.endpoint,
    };
    for (const [name, value] of Object.entries(variables)) {
      const old = process.env[name];
      process.env[name] = value;
      t.after(() => (old === undefined ? delete process.env[name] : (process.env[name] = old)));
    }
    const array = await openArray(url);
    assert.ok(equals((await array.read()) as Tensor, VALUES));
    // It is signed for GET, so HEAD is refused.
    assert.ok(server.refused.every((one) => one.startsWith("SignatureDoesNotMatch HEAD")));
    assert.ok(server.refused.length > 0);
  });

  test("of another key is refused", { skip }, async () => {
    const url = await presigned("a%20b.npy", "other");
    await assertRejectedCode("engine", {}, () => openArray(url));
  });
});

test("over TLS the body is not hashed, and the signature is right as well", { skip }, async () => {
  const { fetch } = globalThis;
  const refusals: (string | null)[] = [];
  globalThis.fetch = async (input, init) => {
    const request = new Request(input, init);
    const { host, pathname, search } = new URL(request.url);
    const headers = { ...Object.fromEntries(request.headers), host };
    assert.equal(request.headers.get("x-amz-content-sha256"), "UNSIGNED-PAYLOAD");
    const body = new Uint8Array(await request.arrayBuffer());
    const received = { method: request.method, url: pathname + search, headers, body };
    refusals.push(await refusalFor(received, verifier()));
    return new Response(null, { status: 200 });
  };
  try {
    const client = await makeClient("s3://bucket/a +b", { ...KEYS, region: REGION });
    const store = new S3Store(client);
    await store.put("c/0", [Uint8Array.of(1, 2, 3)]);
    await store.putNew("c/0", [Uint8Array.of(1, 2, 3)]);
    for await (const _ of store.list()) assert.fail();
  } finally {
    globalThis.fetch = fetch;
  }
  assert.deepEqual(refusals, [null, null, null]);
});
