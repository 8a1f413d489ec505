/** What object storage answers, and what is made of it: answers as the S3 API's reference describes them. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { makeClient, type Request, type S3Client } from "../src/arrays/zarr/stores/s3-client.ts";
import { S3Store } from "../src/arrays/zarr/stores/s3-store.ts";
import { WITHOUT_NODE } from "./support/platform.ts";
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

const VARIABLES = [
  ["AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL"],
  ["AWS_REGION", "AWS_DEFAULT_REGION"],
  ["AWS_ACCESS_KEY_ID"],
  ["AWS_SECRET_ACCESS_KEY"],
  ["AWS_SESSION_TOKEN"],
].flat();

/** What `action` asks of servers, where the environment has these variables and no others for AWS. */
async function requestsOf(
  variables: Readonly<Record<string, string>>,
  action: () => Promise<unknown>,
  status = 200,
): Promise<{ readonly request: globalThis.Request; readonly body: Uint8Array }[]> {
  const { fetch } = globalThis;
  const before = VARIABLES.map((name) => [name, process.env[name]] as const);
  const requests: { request: globalThis.Request; body: Uint8Array }[] = [];
  globalThis.fetch = async (input, init) => {
    const request = new Request(input, init);
    requests.push({ request, body: new Uint8Array(await request.clone().arrayBuffer()) });
    return answer(status);
  };
  try {
    for (const name of VARIABLES) delete process.env[name];
    Object.assign(process.env, variables);
    await action();
  } finally {
    globalThis.fetch = fetch;
    for (const [name, value] of before) {
      if (value === undefined) delete process.env[name];
      else process.env[name] = value;
    }
  }
  return requests;
}

const PUT: Request = { method: "PUT", headers: { "x-test": "1" }, body: Uint8Array.of(1, 2, 3) };

test("requests without keys are not signed", { skip: WITHOUT_NODE }, async () => {
  const incomplete: Record<string, string>[] = [
    {},
    { AWS_ACCESS_KEY_ID: "id" },
    { AWS_SECRET_ACCESS_KEY: "secret" },
    { AWS_ACCESS_KEY_ID: "", AWS_SECRET_ACCESS_KEY: "secret" },
  ];
  for (const variables of incomplete) {
    const [{ request, body }] = await requestsOf(variables, async () => {
      const client = await makeClient("s3://bucket/a.zarr");
      await client.send(client.urlOf("c/0"), PUT);
    });
    assert.equal(request.url, "https://bucket.s3.us-east-1.amazonaws.com/a.zarr/c/0");
    assert.equal(request.method, "PUT");
    assert.equal(request.headers.get("x-test"), "1");
    assert.equal(request.headers.get("authorization"), null);
    assert.deepEqual(body, PUT.body);
  }
});

// The names of the variables and the form of the header are those of AWS's documentation of Signature Version 4.
// prettier-ignore
const SIGNED: readonly (readonly [object, Readonly<Record<string, string>>, url: string, scope: string, token: string | null])[] = [
  [{}, { AWS_ACCESS_KEY_ID: "id", AWS_SECRET_ACCESS_KEY: "secret", AWS_REGION: "eu-west-1", AWS_DEFAULT_REGION: "x" },
    "https://bucket.s3.eu-west-1.amazonaws.com/a.zarr/c/0", "eu-west-1", null],
  [{}, { AWS_ACCESS_KEY_ID: "id", AWS_SECRET_ACCESS_KEY: "secret", AWS_DEFAULT_REGION: "eu-west-2", AWS_SESSION_TOKEN: "t" },
    "https://bucket.s3.eu-west-2.amazonaws.com/a.zarr/c/0", "eu-west-2", "t"],
  [{ accessKeyId: "id", secretAccessKey: "secret", region: "us-west-2", sessionToken: "own" },
    { AWS_ACCESS_KEY_ID: "x", AWS_REGION: "x", AWS_SESSION_TOKEN: "x" },
    "https://bucket.s3.us-west-2.amazonaws.com/a.zarr/c/0", "us-west-2", "own"],
  [{ accessKeyId: "id", secretAccessKey: "secret", region: "r" }, { AWS_ENDPOINT_URL: "http://host:9/", AWS_ENDPOINT_URL_S3: "" },
    "http://host:9/bucket/a.zarr/c/0", "r", null],
  [{ accessKeyId: "id", secretAccessKey: "secret", region: "r" }, { AWS_ENDPOINT_URL: "http://x", AWS_ENDPOINT_URL_S3: "http://s3" },
    "http://s3/bucket/a.zarr/c/0", "r", null],
];

for (const [options, variables, url, region, token] of SIGNED) {
  test(`requests to ${url} are signed`, { skip: WITHOUT_NODE }, async () => {
    const [{ request, body }] = await requestsOf(variables, async () => {
      const client = await makeClient("s3://bucket/a.zarr", options);
      await client.send(client.urlOf("c/0"), PUT);
    });
    assert.equal(request.url, url);
    const scope = new RegExp(`^AWS4-HMAC-SHA256 Credential=id/\\d{8}/${region}/s3/aws4_request, `);
    assert.match(request.headers.get("authorization") ?? "", scope);
    assert.equal(request.headers.get("x-amz-security-token"), token);
    assert.equal(request.headers.get("x-test"), "1");
    assert.deepEqual([request.method, ...body], ["PUT", 1, 2, 3]);
  });
}

test("a server that is busy is asked six times", { skip: WITHOUT_NODE }, async () => {
  const { random } = Math;
  // aws4fetch waits for random times between them.
  Math.random = () => 0;
  const keys = { accessKeyId: "id", secretAccessKey: "secret" };
  const ask = async (): Promise<void> => {
    const client = await makeClient("s3://bucket/a.zarr", keys);
    const { status } = await client.send(client.urlOf("c/0"), { method: "GET" });
    assert.equal(status, 503);
  };
  try {
    assert.equal((await requestsOf({}, ask, 503)).length, 6);
  } finally {
    Math.random = random;
  }
});

test("a location is the bucket itself, or has blanks and slashes", async () => {
  const keys = { accessKeyId: "a", secretAccessKey: "b", region: "r", endpoint: "http://host//" };
  const root = await makeClient("s3://bucket/", keys);
  assert.equal(root.urlOf("c/0").href, "http://host/bucket/c/0");
  assert.deepEqual(root.prefix, { bucket: "bucket", key: "" });
  const deep = await makeClient("s3://bucket//a%20b/c//", keys);
  assert.deepEqual(deep.prefix, { bucket: "bucket", key: "a b/c" });
  assert.equal(deep.location, "s3://bucket//a%20b/c");
  assert.equal(deep.urlOf("x?y").href, "http://host/bucket/a%20b/c/x%3Fy");
  const plain = await makeClient("https://host/data//", keys);
  assert.equal(plain.prefix, null);
  assert.equal(plain.location, "https://host/data//");
  assert.equal(plain.bucketUrl.href, "https://host/data/");
  assert.equal(plain.urlOf("c/0").href, "https://host/data/c/0");
  await assertRejected("attribute", /region must be text, got 4/, () =>
    makeClient("s3://bucket/a", { region: 4 } as never),
  );
  await assertRejected("attribute", /"nowhere\/bucket\/" is no URL/, () =>
    makeClient("s3://bucket/a", { ...keys, endpoint: "nowhere" }),
  );
});
