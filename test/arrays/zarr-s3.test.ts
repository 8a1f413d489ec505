/** What object storage answers, and what is made of it: answers as the S3 API's reference describes them. */

import assert from "node:assert/strict";
import { test } from "node:test";
import type { Request } from "../../src/arrays/zarr/stores/retries.ts";
import { makeClient, type S3Client } from "../../src/arrays/zarr/stores/s3-client.ts";
import { openS3Store, S3Store } from "../../src/arrays/zarr/stores/s3-store.ts";
import { MemoryStore } from "../support/memory-store.ts";
import { WITHOUT_NODE } from "../support/platform.ts";
import { assertRejected } from "../support/refusal.ts";

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
      // A page may not send the condition to another origin without asking first; the tag of the answer is compared.
      headers: { range: "bytes=2-5", ...(WITHOUT_NODE === false && { "if-match": '"one"' }) },
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

test("no more of a body is read than was asked for", async () => {
  for (const [status, length] of [
    [206, 4],
    [200, 4],
    [200, 10],
  ] as const) {
    let sent = 0;
    let isCancelled = false;
    const body = new ReadableStream<Uint8Array>({
      pull(controller) {
        sent += 100;
        controller.enqueue(new Uint8Array(100).fill(7));
      },
      cancel: () => void (isCancelled = true),
    });
    const endless = new Response(body, { status, headers: { etag: '"one"' } });
    const { store } = storeWith(answer(200, HEAD), endless);
    const source = await store.open("c/0");
    const into = new Uint8Array(length);
    await source?.read(0, into);
    assert.deepEqual([...into], Array<number>(length).fill(7));
    // A stream may pull a piece or two ahead.
    assert.ok(sent <= 300, String(sent));
    assert.ok(isCancelled);
  }
});

test("a body may come in pieces of any length", async () => {
  for (const [status, pieces] of [
    [200, [BYTES.slice(0, 3), BYTES.slice(3, 7), BYTES.slice(7)]],
    [206, [BYTES.slice(5, 6), BYTES.slice(6)]],
  ] as const) {
    const body = new ReadableStream<Uint8Array>({
      start(controller) {
        for (const piece of pieces) controller.enqueue(piece);
        controller.close();
      },
    });
    const { store } = storeWith(
      answer(200, { "content-length": "10" }),
      new Response(body, { status }),
    );
    const into = new Uint8Array(4);
    await (await store.open("c/0"))?.read(5, into);
    assert.deepEqual([...into], [5, 6, 7, 8]);
  }
});

test("an object that changes while it is read is noticed", async () => {
  for (const changed of [
    answer(412),
    answer(412, { etag: '"one"' }, BYTES.slice(0, 4)),
    answer(404),
    answer(206, { etag: '"two"' }, BYTES.slice(0, 4)),
    answer(206, { etag: '"one"' }, BYTES.slice(0, 3)),
  ]) {
    const { store } = storeWith(answer(200, HEAD), changed);
    const source = await store.open("c/0");
    await assertRejected("malformed-file", {}, async () => source?.read(0, new Uint8Array(4)));
  }
});

test("the state of an object is its tag, time and length; an object that is not there has none", async () => {
  const time = "Mon, 23 Nov 2026 10:00:00 GMT";
  const heads = [
    HEAD,
    { ...HEAD, etag: '"two"' },
    { ...HEAD, "content-length": "11" },
    { "content-length": "10", "last-modified": time },
  ];
  const { store, asked } = storeWith(...heads.map((head) => answer(200, head)), answer(404));
  const states: string[] = [];
  for (const _ of [...heads, null]) states.push(await store.stateOf("c/0"));
  assert.equal(new Set(states).size, 5);
  assert.ok(states[3].includes(time));
  assert.equal(states[4], "");
  assert.deepEqual([...new Set(asked.map(({ method }) => method))], ["HEAD"]);
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

test("an object that was made although the server failed is known by its bytes", async () => {
  const read = (bytes: readonly number[]): Response[] => {
    const headers = { "content-length": String(bytes.length), etag: '"one"' };
    return [answer(200, headers), answer(200, headers, Uint8Array.from(bytes))];
  };
  for (const failure of [answer(500), answer(502), new Error("the connection is closed")]) {
    for (const [bytes, isOwn] of [
      [[1, 2], true],
      [[1, 3], false],
      [[1, 2, 3], false],
      [[1], false],
    ] as const) {
      const { store, asked } = storeWith(failure, ...read(bytes));
      assert.equal(await store.putNew("zarr.json", [Uint8Array.of(1, 2)]), isOwn, String(bytes));
      assert.equal(asked.filter(({ method }) => method === "PUT").length, 1);
    }
  }
  // Nothing is there, or it cannot be read: the failure is reported, and not that another writer was faster.
  for (const second of [answer(404), answer(500)]) {
    const { store } = storeWith(answer(500), second, second.clone());
    await assert.rejects(store.putNew("zarr.json", [Uint8Array.of(1)]), {
      code: "engine",
      got: 500,
    });
  }
  // A server that refuses a request has not stored the object.
  const { store, asked } = storeWith(answer(403));
  await assert.rejects(store.putNew("zarr.json", [Uint8Array.of(1)]), { code: "engine", got: 403 });
  assert.equal(asked.length, 1);
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
    page(
      entry("a.zarr/c/0", 5) +
        entry("a.zarr/a&amp;b&#60;&lt;&gt;&quot;&apos;&x;&constructor;&#1114112;", 6),
      "1ueG/+=&amp;",
    ),
    page(entry("a.zarr/zarr.json", 7)),
  );
  const found: unknown[] = [];
  for await (const one of store.list()) found.push(one);
  assert.deepEqual(found, [
    { key: "c/0", size: 5 },
    { key: "a&b<<>\"'&x;&constructor;&#1114112;", size: 6 },
    { key: "zarr.json", size: 7 },
  ]);
  const queries = asked.map(({ url }) => Object.fromEntries(new URL(url).searchParams));
  assert.deepEqual(queries, [
    { "list-type": "2", prefix: "a.zarr/" },
    { "list-type": "2", prefix: "a.zarr/", "continuation-token": "1ueG/+=&" },
  ]);
});

test("a list of objects that never end is read in a short time", async () => {
  const { store } = storeWith(page(entry("a.zarr/c/0", 5) + "<Contents>".repeat(1e5)));
  const found: unknown[] = [];
  const start = performance.now();
  for await (const one of store.list()) found.push(one);
  assert.deepEqual(found, [{ key: "c/0", size: 5 }]);
  // A search for the end of each takes 100 s.
  assert.ok(performance.now() - start < 5000);
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
  await assertRejected("engine", {}, async () => late.store.staging?.publish("x", "c/0"));
});

test("what is staged has a folder of its own", async () => {
  const found = page(entry("a.zarr/.ndscatter/x-1", 2) + entry("a.zarr/.ndscatter/x-2", 2));
  const { store, asked } = storeWith(
    answer(200),
    answer(412),
    answer(200, HEAD),
    answer(204),
    found,
    answer(204),
    answer(204),
  );
  const { staging } = store;
  const parts = [Uint8Array.of(1), Uint8Array.of(2)];
  await staging?.put("x-1", parts);
  assert.equal(await staging?.putNew("x-2", parts), false);
  assert.equal((await staging?.open("x-1"))?.size, 10);
  await staging?.remove("x-1");
  await staging?.end();
  const body = Uint8Array.of(1, 2);
  assert.deepEqual(
    asked.map(({ url, ...request }) => [new URL(url).pathname, request]),
    [
      ["/a.zarr/.ndscatter/x-1", { method: "PUT", headers: {}, body }],
      ["/a.zarr/.ndscatter/x-2", { method: "PUT", headers: { "if-none-match": "*" }, body }],
      ["/a.zarr/.ndscatter/x-1", { method: "HEAD" }],
      ["/a.zarr/.ndscatter/x-1", { method: "DELETE" }],
      ["/", { method: "GET" }],
      ["/a.zarr/.ndscatter/x-1", { method: "DELETE" }],
      ["/a.zarr/.ndscatter/x-2", { method: "DELETE" }],
    ],
  );
  assert.equal(new URL(asked[4].url).searchParams.get("prefix"), "a.zarr/.ndscatter/");
});

test("a staged object that the server does not remove is an error", async () => {
  const { store } = storeWith(page(entry("a.zarr/.ndscatter/x-1", 2)), answer(500));
  await assertRejected("engine", {}, async () => store.staging?.end());
});

test("a server copies what lies on it, and nothing of other stores", async () => {
  const { store, asked } = storeWith(answer(200, {}, "<CopyObjectResult/>"), answer(404));
  const from = storeWith().store;
  assert.equal(await store.staging?.copy(from, "c/0", "x-1"), true);
  assert.equal(await store.staging?.copy(from, "c/1", "x-2"), false);
  const bucketUrl = new URL("https://bucket.s3.other.amazonaws.com/");
  for (const other of [
    new MemoryStore(),
    new S3Store({ ...from.client, bucketUrl }),
    new S3Store({ ...from.client, prefix: null }),
  ]) {
    assert.equal(await store.staging?.copy(other, "c/0", "x-3"), false);
  }
  assert.deepEqual(
    asked.map(({ method, url, headers }) => [method, new URL(url).pathname, headers]),
    [
      ["PUT", "/a.zarr/.ndscatter/x-1", { "x-amz-copy-source": "/bucket/a.zarr/c/0" }],
      ["PUT", "/a.zarr/.ndscatter/x-2", { "x-amz-copy-source": "/bucket/a.zarr/c/1" }],
    ],
  );
  const root = new S3Store({ ...from.client, prefix: { bucket: "bucket", key: "" } });
  const whole = storeWith(answer(200));
  assert.equal(await whole.store.copy(root, "c 0", "to"), true);
  assert.deepEqual(whole.asked[0].headers, { "x-amz-copy-source": "/bucket/c%200" });
});

/** An answer with a body, and whether the body was cancelled. */
function cancellable(status: number, headers: Record<string, string> = {}) {
  const seen = { isCancelled: false };
  const body = new ReadableStream<Uint8Array>({
    pull: (controller) => controller.enqueue(Uint8Array.of(7, 8, 9)),
    cancel() {
      seen.isCancelled = true;
    },
  });
  return { response: new Response(body, { status, headers }), seen };
}

const read = async (store: S3Store): Promise<void> => {
  const source = await store.open("c/0");
  await source?.read(0, new Uint8Array(4));
};

// prettier-ignore
const UNREAD: readonly (readonly [string, number, boolean, (store: S3Store) => Promise<unknown>, string?])[] = [
  ["a missing object", 404, true, (store) => store.open("c/0")],
  ["a failure", 500, false, (store) => store.open("c/0")],
  ["an object that was put", 200, true, (store) => store.put("c/0", [Uint8Array.of(1)])],
  ["an object that is there", 412, true, (store) => store.putNew("c/0", [Uint8Array.of(1)])],
  ["an object that was removed", 200, true, (store) => store.remove("c/0")],
  ["the rest of an object", 206, true, read, '"one"'],
  ["an object that has changed", 206, false, read, '"two"'],
  ["a condition that does not hold", 412, false, read],
];

for (const [name, status, isWell, action, etag] of UNREAD) {
  test(`the body of ${name} is cancelled, because it keeps its connection`, async () => {
    const { response, seen } = cancellable(status, etag === undefined ? {} : { etag });
    const { store } = storeWith(...(action === read ? [answer(200, HEAD)] : []), response);
    const [{ status: settled }] = await Promise.allSettled([action(store)]);
    assert.equal(settled, isWell ? "fulfilled" : "rejected");
    assert.ok(seen.isCancelled);
  });
}

test("an object without a tag is read without a condition, and no bytes without a request", async () => {
  const { store, asked } = storeWith(
    answer(200, { "content-length": "10" }),
    answer(206, { etag: '"one"' }, BYTES.slice(9)),
  );
  const source = await store.open("c/0");
  assert.equal(source?.bytes, null);
  await source?.read(3, new Uint8Array(0));
  const into = new Uint8Array(1);
  await source?.read(9, into);
  assert.deepEqual([...into], [9]);
  assert.deepEqual(asked[1].headers, { range: "bytes=9-9" });
  assert.equal(asked.length, 2);
});

test("what a server cannot do is refused", async () => {
  const parts = [Uint8Array.of(1)];
  await assertRejected("engine", {}, () => storeWith(answer(404)).store.put("c/0", parts));
  await assertRejected("engine", {}, () => storeWith(answer(401)).store.put("c/0", parts));
  await assertRejected("engine", {}, () => storeWith(answer(409)).store.put("c", parts));
  await assertRejected("engine", {}, () => storeWith(answer(500)).store.remove("c/0"));
  const { store } = storeWith();
  await assertRejected("attribute", {}, () => store.clear());
  const plain = new S3Store({ ...store.client, prefix: null });
  assert.equal(plain.staging, undefined);
  await assertRejected("engine", {}, () => plain.list()[Symbol.asyncIterator]().next());
  await assert.rejects(storeWith(answer(500)).store.open("c"), { code: "engine", got: 500 });
});

test("failures say what was asked for", async () => {
  // After a HEAD that says nothing a GET follows, which gets the same answer.
  const failing = (one: Response | Error) => () => {
    const again = one instanceof Error ? one : one.clone();
    return storeWith(one, again).store.open("c/0");
  };
  await assertRejected("engine", {}, failing(answer(403)));
  await assertRejected("engine", {}, failing(answer(500)));
  const refused = new Error("refused");
  await assertRejected("engine", {}, failing(refused));
  await assert.rejects(failing(refused), { cause: refused });
  // An object of unknown length is read as a whole.
  assert.equal((await failing(answer(200))())?.size, 0);
  assert.equal(await failing(answer(404))(), null);
});

test("a store has the options of its requests", async () => {
  const store = await openS3Store("s3://bucket/a.zarr", { endpoint: "http://host" });
  assert.equal(store.path, "s3://bucket/a.zarr");
  assert.equal(store.client.urlOf("c/0").href, "http://host/bucket/a.zarr/c/0");
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
  await assertRejected("attribute", {}, () => makeClient("s3://b/a", { key: 1 } as never));
  await assertRejected("attribute", {}, () => makeClient("https://"));
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
  await assertRejected("attribute", {}, () => makeClient("s3://bucket/a", { region: 4 } as never));
  await assertRejected("attribute", {}, () =>
    makeClient("s3://bucket/a", { ...keys, endpoint: "nowhere" }),
  );
});
