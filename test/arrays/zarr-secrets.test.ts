/** Users, passwords, queries and tokens go to the server that they are for, and nowhere else. */

import assert from "node:assert/strict";
import * as fs from "node:fs";
import * as os from "node:os";
import * as path from "node:path";
import { inspect } from "node:util";
import { after, before, beforeEach, test } from "node:test";
import { scatterChunked } from "../../src/entries/chunked.ts";
import { readNpy, writeNpy } from "../../src/entries/npy.ts";
import { createArray, createPending, openArray, openGroup } from "../../src/entries/zarr.ts";
import { tensor } from "../../src/core/tensor/tensor.ts";
import { hasSecrets, shownUrl, withoutSecrets } from "../../src/arrays/boxes/urls.ts";
import { runCommand } from "../support/cli.ts";
import { serveFiles, type HttpServer, type Quirk } from "../support/http-server.ts";
import { setLimits } from "../support/limits.ts";
import { assertRejected } from "../support/refusal.ts";

/** What must be nowhere: as it is typed, decoded, and in the header. */
const PASSWORD = "pa55%40w0rd";
const SIGNATURE = "5ecre7516n47ure";
const TOKEN = "70k3n70k3n";
const HEADER = Buffer.from("anna:pa55@w0rd").toString("base64");
const SECRETS = [PASSWORD, "pa55@w0rd", SIGNATURE, TOKEN, HEADER, "5ecre7key"];

const VALUES = tensor("float32", [4, 2], [1, 2, 3, 4, 5, 6, 7, 8]);

let home = "";
let server: HttpServer;
let other: HttpServer;
let restore = (): void => {};
before(async () => {
  restore = setLimits({ HTTP: { first: 1 } });
  home = fs.mkdtempSync(path.join(os.tmpdir(), "ndscatter-secrets-"));
  const write = (name: string, bytes: Uint8Array): void =>
    fs.writeFileSync(path.join(home, name), bytes);
  write("data.npy", writeNpy(VALUES));
  write("ids.npy", writeNpy(tensor("int64", [2, 1], [3, 0])));
  write("rows.npy", writeNpy(tensor("float32", [2, 2], [10, 20, 30, 40])));
  const table = await createArray(path.join(home, "a.zarr"), {
    dtype: "float32",
    shape: [4, 2],
    chunkShape: [2, 2],
  });
  await table.write(VALUES);
  server = await serveFiles(home);
  other = await serveFiles(home);
});
after(() => {
  server.close();
  other.close();
  fs.rmSync(home, { recursive: true });
  restore();
});
beforeEach(() => {
  for (const one of [server, other]) {
    one.quirk = () => {};
    one.headers.length = 0;
    one.asked.length = 0;
  }
});

/** A URL with a user, and one with a signature in its query. */
const secretUrls = (name: string): string[] => [
  `http://anna:${PASSWORD}@127.0.0.1:${server.port}/${name}`,
  `${server.address}/${name}?X-Amz-Signature=${SIGNATURE}&X-Amz-Security-Token=${TOKEN}`,
];

function assertNone(text: string, where: string): void {
  for (const secret of SECRETS) assert.ok(!text.includes(secret), `${where}: ${text}`);
}

test("a user and a password go into a header, and a query stays behind the path", async () => {
  for (const name of ["data.npy", "a.zarr"]) {
    for (const url of secretUrls(name)) {
      server.headers.length = 0;
      server.asked.length = 0;
      const array = await openArray(url);
      assert.deepEqual((await array.read([1, 0], [1, 2])).toArray(), [[3, 4]]);
      const isUser = url.includes("anna");
      assert.ok(
        server.headers.every(
          (one) => one.authorization === (isUser ? `Basic ${HEADER}` : undefined),
        ),
      );
      assert.ok(server.asked.every((one) => one.includes(SIGNATURE) === !isUser));
      assertNone(inspect(array.location) + array.fingerprint, "the location");
      assert.equal(
        array.location.path,
        isUser ? `http://***@127.0.0.1:${server.port}/${name}` : `${server.address}/${name}?***`,
      );
    }
  }
});

test("another server, to which a request is sent on, gets no password", async () => {
  server.quirk = ({ answer, request }) => {
    Object.assign(answer, { status: 302, body: new Uint8Array(0) });
    answer.headers = { location: other.address + (request.url ?? "") };
  };
  const [url] = secretUrls("data.npy");
  await (await openArray(url)).read();
  assert.ok(other.headers.length > 0);
  assert.ok(other.headers.every(({ authorization }) => authorization === undefined));
});

const KEYS = { accessKeyId: "id", secretAccessKey: "5ecre7key", sessionToken: TOKEN, region: "r" };

test("keys of the environment and tokens go to no server that they are not for", async (t) => {
  const variables = {
    AWS_ACCESS_KEY_ID: "id",
    AWS_SECRET_ACCESS_KEY: "5ecre7key",
    AWS_SESSION_TOKEN: TOKEN,
  };
  for (const [name, value] of Object.entries(variables)) {
    const old = process.env[name];
    process.env[name] = value;
    t.after(() => (old === undefined ? delete process.env[name] : (process.env[name] = old)));
  }
  await openArray(`${server.address}/a.zarr`);
  assertNone(inspect(server.headers), "the headers");
  assert.ok(server.headers.every(({ authorization }) => authorization === undefined));
  // Signed for a server that sends the request on.
  server.quirk = ({ answer, request }) => {
    Object.assign(answer, { status: 307, body: new Uint8Array(0) });
    answer.headers = { location: other.address + (request.url ?? "") };
  };
  await assertRejected("engine", {}, () =>
    openArray("s3://bucket/a.zarr", { s3: { endpoint: server.address } }),
  );
  assert.ok(server.headers.some((one) => one["x-amz-security-token"] === TOKEN));
  assert.deepEqual(other.asked, []);
});

const destroy: Quirk = ({ response }) => {
  response.socket?.destroy();
  return true;
};

/** What makes calls fail. */
const FAILURES: readonly (readonly [string, Quirk])[] = [
  ["404", ({ answer }) => void Object.assign(answer, { status: 404 })],
  ["403", ({ answer }) => void Object.assign(answer, { status: 403 })],
  ["500", ({ answer }) => void Object.assign(answer, { status: 500 })],
  ["a cut connection", destroy],
  [
    "a circle",
    ({ answer, request }) =>
      void Object.assign(answer, { status: 302, headers: { location: request.url } }),
  ],
  ["other bytes", ({ answer }) => void answer.body.fill(0x41)],
];

const failureOf = async (action: () => Promise<unknown>): Promise<string> => {
  try {
    await action();
  } catch (error) {
    return inspect(error, { depth: 10, showHidden: true });
  }
  return assert.fail("nothing was thrown");
};

for (const [name, quirk] of FAILURES) {
  test(`errors after ${name} have no secrets, nor have their causes, nor does the command print one`, async () => {
    for (const file of ["data.npy", "a.zarr"]) {
      for (const url of secretUrls(file)) {
        server.quirk = quirk;
        assertNone(await failureOf(() => openArray(url)), "openArray");
        assertNone(await failureOf(() => openGroup(url)), "openGroup");
        for (const typed of [url, `${url}[0:2]`]) {
          const { stdout, stderr, status } = await runCommand(home, ["array", typed, "--debug"]);
          assert.equal(status, 1, stderr);
          assertNone(stdout + stderr, "ndscatter array");
        }
      }
    }
  });
}

/** Locations that cannot be opened at all. */
const UNUSABLE = [
  `https://anna:${PASSWORD}@host:99999/a.zarr`,
  `https://anna:${PASSWORD}/rest@host/a.zarr`,
  `https://?X-Amz-Signature=${SIGNATURE}`,
  `s3://anna:${PASSWORD}@bucket/a.zarr`,
  `s3://bucket/a.zarr?X-Amz-Signature=${SIGNATURE}`,
  `ftp://anna:${PASSWORD}@host/a.zarr`,
  `http://anna:${PASSWORD}@127.0.0.1:1/a.npy`,
];

for (const location of UNUSABLE) {
  test(`${withoutSecrets(location)} is refused without its secrets`, async () => {
    for (const action of [
      () => openArray(location),
      () => createArray(location, { dtype: "int8", shape: [1], chunkShape: [1] }),
      () => createPending(location, { dtype: "int8", shape: [1], chunkShape: [1] }),
    ]) {
      const text = await failureOf(action);
      assertNone(text, "an error");
      assert.match(text, /^TensorError/);
    }
    const { stdout, stderr } = await runCommand(home, ["array", location, "--debug"]);
    assertNone(stdout + stderr, "ndscatter array");
  });
}

test("keys that cannot be sent are refused without them", async () => {
  for (const wrong of [
    { secretAccessKey: "5ecre7key\n" },
    { sessionToken: `${TOKEN}\r\nx: y` },
    { secretAccessKey: 5 },
    { endpoint: `http://anna:${PASSWORD}@127.0.0.1:${server.port}` },
    { endpoint: `http://127.0.0.1:${server.port}?sig=${SIGNATURE}` },
  ]) {
    const s3 = { ...KEYS, endpoint: server.address, ...wrong } as typeof KEYS;
    const text = await failureOf(() => openArray("s3://bucket/a.zarr", { s3 }));
    assertNone(text, "an error");
    assert.match(text, /^TensorError/);
  }
});

test("errors about a fetch function that reveals URLs have no secrets", async () => {
  for (const fetch of [
    async (url: unknown) => String(url) as unknown as Response,
    async (url: unknown) => Promise.reject(String(url)),
    async (url: unknown) => Promise.reject(new Error(`no way to ${String(url)}`)),
  ]) {
    for (const url of [...secretUrls("data.npy"), ...secretUrls("a.zarr")])
      assertNone(await failureOf(() => openArray(url, { fetch })), "openArray");
  }
});

test("a URL that was printed without its secrets is not asked for", async () => {
  for (const url of secretUrls("data.npy")) {
    await assertRejected("attribute", {}, () => openArray(shownUrl(url)));
  }
  assert.deepEqual(server.asked, []);
});

test("facts are printed without secrets", async () => {
  for (const name of ["data.npy", "a.zarr"]) {
    for (const url of secretUrls(name)) {
      for (const json of [[], ["--json"]]) {
        const { stdout, stderr, status } = await runCommand(home, ["array", url, ...json]);
        assert.equal(status, 0, stderr);
        assert.match(stdout, /\*\*\*/);
        assert.match(stdout, /float32/);
        assertNone(stdout + stderr, "facts");
      }
    }
  }
  const copied = await runCommand(home, ["array", secretUrls("data.npy")[1], "-o", "copy.npy"]);
  assert.equal(copied.status, 0, copied.stderr);
  assertNone(copied.stdout + copied.stderr, "a copy");
  assert.deepEqual(
    readNpy(fs.readFileSync(path.join(home, "copy.npy"))).toArray(),
    VALUES.toArray(),
  );
});

/** The texts of all files in a folder. */
const textsIn = (folder: string): string[] =>
  fs.readdirSync(folder, { recursive: true, withFileTypes: true }).flatMap((entry) => {
    return entry.isFile()
      ? [fs.readFileSync(path.join(entry.parentPath, entry.name), "latin1")]
      : [];
  });

test("a job takes arrays by URLs without secrets, and refuses those with some before it writes a file", async () => {
  const plain = ["data.npy", "ids.npy", "rows.npy"].map((name) => `${server.address}/${name}`);
  for (const url of [...secretUrls("data.npy"), ...secretUrls("a.zarr")]) {
    const job = path.join(home, "refused");
    const [, ...rest] = plain;
    const arrays = await Promise.all([url, ...rest].map((one) => openArray(one)));
    const text = await failureOf(() =>
      scatterChunked(arrays[0], arrays[1], arrays[2], { out: path.join(home, "no.npy"), job }),
    );
    assertNone(text, "an error");
    assert.match(
      text,
      /has a user or a query, which a job would write into its files; copy the array first/,
    );
    const args = [
      "run",
      "ScatterND",
      url,
      "ids.npy",
      "rows.npy",
      "-o",
      "no.npy",
      "--job",
      "refused",
      "--debug",
    ];
    const { status, stdout, stderr } = await runCommand(home, args);
    assert.equal(status, 1, stderr);
    assert.match(stderr, /has a user or a query, which a job would write/);
    assertNone(stdout + stderr, "ndscatter run");
    assert.ok(!fs.existsSync(job));
  }
  const args = [
    "run",
    "ScatterND",
    ...plain,
    "-o",
    "sums.npy",
    "--job",
    "job",
    "--attr",
    "reduction=add",
  ];
  const { status, stderr } = await runCommand(home, args);
  assert.equal(status, 0, stderr);
  const sums = readNpy(fs.readFileSync(path.join(home, "sums.npy")));
  assert.deepEqual(sums.toArray(), [
    [31, 42],
    [3, 4],
    [5, 6],
    [17, 28],
  ]);
  for (const text of textsIn(path.join(home, "job"))) assertNone(text, "the job");
  assert.ok(textsIn(path.join(home, "job")).some((text) => text.includes(plain[0])));
});

test("an output of one file is not written to a server", async () => {
  const arrays = await Promise.all(
    ["data.npy", "ids.npy", "rows.npy"].map((name) => openArray(path.join(home, name))),
  );
  const job = path.join(home, "refused");
  await assertRejected("attribute", {}, () =>
    scatterChunked(arrays[0], arrays[1], arrays[2], { out: `${server.address}/new.npy`, job }),
  );
  assert.ok(!fs.existsSync(job));
});

/** Locations, and how they are shown. */
const SHOWN: readonly (readonly [location: string, shown: string])[] = [
  ["a/b?c@d.zarr", "a/b?c@d.zarr"],
  ["https://host/a@b/c.zarr", "https://host/a@b/c.zarr"],
  ["https://u@host/a", "https://***@host/a"],
  ["https://u:p@[::1]:8/a#f", "https://***@[::1]:8/a"],
  ["https://u:p/w@host/a", "https://***@host/a"],
  ["https://host:80/a@b", "https://host:80/a@b"],
  ["https://host/a?", "https://host/a"],
  ["https://host/a?b=c?d@e", "https://host/a?***"],
  ["redis://:p@host:6379", "redis://***@host:6379"],
  ["redis://:p/a#s?s@host:6379", "redis://***@host:6379"],
  ["rediss://u:12/p@host/0", "rediss://***@host/0"],
];

for (const [location, shown] of SHOWN) {
  test(`${shown} shows a location`, () => {
    assert.equal(shownUrl(location), shown);
    assert.equal(hasSecrets(location), shown.includes("***"));
    assert.equal(
      withoutSecrets(`at ${location}: it is "${location}"`),
      `at ${shown}: it is "${shown}"`,
    );
  });
}
