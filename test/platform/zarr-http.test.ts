/** Arrays read over HTTP, from servers that do as they should and from servers that do not. */

import assert from "node:assert/strict";
import * as fs from "node:fs";
import * as os from "node:os";
import * as path from "node:path";
import { after, before, beforeEach, test } from "node:test";
import { gzipSync } from "node:zlib";
import { writeNpy } from "../../src/entries/npy.ts";
import { createArray, openArray, openGroup } from "../../src/entries/zarr.ts";
import type { ErrorCode } from "../../src/core/errors.ts";
import { equals } from "../../src/core/tensor/compare.ts";
import { tensor, type Tensor } from "../../src/core/tensor/tensor.ts";
import { consolidate, writeGroup } from "../support/groups.ts";
import {
  etagOf,
  rangeOf,
  serveFiles,
  type HttpServer,
  type Quirk,
} from "../support/http-server.ts";
import { WITH_FETCH_OF_BUN, WITH_FETCH_OF_DENO } from "../support/platform.ts";
import { setLimits } from "../support/limits.ts";
import { assertRejected, assertRejectedCode } from "../support/refusal.ts";

const VALUES = tensor(
  "int32",
  [9, 4],
  Array.from({ length: 36 }, (_, at) => at * 1000 + 7),
);

/** Arrays with the same elements in every form. */
const FORMS = ["v3.zarr", "shards.zarr", "v2.zarr", "a.npy"] as const;

let home = "";
let server: HttpServer;
let restore = (): void => {};
before(async () => {
  restore = setLimits({ HTTP: { first: 1, longest: 5000, total: 10_000 } });
  home = fs.mkdtempSync(path.join(os.tmpdir(), "ndscatter-http-"));
  const make = (name: string, shards?: readonly number[]) =>
    createArray(path.join(home, name), {
      dtype: "int32",
      shape: [9, 4],
      chunkShape: [2, 4],
      codecs: ["gzip"],
      ...(shards && { shards }),
    });
  await (await make("v3.zarr")).write(VALUES);
  await (await make("shards.zarr", [6, 4])).write(VALUES);
  writeGroup(path.join(home, "group.zarr"));
  await (await make("group.zarr/some name")).write(VALUES);
  consolidate(path.join(home, "group.zarr"));
  fs.writeFileSync(path.join(home, "a.npy"), writeNpy(VALUES));
  writeV2(path.join(home, "v2.zarr"));
  server = await serveFiles(home);
});
after(() => {
  server.close();
  fs.rmSync(home, { recursive: true });
  restore();
});
beforeEach(() => {
  server.quirk = () => {};
  server.asked.length = 0;
  server.headers.length = 0;
});

/** An array of Zarr v2 by hand, without `.zattrs`. */
function writeV2(folder: string): void {
  fs.mkdirSync(folder);
  const metadata = {
    zarr_format: 2,
    shape: [9, 4],
    chunks: [9, 4],
    dtype: "<i4",
    compressor: null,
  };
  const rest = { fill_value: 0, order: "C", filters: null };
  fs.writeFileSync(path.join(folder, ".zarray"), JSON.stringify({ ...metadata, ...rest }));
  fs.writeFileSync(path.join(folder, "0.0"), new Uint8Array((VALUES.data as Int32Array).buffer));
}

const urlOf = (name: string): string => `${server.address}/${name}`;

/** The whole array, and a part of it that takes several ranges. */
async function readBoth(location: string): Promise<void> {
  const array = await openArray(location);
  const part = await array.slice([1, 8, 3], [1, 3]).read();
  const rows = [1, 4, 7].map((row) => [row * 4 + 1, row * 4 + 2].map((at) => at * 1000 + 7));
  assert.deepEqual(part.toArray(), rows);
  assert.ok(equals((await array.read()) as Tensor, VALUES));
}

const isChunk = (url = ""): boolean => /\/c\/|\/0\.0$|\.npy$/.test(url);

/** Answers with a status, until it has done so `times` times for a method and a path. */
const failing =
  (status: number, times = Infinity, headers: Record<string, string> = {}): Quirk =>
  ({ answer, before: count }) => {
    if (count >= times || answer.status >= 400) return;
    Object.assign(answer, { status, body: new Uint8Array(0) });
    answer.headers = { "content-length": "0", ...headers };
  };

/** Ends the connection after half of what was to be sent. */
const breaking =
  (times: number): Quirk =>
  ({ request, response, answer, before: count }) => {
    if (request.method === "HEAD" || answer.status >= 400 || count >= times) return;
    response.writeHead(answer.status, answer.headers);
    response.write(answer.body.subarray(0, answer.body.length >> 1), () => response.destroy());
    return true;
  };

/** Requests of a connection that is cut before there is an answer. */
const resetting =
  (times: number): Quirk =>
  ({ response, before: count }) => {
    if (count >= times) return;
    response.socket?.destroy();
    return true;
  };

const without =
  (...names: string[]): Quirk =>
  ({ answer }) => {
    for (const name of names) delete answer.headers[name];
  };

/** Compresses whatever it sends, and says so, whether or not that was asked for. */
const gzipping: Quirk = ({ answer, file, request }) => {
  if (file === null) return;
  Object.assign(answer, { status: 200, body: gzipSync(file) });
  answer.headers = { "content-encoding": "gzip", "content-length": `${answer.body.length}` };
  if (request.method === "HEAD") delete answer.headers["content-length"];
};

const wholeOnly: Quirk = ({ answer, file }) => {
  if (file === null) return;
  Object.assign(answer, { status: 200, body: file });
  delete answer.headers["content-range"];
  answer.headers["content-length"] = `${file.length}`;
};

const later = (seconds: number): string => new Date(Date.now() + seconds * 1000).toUTCString();

const pageFor = (url = "", type = "text/html; charset=utf-8") => {
  const body = new TextEncoder().encode(`<!DOCTYPE html>\n<html><p>Nothing is at ${url}</html>`);
  return {
    status: 200,
    headers: { "content-type": type, "content-length": `${body.length}` },
    body,
  };
};

/** What works anyway. */
const READ: readonly (readonly [name: string, quirk: Quirk])[] = [
  ["that does as it should", () => {}],
  ["that sends all of a file when asked for a range", wholeOnly],
  ["that compresses on the way and ignores ranges", gzipping],
  [
    "that compresses answers to HEAD",
    ({ request, answer }) => {
      if (request.method === "HEAD") answer.headers["content-encoding"] = "gzip";
    },
  ],
  [
    "that does not say how long files are",
    ({ answer, file }) => {
      if (file === null) return;
      Object.assign(answer, { status: 200, body: file });
      delete answer.headers["content-length"];
      delete answer.headers["content-range"];
    },
  ],
  [
    "that answers HEAD with 403",
    ({ request, answer }) => {
      if (request.method === "HEAD" && answer.status < 400) answer.status = 403;
    },
  ],
  [
    "that answers HEAD with 405",
    ({ request, answer }) => {
      if (request.method === "HEAD") answer.status = 405;
    },
  ],
  [
    "that sends at most 10 bytes at once",
    ({ answer, request, file }) => {
      const [, from, to] = /bytes=(\d+)-(\d+)/.exec(request.headers.range ?? "") ?? [];
      if (answer.status !== 206 || file === null) return;
      const end = Math.min(Number(to) + 1, Number(from) + 10);
      Object.assign(answer, rangeOf(file, Number(from), end, answer.headers));
    },
  ],
  ["without tags", without("etag")],
  ["without tags and times", without("etag", "last-modified")],
  ["whose ranges do not say which they are", without("content-range")],
  [
    "with weak tags, which match in no condition",
    ({ request, answer, file }) => {
      if (file === null) return;
      if (request.headers["if-match"] !== undefined) answer.status = 412;
      answer.headers["etag"] = `W/${etagOf(file)}`;
    },
  ],
  [
    "that sends requests on to another path",
    ({ request, answer, file }) => {
      if (request.url?.includes("moved") === true) return;
      if (file === null) return;
      Object.assign(answer, { status: 302, body: new Uint8Array(0) });
      answer.headers = { location: `${request.url}?moved` };
    },
  ],
  [
    "that forbids what is missing",
    ({ answer }) => {
      if (answer.status === 404) answer.status = 403;
    },
  ],
  ["that is busy twice", failing(503, 2)],
  ["that is limited and says for how many seconds", failing(429, 1, { "retry-after": "0" })],
  ["that is limited and says until when", failing(429, 1, { "retry-after": later(-5) })],
  ["that fails twice", failing(500, 2)],
  ["whose gateway fails twice", failing(502, 2)],
  ["that cuts the connection twice", resetting(2)],
  ["that breaks off in the middle twice", breaking(2)],
  [
    "that sends a page where nothing is",
    ({ request, answer }) => {
      if (answer.status === 404) Object.assign(answer, pageFor(request.url));
    },
  ],
];

for (const [name, quirk] of READ) {
  const skip = quirk === gzipping && WITH_FETCH_OF_DENO;
  test(`arrays are read from a server ${name}`, { skip }, async () => {
    server.quirk = quirk;
    for (const form of FORMS) await readBoth(urlOf(form));
  });
}

const only =
  (quirk: Quirk): Quirk =>
  (exchange) =>
    isChunk(exchange.request.url) ? quirk(exchange) : undefined;

const ranged =
  (change: (exchange: Parameters<Quirk>[0]) => void): Quirk =>
  (exchange) => {
    const { answer, request } = exchange;
    if (answer.status === 206 && request.headers.range !== "bytes=0-0") change(exchange);
  };

/** What is an error: of which code, in which words, and after how many requests of one kind. */
// prettier-ignore
const REFUSED: readonly (readonly [string, Quirk, ErrorCode, most?: number])[] = [
  ["answers 400", failing(400), "engine", 1],
  ["answers 401", failing(401), "engine", 1],
  ["answers 403", only(failing(403)), "engine", 1],
  ["answers 404", ({ answer }) => void (answer.status = 404), "malformed-file", 1],
  ["answers 501", failing(501), "engine", 1],
  ["is always busy", failing(503), "engine", 6],
  ["asks to wait for an hour", failing(429, Infinity, { "retry-after": "3600" }), "engine", 1],
  ["sends pages instead of files", ({ request, answer }) => {
    Object.assign(answer, pageFor(request.url));
  }, "malformed-file", 1],
  ["always fails", failing(500), "engine", 6],
  ["always cuts the connection", resetting(Infinity), "engine", 6],
  ["always breaks off", only(breaking(Infinity)), "engine"],
  ["sends another range", only(ranged(({ answer, file }) => {
    if (file !== null) Object.assign(answer, rangeOf(file, 1, 1 + answer.body.length, answer.headers));
  })), "engine"],
  ["sends several ranges", only(ranged(({ answer }) => {
    delete answer.headers["content-range"];
    answer.headers["content-type"] = "multipart/byteranges; boundary=x";
  })), "engine"],
  ["sends more bytes than the range", only(ranged(({ answer }) => {
    answer.body = Uint8Array.of(...answer.body, 1);
    answer.headers["content-length"] = `${answer.body.length}`;
  })), "engine"],
  ["sends more bytes than the range, and no length", only(ranged(({ answer }) => {
    answer.body = Uint8Array.of(...answer.body, 1);
    delete answer.headers["content-length"];
  })), "engine"],
  ["compresses ranges", only(ranged(({ answer }) => {
    answer.headers["content-encoding"] = "gzip";
    answer.body = gzipSync(answer.body);
    answer.headers["content-length"] = `${answer.body.length}`;
  })), "engine"],
  ["has another file by then (tag)", only(ranged(({ answer }) => {
    answer.headers["etag"] = '"other"';
  })), "malformed-file"],
  ["has another file by then (412)", only(ranged(({ answer }) => {
    answer.status = 412;
  })), "malformed-file"],
  ["has a shorter file by then (416)", only(ranged(({ answer }) => {
    answer.status = 416;
  })), "malformed-file"],
  ["has a longer file by then", only(ranged(({ answer }) => {
    const { headers } = answer;
    headers["content-range"] = headers["content-range"].replace(/\d+$/, "999");
  })), "malformed-file"],
  ["has another file by then (time)", only((exchange) => {
    const { headers, status } = exchange.answer;
    delete headers["etag"];
    if (status === 206) headers["last-modified"] = "Tue, 24 Nov 2026 10:00:00 GMT";
  }), "malformed-file"],
  ["sends requests on in a circle", ({ request, answer }) => {
    Object.assign(answer, { status: 301, headers: { location: request.url ?? "" } });
  }, "engine"],
];

for (const [name, quirk, code, most] of REFUSED) {
  test(`a server that ${name} is an error`, async () => {
    for (const form of ["v3.zarr", "a.npy"]) {
      server.asked.length = 0;
      server.quirk = quirk;
      await assertRejected(code, {}, () => readBoth(urlOf(form)));
      if (most === undefined || WITH_FETCH_OF_BUN !== false) continue;
      const counts = server.asked.map(
        (one) => server.asked.filter((other) => other === one).length,
      );
      // Of an NPY file the state and the length are asked for.
      assert.ok(Math.max(...counts) <= most * (form === "a.npy" ? 2 : 1), server.asked.join("\n"));
    }
  });
}

test(
  "a range that breaks off is read on from where it broke",
  { skip: WITH_FETCH_OF_BUN },
  async () => {
    server.quirk = only(breaking(1));
    await readBoth(urlOf("v2.zarr"));
    const ranges = server.asked.filter((one) => one.startsWith("GET /v2.zarr/0.0"));
    // Of the 112 bytes from 16 on, half came.
    assert.deepEqual(ranges.slice(0, 2), [
      "GET /v2.zarr/0.0 bytes=16-127",
      "GET /v2.zarr/0.0 bytes=72-127",
    ]);
  },
);

test("a server without ranges sends a shard once for all reads of it", async () => {
  server.quirk = wholeOnly;
  const array = await openArray(urlOf("shards.zarr"));
  server.asked.length = 0;
  await array.read([0, 0], [6, 4]);
  assert.equal(server.asked.filter((one) => one.startsWith("GET")).length, 1);
});

test("an object of unknown length is held in memory up to a limit", async (t) => {
  t.after(setLimits({ HTTP: { whole: 100 } }));
  server.quirk = only(gzipping);
  await assertRejected("unsupported-file", {}, () => readBoth(urlOf("v2.zarr")));
});

test("a server that asks to wait until tomorrow is not asked again", async () => {
  server.quirk = failing(503, Infinity, { "retry-after": later(86_400) });
  await assertRejectedCode("engine", { got: 503 }, () => openArray(urlOf("v3.zarr")));
  assert.equal(server.asked.length, 1);
});

test("the waits together have a limit", async (t) => {
  t.after(setLimits({ HTTP: { first: 1, longest: 2000, total: 2500 } }));
  server.quirk = failing(503, Infinity, { "retry-after": "1" });
  await assertRejected("engine", { got: 503 }, () => openArray(urlOf("v3.zarr")));
  // Two waits of a second fit in 2.5, a third does not.
  assert.equal(server.asked.length, 3);
});

/** A file of 12,800 bytes, of which a server sends at most `most` before it ends the connection. */
const cutting =
  (most: number): Quirk =>
  ({ request, response, answer }) => {
    if (request.method === "HEAD" || answer.body.length <= most) return;
    response.writeHead(answer.status, answer.headers);
    response.write(answer.body.subarray(0, most), () => response.destroy());
    return true;
  };

test(
  "a server that always breaks off is read as long as each answer brings something",
  { skip: WITH_FETCH_OF_BUN },
  async () => {
    const long = tensor(
      "float32",
      [3200],
      Array.from({ length: 3200 }, (_, at) => at),
    );
    fs.writeFileSync(path.join(home, "long.npy"), writeNpy(long));
    const array = await openArray(urlOf("long.npy"));
    server.quirk = cutting(1000);
    assert.ok(equals((await array.read()) as Tensor, long));
    const ranges = server.asked.filter((one) => one.includes("bytes=") && one.endsWith("-12927"));
    assert.deepEqual(ranges.slice(0, 2), [
      "GET /long.npy bytes=128-12927",
      "GET /long.npy bytes=1128-12927",
    ]);
    server.quirk = cutting(10);
    await assertRejectedCode("engine", {}, () => array.read());
  },
);

test(
  "a file that changes between two parts of it is an error",
  { skip: WITH_FETCH_OF_BUN },
  async () => {
    const array = await openArray(urlOf("v2.zarr"));
    server.quirk = only((exchange) => {
      if (exchange.before === 0) return breaking(1)(exchange);
      if (exchange.request.headers["if-match"] !== undefined) exchange.answer.status = 412;
      return false;
    });
    await assertRejected("malformed-file", {}, () => array.read());
  },
);

const silent: Quirk = ({ response, answer, request }) => {
  if (request.method === "HEAD") return;
  response.writeHead(answer.status, answer.headers);
  response.write(answer.body.subarray(0, 10));
  return true;
};

for (const [name, quirk] of [
  ["before its answer", () => true],
  ["within its answer", only(silent)],
] as const) {
  test(`a server that falls silent ${name} is an error after a while`, async (t) => {
    t.after(setLimits({ HTTP: { first: 1, silence: 100, total: 200 } }));
    server.quirk = quirk;
    await assertRejected("engine", {}, () => readBoth(urlOf("a.npy")));
    const [method] = (server.asked.at(-1) ?? "").split(" ");
    assert.equal(server.asked.filter((one) => one.startsWith(method)).length, 2);
  });
}

test("a silent server is asked again, from where it fell silent", async (t) => {
  t.after(setLimits({ HTTP: { first: 1, silence: 500, total: 10_000, progress: 1 } }));
  const array = await openArray(urlOf("a.npy"));
  server.quirk = (exchange) => (exchange.before === 0 ? silent(exchange) : undefined);
  server.asked.length = 0;
  assert.ok(equals((await array.read()) as Tensor, VALUES));
  assert.deepEqual(server.asked, ["GET /a.npy bytes=128-271", "GET /a.npy bytes=138-271"]);
});

test("a silent server can be left by a signal", async () => {
  const controller = new AbortController();
  const array = await openArray(urlOf("a.npy"), { signal: controller.signal });
  server.quirk = silent;
  const read = array.read();
  setTimeout(() => controller.abort(new Error("enough")), 50);
  await assert.rejects(read, /enough/);
});

test("a chunk that is an HTML page is named, whatever its type", async () => {
  for (const form of ["v3.zarr", "v2.zarr", "shards.zarr"]) {
    const array = await openArray(urlOf(form));
    server.quirk = only(({ request, answer, file }) => {
      const page = pageFor(request.url, "application/octet-stream");
      const [, from, to] = /^bytes=(\d+)-(\d+)$/.exec(request.headers.range ?? "") ?? [];
      Object.assign(answer, page, {
        headers: { ...page.headers, etag: etagOf(file ?? page.body) },
      });
      if (from === undefined) return;
      Object.assign(answer, rangeOf(page.body, Number(from), Number(to) + 1, answer.headers));
    });
    await assertRejected("malformed-file", { got: "an HTML page" }, () =>
      array.read([0, 0], [1, 1]),
    );
    server.quirk = () => {};
  }
});

test("a chunk for which a server sends a page as such is missing", async () => {
  const array = await openArray(urlOf("v3.zarr"));
  server.quirk = ({ request, answer }) => {
    if (request.url?.endsWith("/c/1/0") === true) Object.assign(answer, pageFor(request.url));
  };
  assert.deepEqual((await array.read([1, 0], [4, 1])).toArray(), [[4007], [0], [0], [16_007]]);
});

for (const [name, quirk] of [
  ["a wait", failing(503, Infinity, { "retry-after": "5" })],
  ["a request", () => true],
] as const) {
  test(`an aborted signal ends ${name}, and no other request follows`, async (t) => {
    t.after(setLimits({ HTTP: { first: 1, longest: 1e6, total: 1e6 } }));
    const controller = new AbortController();
    const reason = new Error("enough");
    server.quirk = (exchange) => {
      setTimeout(() => controller.abort(reason), 5);
      return quirk(exchange);
    };
    const { signal } = controller;
    const opened = openArray(urlOf("v3.zarr"), { signal });
    await assert.rejects(opened, (error) => error === reason);
    assert.equal(server.asked.length, 1);
    await assert.rejects(openArray(urlOf("a.npy"), { signal }), (error) => error === reason);
    assert.equal(server.asked.length, 1);
  });
}

test("an aborted signal is one, or an error", async () => {
  await assertRejected("attribute", {}, () => openArray(urlOf("v3.zarr"), { signal: 5 } as never));
});

test("403 stands for a missing chunk only where the caller says so", async () => {
  await createArray(path.join(home, "sparse.zarr"), {
    dtype: "int8",
    shape: [2],
    chunkShape: [2],
    fillValue: 5,
  });
  server.quirk = ({ answer }) => {
    if (answer.status === 404) answer.status = 403;
  };
  const array = await openArray(urlOf("sparse.zarr"));
  await assertRejected("engine", {}, () => array.read());
  const known = await openArray(urlOf("sparse.zarr"), { s3: { forbidden: "missing" } });
  assert.deepEqual((await known.read()).toArray(), [5, 5]);
  await assertRejected("attribute", {}, () =>
    openArray(urlOf("sparse.zarr"), { s3: { forbidden: "yes" } }),
  );
});

const SECRET = "X-Amz-Signature=5ecre7&X-Amz-Credential=a%2Fb";

/** Names as they may be typed, and what the server is asked for. */
const NAMES: readonly (readonly [typed: string, asked: string])[] = [
  ["v3.zarr/", "/v3.zarr/zarr.json"],
  ["v3.zarr///", "/v3.zarr/zarr.json"],
  [`v3.zarr?${SECRET}`, `/v3.zarr/zarr.json?${SECRET}`],
  [`v3.zarr/?${SECRET}#part`, `/v3.zarr/zarr.json?${SECRET}`],
  ["v3.zarr#part", "/v3.zarr/zarr.json"],
  ["group.zarr/some%20name", "/group.zarr/some%20name/zarr.json"],
  ["group.zarr/some name", "/group.zarr/some%20name/zarr.json"],
  [`a.npy?${SECRET}`, `/a.npy?${SECRET}`],
  ["a.npy#part", "/a.npy"],
  ["%61.npy", "/a.npy"],
];

for (const [typed, asked] of NAMES) {
  test(`${typed} asks for ${asked}`, async () => {
    await readBoth(urlOf(typed));
    assert.ok(
      server.asked.some((one) => one.split(" ")[1] === asked),
      server.asked.join("\n"),
    );
    assert.ok(!server.asked.some((one) => one.includes("#")));
  });
}

test("a group and its arrays are opened by a URL with a query", async () => {
  const group = await openGroup(`${urlOf("group.zarr")}?${SECRET}`);
  assert.deepEqual(
    (await group.members()).map(({ name }) => name),
    ["some name"],
  );
  assert.ok(equals((await (await group.open("some name")).read()) as Tensor, VALUES));
  assert.ok(server.asked.every((one) => one.includes(SECRET)));
});

test("an address of IPv6 is one like any other", async (t) => {
  const other = await serveFiles(home, "::1").catch(() => null);
  if (other === null) return t.skip("there is no IPv6 here");
  t.after(() => other.close());
  for (const form of FORMS) await readBoth(`${other.address}/${form}`);
});

test("an NPY file on a server is read by ranges, and not written", async () => {
  const array = await openArray(urlOf("a.npy"), { chunkShape: [2, 4] });
  assert.deepEqual(array.chunkShape, [2, 4]);
  assert.equal(array.location.path, urlOf("a.npy"));
  server.asked.length = 0;
  assert.deepEqual((await array.read([8, 1], [1, 2])).toArray(), [[33_007, 34_007]]);
  assert.deepEqual(server.asked, ["GET /a.npy bytes=260-267"]);
  const before = await array.stateOf([0, 0], [9, 4]);
  assert.equal(before, await array.stateOf([0, 0], [9, 4]));
  for (const write of [
    () => array.write(VALUES),
    () => array.writeChunk([0, 0], new Uint8Array(32)),
  ]) {
    await assertRejected("attribute", {}, write);
  }
  await assertRejected("shape-mismatch", {}, () =>
    openArray(urlOf("a.npy"), { chunkShape: [9, 1] }),
  );
  await assertRejected("malformed-file", {}, () => {
    fs.writeFileSync(path.join(home, "wrong.npy"), "something else");
    return openArray(urlOf("wrong.npy"));
  });
});
