/** Reference files of kerchunk: both versions, on disks and on servers, and damaged or hostile ones. */

import assert from "node:assert/strict";
import * as fs from "node:fs";
import * as path from "node:path";
import { after, before, test } from "node:test";
import { createArray, openArray, openGroup, type ZarrArray } from "../../src/entries/zarr.ts";
import { gatherChunked } from "../../src/entries/chunked.ts";
import { guardOf, rootsFrom } from "../../src/arrays/chunked/job/roots.ts";
import { openWith } from "../../src/arrays/zarr/open.ts";
import type { ErrorCode } from "../../src/core/errors.ts";
import { equals } from "../../src/core/tensor/compare.ts";
import { tensor } from "../../src/core/tensor/tensor.ts";
import { serveFiles, type HttpServer } from "../support/http-server.ts";
import { makeHome } from "../support/job-files.ts";
import { assertRejectedCode } from "../support/refusal.ts";

const home = makeHome();
const at = (name: string): string => path.join(home, name);

/** A header of 5 bytes, then int32 elements: 0, 10, 20 and so on. */
const HEADER = 5;
const ELEMENTS = Int32Array.from({ length: 12 }, (_, one) => one * 10);
fs.mkdirSync(at("data"));
fs.writeFileSync(
  at("data/x.bin"),
  Buffer.concat([Buffer.alloc(HEADER, 0xff), Buffer.from(ELEMENTS.buffer)]),
);
fs.writeFileSync(at("data/a b#1.bin"), Buffer.from(ELEMENTS.buffer));

const zarray = (shape: readonly number[], chunks: readonly number[]): object => ({
  ...{ zarr_format: 2, shape, chunks, dtype: "<i4", order: "C", fill_value: 7 },
  ...{ compressor: null, filters: null },
});

/** The metadata of 6 elements in 3 chunks. */
const SIX = JSON.stringify(zarray([6], [2]));
const base64 = (...values: number[]): string =>
  `base64:${Buffer.from(Int32Array.from(values).buffer).toString("base64")}`;
const part = (url: string, first: number): unknown[] => [url, HEADER + first * 4, 8];
const X = "data/x.bin";

/** A reference file and the elements of its array, in which missing chunks are 7. */
const READ: readonly (readonly [what: string, json: object, expected: readonly number[]])[] = [
  ["of version 0", { ".zarray": SIX, 0: part(X, 1), 2: base64(1, 2) }, [10, 20, 7, 7, 1, 2]],
  ["of version 1", { version: 1, refs: { ".zarray": SIX, 1: part(X, 3) } }, [7, 7, 30, 40, 7, 7]],
  [
    "with objects",
    { refs: { ".zarray": zarray([6], [2]), ".zattrs": { a: 1 } } },
    [7, 7, 7, 7, 7, 7],
  ],
  ["with text", { ".zarray": SIX, 0: "abcdefgh" }, [0x64636261, 0x68676665, 7, 7, 7, 7]],
  [
    "with a whole file",
    { ".zarray": JSON.stringify(zarray([12], [12])), 0: ["data/a b#1.bin"] },
    [...ELEMENTS],
  ],
  [
    "with templates",
    {
      version: 1,
      templates: { u: X, d: "data" },
      refs: { ".zarray": SIX, 0: part("{{u}}", 0), 1: part("{{ d }}/x.bin", 2) },
    },
    [0, 10, 20, 30, 7, 7],
  ],
  ["with an empty gen", { version: 1, gen: [], refs: { ".zarray": SIX } }, [7, 7, 7, 7, 7, 7]],
  [
    "with other parts of the path",
    { ".zarray": SIX, 2: part("./data/../data/x.bin", 9) },
    [7, 7, 7, 7, 90, 100],
  ],
];

let web: HttpServer;
let other: HttpServer;
before(async () => {
  web = await serveFiles(home);
  other = await serveFiles(home);
});
after(() => {
  web.close();
  other.close();
});

let count = 0;
/** Writes a reference file and returns its name. */
function write(json: unknown): string {
  const name = `refs-${count++}.json`;
  fs.writeFileSync(at(name), typeof json === "string" ? json : JSON.stringify(json));
  return name;
}

for (const [what, json, expected] of READ) {
  test(`references are read: ${what}`, async () => {
    const name = write(json);
    for (const place of [at(name), `${web.address}/${name}`, `${web.address}/${name}?token`]) {
      const array = await openArray(place);
      assert.deepEqual([...(await array.read()).data], [...expected], place);
      assert.deepEqual((await array.slice([1, 5]).read()).toArray(), expected.slice(1, 5));
    }
  });
}

test("absolute paths and URLs are read, a file on a server with one request for its size", async () => {
  const local = write({ ".zarray": SIX, 0: part(at(X), 0), 1: part(`${web.address}/${X}`, 2) });
  assert.deepEqual((await (await openArray(at(local))).read()).toArray(), [0, 10, 20, 30, 7, 7]);
  const remote = write({
    ".zarray": SIX,
    0: part(`${other.address}/${X}`, 0),
    1: part(`${other.address}/${X}`, 4),
  });
  const array = await openArray(`${web.address}/${remote}`);
  assert.deepEqual((await array.slice([0, 2]).read()).toArray(), [0, 10]);
  assert.deepEqual((await array.slice([2, 6]).read()).toArray(), [40, 50, 7, 7]);
  assert.deepEqual(
    other.asked.toSorted(),
    [`GET /${X} bytes=21-28`, `GET /${X} bytes=5-12`, `HEAD /${X}`].toSorted(),
  );
});

test("a large uncompressed chunk is read in parts", async () => {
  const name = write({ ".zarray": JSON.stringify(zarray([12], [12])), 0: [X, HEADER, 48] });
  const array = await openArray(`${web.address}/${name}`);
  web.asked.length = 0;
  assert.deepEqual((await array.slice([4, 6]).read()).toArray(), [40, 50]);
  assert.deepEqual(web.asked, [`HEAD /${X}`, `GET /${X} bytes=21-28`]);
  const local = await openArray(at(name));
  const [table, ids] = [local, tensor("int64", [3, 1], [9, 2, 2])];
  const rows = await gatherChunked(table, await stored("ids", ids), {
    threads: 0,
    out: at("rows.zarr"),
  });
  assert.deepEqual((await rows.read()).toArray(), [90, 20, 20]);
});

async function stored(name: string, value: ReturnType<typeof tensor>) {
  const array = await createArray(at(`${name}.zarr`), {
    dtype: value.dtype,
    shape: value.shape,
    chunkShape: value.shape,
  });
  await array.write(value);
  return array;
}

test("a group of references lists and opens its arrays", async () => {
  const refs = {
    ".zgroup": '{"zarr_format": 2}',
    "a/.zarray": SIX,
    "a/0": part(X, 0),
    "g/.zgroup": { zarr_format: 2 },
    "g/b/.zarray": SIX,
  };
  const name = write({ version: 1, refs });
  for (const place of [at(name), `${web.address}/${name}?token`]) {
    const group = await openGroup(place);
    assert.deepEqual(
      (await group.members()).map((one) => `${one.kind} ${one.name}`),
      ["array a", "group g", "array g/b"],
    );
    assert.deepEqual((await (await group.open("a")).read([0], [3])).toArray(), [0, 10, 7]);
    assert.deepEqual((await (await group.open("g/b")).read([0], [1])).toArray(), [7]);
  }
  const array = await openArray(at(`${name}/a`));
  assert.deepEqual(await (array as ZarrArray).stored(), { chunks: 1, bytes: 8 });
});

test("references and their files are read again if either changes", async () => {
  fs.copyFileSync(at(X), at("data/changing.bin"));
  const name = write({ ".zarray": SIX, 0: part("data/changing.bin", 0), 1: "abcdefgh" });
  const stateOf = async (): Promise<string[]> => {
    const array = await openArray(at(name));
    return [await array.stateOf([0], [2]), await array.stateOf([2], [2])];
  };
  const old = await stateOf();
  assert.deepEqual(await stateOf(), old);
  fs.appendFileSync(at("data/changing.bin"), "more");
  fs.writeFileSync(at(name), fs.readFileSync(at(name), "utf8").replace("abcd", "abcx"));
  const now = await stateOf();
  assert.ok(now.every((state, i) => state !== old[i]));
});

test("references are never written", async () => {
  const name = write({ ".zarray": SIX });
  const array = await openArray(at(name));
  const options = { dtype: "int32", shape: [2], chunkShape: [2] } as const;
  for (const action of [
    () => array.write(tensor("int32", [6], [1, 2, 3, 4, 5, 6])),
    () => createArray(at(name), options),
    () => createArray(at(name), { ...options, overwrite: true }),
    () => createArray(at(`${name}/new`), options),
    () => gatherChunked(array, array, { out: at(`${name}/new`), threads: 0, job: at("job") }),
  ])
    await assertRejectedCode("attribute", {}, action);
  assert.equal(fs.existsSync(at("job")), false);
});

test("a folder may have the name of a reference file", async () => {
  const array = await createArray(at("folder.json"), {
    dtype: "int32",
    shape: [2],
    chunkShape: [2],
  });
  await array.write(tensor("int32", [2], [1, 2]));
  for (const place of [at("folder.json"), `${web.address}/folder.json`])
    assert.deepEqual((await (await openArray(place)).read()).toArray(), [1, 2]);
});

const chunk = (reference: unknown, more: object = {}): object => ({
  version: 1,
  refs: { ".zarray": SIX, 0: reference },
  ...more,
});
const BAD: ErrorCode = "malformed-file";
const OTHER: ErrorCode = "unsupported-file";

/** Reference files that are refused, at opening or when chunk 0 is read. */
const REFUSED: readonly (readonly [json: unknown, code: ErrorCode, sentence: RegExp])[] = [
  ["[1]", BAD, /must hold an object/],
  ["not JSON", BAD, /must be JSON/],
  ["{}", BAD, /neither zarr.json nor .zarray/],
  ["{a: 1}", BAD, /must be JSON/],
  ['{"zarr_format": 3}', BAD, /is a file instead of a folder/],
  ['{"refs": {"a": "b", "a": "c"}}', BAD, /the name "a" twice/],
  [chunk(5, { version: 2 }), OTHER, /has version 2; only reference files of versions 0 and 1/],
  [chunk("", { version: "1" }), OTHER, /has version "1"/],
  [chunk("", { gen: [{ key: "{{i}}" }] }), OTHER, /has gen, which generates references/],
  [chunk("", { gen: {} }), OTHER, /has gen/],
  [chunk("", { refs: [] }), BAD, /refs of .* must be an object/],
  [chunk("", { templates: "u" }), BAD, /templates of .* must be an object/],
  ...[
    5,
    null,
    true,
    [],
    [5],
    [X, 5],
    [X, -1, 8],
    [X, 0, -8],
    [X, 0.5, 8],
    [X, "0", 8],
    [X, 0, 8, 1],
    [X, 0, 2 ** 60],
    [X, null, null],
    ["x".repeat(4097)],
  ].map(
    (one) =>
      [
        chunk(one),
        BAD,
        /reference "0" of .* must be (?:text, an object, \[url\] or \[url, offset, length\]|an integer from 0|a path or a URL)/,
      ] as const,
  ),
  [chunk(`base64:"`), BAD, /reference "0" of .* must be valid base64/],
  [
    chunk(part("{{v}}", 0), { templates: { u: X } }),
    BAD,
    /must be a path or a URL of s3, https, http, after substitution of \{\{names\}\} of templates, got "{{v}}/,
  ],
  [chunk(part("{{toString}}", 0)), BAD, /after substitution/],
  [chunk(part("{{u(a='b')}}", 0), { templates: { u: X } }), BAD, /after substitution/],
  [chunk(part("{{u}}", 0), { templates: { u: 5 } }), BAD, /after substitution/],
  [
    chunk(part("{{u}}".repeat(800), 0), { templates: { u: "x".repeat(5000) } }),
    BAD,
    /after substitution/,
  ],
  [
    chunk(part("file:///etc/hosts", 0)),
    BAD,
    /must be a path or a URL of .*, got "file:\/\/\/etc\/hosts"/,
  ],
  [chunk(part("gs://bucket/x", 0)), BAD, /must be a path or a URL of/],
  [chunk(["data/none.bin"]), BAD, /names .*none.bin, which does not exist/],
  [chunk([X, 46, 8]), BAD, /names bytes 46 to 54 of .*x.bin, which has 53 bytes/],
  [chunk([X, 2 ** 52, 8]), BAD, /which has 53 bytes/],
  [chunk(["data", 0, 8]), BAD, /data, which (?:has 0 bytes|does not exist)/],
  [chunk([X]), BAD, /53/],
  [chunk(["a\0b"]), BAD, /must be a path or a URL|does not exist/],
];

test("wrong reference files are refused", async () => {
  for (const [json, code, sentence] of REFUSED) {
    const name = write(json);
    for (const place of [at(name), `${web.address}/${name}`]) {
      const action = async () => (await openArray(place)).read();
      const { message } = await assertRejectedCode(code, {}, action);
      const isOfFolder = /is a file instead/.test(message) || /its server has/.test(message);
      assert.ok(sentence.test(message) || isOfFolder, `${JSON.stringify(json)}: ${message}`);
    }
  }
});

test("a reference file on a server names no local files", async () => {
  for (const url of [at(X), "/etc/hosts", "\\\\host\\share", "C:\\x", "c:/x", "{{u}}"]) {
    const name = write(chunk([url, 0, 8], { templates: { u: at(X) } }));
    const action = () => openArray(`${web.address}/${name}`);
    const { message } = await assertRejectedCode(BAD, {}, action);
    assert.match(message, /must be a URL or a relative path, because the file is on a server/);
  }
});

test("a large reference file is refused before it is read", async () => {
  const name = write("{}");
  fs.truncateSync(at(name), 2 ** 27 + 1);
  const { message } = await assertRejectedCode(OTHER, { limit: 2 ** 27 }, () =>
    openArray(at(name)),
  );
  assert.match(message, /more than the limit/);
});

test("keys of the caller are not sent to servers that a reference file names", async () => {
  const name = write({ ".zarray": SIX, 0: part(`${other.address}/${X}`, 0), 1: part(X, 0) });
  const s3 = { accessKeyId: "key", secretAccessKey: "secret", sessionToken: "token" };
  const array = await openArray(`${web.address}/${name}`, { s3 });
  other.headers.length = 0;
  web.headers.length = 0;
  assert.deepEqual((await array.read()).toArray(), [0, 10, 0, 10, 7, 7]);
  assert.ok(other.headers.length > 0 && web.headers.length > 0);
  assert.ok(web.headers.every((one) => one.authorization !== undefined));
  assert.ok(
    other.headers.every(
      (one) => one.authorization === undefined && one["x-amz-security-token"] === undefined,
    ),
  );
});

test("within a worker's roots, a reference file names only files and addresses of the roots", async () => {
  fs.mkdirSync(at("root"), { recursive: true });
  fs.copyFileSync(at(X), at("root/x.bin"));
  fs.writeFileSync(at("data/refs.json"), JSON.stringify(chunk(part("../root/x.bin", 1))));
  const guard = guardOf(await rootsFrom([at("root"), `${web.address}/data`]));
  const read = async (location: string) =>
    (await openWith(location, {}, guard)).read().then((values) => values.toArray());
  const inside = ["x.bin", at("root/x.bin"), `${web.address}/${X}`];
  const outside = [at(X), `../${X}`, `${other.address}/${X}`, `${web.address}/root/x.bin`];
  other.headers.length = 0;
  for (const url of [...inside, ...outside]) {
    fs.writeFileSync(at("root/refs.json"), JSON.stringify(chunk(part(url, 1))));
    const action = () => read(at("root/refs.json"));
    if (inside.includes(url)) assert.deepEqual(await action(), [10, 20, 7, 7, 7, 7], url);
    else await assertRejectedCode("attribute", { key: "roots" }, action);
  }
  await assertRejectedCode("attribute", { key: "roots" }, () =>
    read(`${web.address}/data/refs.json`),
  );
  assert.equal(other.headers.length, 0);
});

test("messages hide the secrets of URLs", async () => {
  const url = `${web.address}/none.bin?secret`;
  const array = await openArray(at(write(chunk([url, 0, 8]))));
  const { message } = await assertRejectedCode(BAD, {}, () => array.read());
  assert.ok(!message.includes("secret"), message);
});

test("arrays of Zarr v3 are read through references", async () => {
  const objects = new Map<string, Uint8Array>();
  const made = await createArray(objects, { dtype: "int32", shape: [4], chunkShape: [2] });
  await made.write(tensor("int32", [4], [1, 2, 3, 4]));
  const refs = [...objects].map(([key, bytes]) => [
    key,
    `base64:${Buffer.from(bytes).toString("base64")}`,
  ]);
  const array = await openArray(at(write({ version: 1, refs: Object.fromEntries(refs) })));
  assert.ok(equals(await array.read(), tensor("int32", [4], [1, 2, 3, 4])));
});
