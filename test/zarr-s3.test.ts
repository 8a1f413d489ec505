/** What object storage answers, and what is made of it: answers as the S3 API's reference describes them. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { makeClient, type Request, type S3Client } from "../src/zarr/s3-client.ts";
import { S3Store } from "../src/zarr/s3-store.ts";
import { assertRejected } from "./support/refusal.ts";

interface Asked extends Request {
  readonly url: string;
}

/** A store whose server gives these answers, one after the other. */
function storeWith(...answers: (Response | Error)[]) {
  const asked: Asked[] = [];
  const client: S3Client = {
    location: "s3://bucket/a.zarr",
    prefix: { bucket: "bucket", key: "a.zarr" },
    bucketUrl: new URL("https://bucket.s3.eu-west-1.amazonaws.com/"),
    urlOf: (key) => new URL(`https://bucket.s3.eu-west-1.amazonaws.com/a.zarr/${key}`),
    async send(url, request) {
      asked.push({ ...request, url: url.href });
      const answer = answers.shift() ?? assert.fail("nothing else was expected");
      if (answer instanceof Error) throw answer;
      return answer;
    },
  };
  return { store: new S3Store(client), asked };
}

const answer = (
  status: number,
  headers: Record<string, string> = {},
  body: string | Uint8Array<ArrayBuffer> | null = null,
) => new Response(body, { status, headers });

const HEAD = { "content-length": "10", etag: '"one"' };
const BYTES = Uint8Array.from({ length: 10 }, (_, at) => at);

test("a range is read under the condition that the object is the same", async () => {
  const part = answer(206, { etag: '"one"' }, BYTES.slice(2, 6));
  const { store, asked } = storeWith(answer(200, HEAD), part);
  const source = await store.open("c/0");
  assert.equal(source?.size, 10);
  const into = new Uint8Array(4);
  await source.read(2, into);
  assert.deepEqual([...into], [2, 3, 4, 5]);
  assert.deepEqual(asked, [
    { method: "HEAD", url: "https://bucket.s3.eu-west-1.amazonaws.com/a.zarr/c/0" },
    {
      method: "GET",
      url: "https://bucket.s3.eu-west-1.amazonaws.com/a.zarr/c/0",
      headers: { range: "bytes=2-5", "if-match": '"one"' },
    },
  ]);
});

test("a server without ranges sends the whole object, of which a part is taken", async () => {
  const { store } = storeWith(answer(200, HEAD), answer(200, { etag: '"one"' }, BYTES.slice()));
  const source = await store.open("c/0");
  const into = new Uint8Array(4);
  await source?.read(5, into);
  assert.deepEqual([...into], [5, 6, 7, 8]);
});

test("an object that changes while it is read is noticed", async () => {
  for (const changed of [
    answer(412),
    answer(404),
    answer(206, { etag: '"two"' }, BYTES.slice(0, 4)),
    answer(206, { etag: '"one"' }, BYTES.slice(0, 3)),
  ]) {
    const { store } = storeWith(answer(200, HEAD), changed);
    const source = await store.open("c/0");
    await assertRejected("malformed-file", /c\/0 changed while it was read/, async () =>
      source?.read(0, new Uint8Array(4)),
    );
  }
});

test("an object is made under the condition that there is none", async () => {
  for (const [status, isMade] of [
    [200, true],
    [412, false],
    [409, false],
  ] as const) {
    const { store, asked } = storeWith(answer(status));
    assert.equal(await store.putNew("zarr.json", [Uint8Array.of(1), Uint8Array.of(2)]), isMade);
    const [{ method, headers, body }] = asked;
    assert.deepEqual(
      [method, headers, body],
      ["PUT", { "if-none-match": "*" }, Uint8Array.of(1, 2)],
    );
  }
});

const entry = (key: string, size: number): string =>
  `<Contents><Key>${key}</Key><ETag>"x"</ETag><Size>${size}</Size></Contents>`;

const page = (entries: string, token?: string): Response =>
  answer(
    200,
    {},
    `<?xml version="1.0"?><ListBucketResult><IsTruncated>${token !== undefined}</IsTruncated>${entries}${
      token === undefined ? "" : `<NextContinuationToken>${token}</NextContinuationToken>`
    }</ListBucketResult>`,
  );

test("objects are listed page by page", async () => {
  const { store, asked } = storeWith(
    page(entry("a.zarr/c/0", 5) + entry("a.zarr/a&amp;b&#60;", 6), "1ueG/+=&amp;"),
    page(entry("a.zarr/zarr.json", 7)),
  );
  const found: unknown[] = [];
  for await (const one of store.list()) found.push(one);
  assert.deepEqual(found, [
    { key: "c/0", size: 5 },
    { key: "a&b<", size: 6 },
    { key: "zarr.json", size: 7 },
  ]);
  const queries = asked.map(({ url }) => Object.fromEntries(new URL(url).searchParams));
  assert.deepEqual(queries, [
    { "list-type": "2", prefix: "a.zarr/" },
    { "list-type": "2", prefix: "a.zarr/", "continuation-token": "1ueG/+=&" },
  ]);
});

test("what is staged is copied by the server, then removed", async () => {
  const { store, asked } = storeWith(answer(200, {}, "<CopyObjectResult/>"), answer(204));
  assert.equal(await store.staging?.publish("x-1", "c/0"), true);
  assert.deepEqual(
    asked.map(({ method, url, headers }) => [method, new URL(url).pathname, headers]),
    [
      ["PUT", "/a.zarr/c/0", { "x-amz-copy-source": "/bucket/a.zarr/.ndscatter/x-1" }],
      ["DELETE", "/a.zarr/.ndscatter/x-1", undefined],
    ],
  );
  const missing = storeWith(answer(404));
  assert.equal(await missing.store.staging?.publish("x-1", "c/0"), false);
  const late = storeWith(answer(200, {}, "<Error><Code>InternalError</Code></Error>"));
  await assertRejected("engine", /did not copy/, async () =>
    late.store.staging?.publish("x", "c/0"),
  );
});

test("failures say what was asked for", async () => {
  const failing = (one: Response | Error) => () => storeWith(one).store.open("c/0");
  await assertRejected(
    "engine",
    /^HEAD of s3:\/\/bucket\/a\.zarr\/c\/0 .* 403; check the keys/,
    failing(answer(403)),
  );
  await assertRejected("engine", /failed with status 500$/, failing(answer(500)));
  await assertRejected("engine", /a\.zarr\/c\/0 cannot be reached/, failing(new Error("refused")));
  await assertRejected("malformed-file", /does not say how long/, failing(answer(200)));
  assert.equal(await failing(answer(404))(), null);
});

test("URLs of objects are those of AWS, of another server, or what is given", async () => {
  const keys = { accessKeyId: "a", secretAccessKey: "b", region: "eu-west-1", endpoint: "" };
  const aws = await makeClient("s3://bucket/deep/a b.zarr/", keys);
  assert.equal(
    aws.urlOf("c/0").href,
    "https://bucket.s3.eu-west-1.amazonaws.com/deep/a%20b.zarr/c/0",
  );
  assert.equal(aws.location, "s3://bucket/deep/a b.zarr");
  const own = await makeClient("s3://bucket/a.zarr", {
    ...keys,
    endpoint: "http://127.0.0.1:9000/",
  });
  assert.equal(own.urlOf("zarr.json").href, "http://127.0.0.1:9000/bucket/a.zarr/zarr.json");
  assert.equal(own.bucketUrl.href, "http://127.0.0.1:9000/bucket/");
  const plain = await makeClient("https://host/data/a.zarr");
  assert.equal(plain.urlOf(".zarray").href, "https://host/data/a.zarr/.zarray");
  await assertRejected("attribute", /no option "key"/, () =>
    makeClient("s3://b/a", { key: 1 } as never),
  );
  await assertRejected("attribute", /is no URL/, () => makeClient("https://"));
});
