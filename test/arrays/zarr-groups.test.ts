/** Groups of Zarr: what is in them, as they are, as consolidated metadata list them, and as hostile ones say. */

import assert from "node:assert/strict";
import * as fs from "node:fs";
import * as http from "node:http";
import type { AddressInfo } from "node:net";
import * as path from "node:path";
import { test } from "node:test";
import { tensor } from "../../src/core/tensor/tensor.ts";
import { createArray, openGroup } from "../../src/entries/zarr.ts";
import { consolidate, writeGroup } from "../support/groups.ts";
import { makeHome } from "../support/job-files.ts";
import { WITHOUT_NODE_ITSELF } from "../support/platform.ts";
import { assertRejected } from "../support/refusal.ts";

const FILES = { skip: WITHOUT_NODE_ITSELF };

const write = (file: string, content: unknown): void => {
  fs.mkdirSync(path.dirname(file), { recursive: true });
  fs.writeFileSync(file, typeof content === "string" ? content : JSON.stringify(content));
};
const readText = (file: string): string => fs.readFileSync(file, "utf8");
const readJson = (file: string): Record<string, unknown> => JSON.parse(readText(file));

/** A group with two arrays, one of them in a group below. */
async function makeGroup(): Promise<string> {
  const place = path.join(makeHome(), "g.zarr");
  writeGroup(place, { title: "weather" });
  writeGroup(path.join(place, "b"));
  for (const name of ["time", "b/wind"]) {
    const options = { dtype: "int16", shape: [name.length], chunkShape: [2] } as const;
    const array = await createArray(path.join(place, name), options);
    await array.write(tensor("int16", [name.length], [...Array(name.length).keys()]));
  }
  return place;
}

const namesOf = (members: readonly { name: string; kind: string }[]): string[] =>
  members.map(({ name, kind }) => `${kind} ${name}`);

const ALL = ["group b", "array b/wind", "array time"];

test("the members of a group are found, and listed by consolidated metadata", FILES, async () => {
  const place = await makeGroup();
  // What is in an array, and what has no metadata, is no member.
  write(path.join(place, "time/inner/zarr.json"), { zarr_format: 3, node_type: "group" });
  for (const name of ["empty", "b/...", "a\\b"]) fs.mkdirSync(path.join(place, name));
  const group = await openGroup(place);
  assert.deepEqual([group.version, group.path], [3, place]);
  assert.deepEqual({ ...group.attributes }, { title: "weather" });
  assert.deepEqual(namesOf(await group.members()), ALL);
  assert.deepEqual([...(await (await group.open("b/wind")).read()).data], [0, 1, 2, 3, 4, 5]);
  fs.rmSync(path.join(place, "time/inner"), { recursive: true });
  consolidate(place);
  // The list stays what it was; an array that is opened is what it is.
  write(path.join(place, "new/zarr.json"), { zarr_format: 3, node_type: "group" });
  const file = path.join(place, "time/zarr.json");
  write(file, { ...readJson(file), shape: [5] });
  const again = await openGroup(place);
  assert.deepEqual({ ...again.attributes }, { title: "weather" });
  assert.deepEqual(namesOf(await again.members()), ALL);
  assert.deepEqual((await again.open("time")).shape, [5]);
  assert.deepEqual(namesOf(await group.members()), [
    "group b",
    "array b/wind",
    "group new",
    "array time",
  ]);
});

const ARRAY_V2 = {
  ...{ zarr_format: 2, shape: [2], chunks: [2], dtype: "<i4", compressor: null },
  ...{ order: "C", fill_value: 5, filters: null },
};

test("groups of Zarr v2 are read", FILES, async () => {
  const place = path.join(makeHome(), "old.zarr");
  const files = {
    ".zgroup": { zarr_format: 2 },
    ".zattrs": { title: "old" },
    "g/.zgroup": { zarr_format: 2 },
    "g/y/.zarray": ARRAY_V2,
    "x/.zarray": ARRAY_V2,
    "x/.zattrs": { unit: "m" },
  };
  for (const [key, json] of Object.entries(files)) write(path.join(place, key), json);
  const group = await openGroup(place);
  assert.deepEqual([group.version, { ...group.attributes }], [2, { title: "old" }]);
  const all = ["group g", "array g/y", "array x"];
  assert.deepEqual(namesOf(await group.members()), all);
  assert.deepEqual([...(await (await group.open("g/y")).read()).data], [5, 5]);
  consolidate(place);
  for (const name of ["g", "x"]) fs.rmSync(path.join(place, name), { recursive: true });
  const again = await openGroup(place);
  assert.deepEqual({ ...again.attributes }, { title: "old" });
  assert.deepEqual(namesOf(await again.members()), all);
  assert.deepEqual(await group.members(), []);
});

test("a name that leads out of its group is refused, typed or listed", FILES, async () => {
  const place = await makeGroup();
  const group = await openGroup(place);
  const file = path.join(place, "zarr.json");
  const own = { zarr_format: 3, node_type: "group" };
  for (const name of ["..", "../other", "b/../../x", "/etc", "", "a//b", "a\\b", "a\0", "."]) {
    await assertRejected("attribute", {}, () => group.open(name));
    const metadata = { [name]: { node_type: "array" } };
    write(file, { ...own, consolidated_metadata: { kind: "inline", metadata } });
    await assertRejected("malformed-file", {}, () => openGroup(place));
  }
  for (const name of [3, null]) {
    await assertRejected("attribute", {}, () => group.open(name as never));
  }
  write(file, { ...own, consolidated_metadata: { kind: "other" } });
  assert.deepEqual(namesOf(await (await openGroup(place)).members()), ALL);
});

test("a member whose name has a colon is listed and opened", FILES, async () => {
  const place = await makeGroup();
  const name = "b/temperature:2m";
  const options = { dtype: "int16", shape: [2], chunkShape: [2], fillValue: 9 } as const;
  await createArray(path.join(place, name), options);
  const group = await openGroup(place);
  const all = ["group b", `array ${name}`, "array b/wind", "array time"];
  assert.deepEqual(namesOf(await group.members()), all);
  assert.deepEqual([...(await (await group.open(name)).read()).data], [9, 9]);
  consolidate(place);
  assert.deepEqual(namesOf(await (await openGroup(place)).members()), all);
});

test("members that could not be opened, and endless links, are errors", FILES, async () => {
  const place = await makeGroup();
  const odd = path.join(place, "a\\b/zarr.json");
  write(odd, { zarr_format: 3, node_type: "group" });
  const group = await openGroup(place);
  await assertRejected("unsupported-file", {}, () => group.members());
  fs.rmSync(odd);
  write(path.join(place, "c/zarr.json"), { zarr_format: 3, node_type: "table" });
  await assertRejected("malformed-file", { key: "c" }, () => group.members());
  fs.rmSync(path.join(place, "c/zarr.json"));
  fs.symlinkSync("..", path.join(place, "b/up"));
  await assertRejected("unsupported-file", {}, () => group.members());
});

const LIST = { kind: "inline", metadata: 3 };

// prettier-ignore
const REFUSED = [
  ["zarr.json", { zarr_format: 4, node_type: "group" }, "unsupported-file"],
  ["zarr.json", { zarr_format: 3, node_type: "array" }, "unsupported-file"],
  ["zarr.json", { zarr_format: 3, node_type: "table" }, "malformed-file"],
  ["zarr.json", { zarr_format: 3, node_type: "group", attributes: 3 }, "malformed-file"],
  ["zarr.json", { zarr_format: 3, node_type: "group", consolidated_metadata: LIST }, "malformed-file"],
  [".zgroup", { zarr_format: 3 }, "malformed-file"],
  [".zmetadata", { metadata: [] }, "malformed-file"],
  [".zmetadata", { metadata: { "../x/.zarray": {} } }, "malformed-file"],
] as const;

test("what is no group is refused", FILES, async () => {
  const place = await makeGroup();
  await assertRejected("malformed-file", {}, () => openGroup(path.join(place, "none")));
  await assertRejected("unsupported-file", {}, () => openGroup(path.join(place, "time")));
  for (const [file, json, code] of REFUSED) {
    const other = makeHome();
    if (file === ".zmetadata") write(path.join(other, ".zgroup"), { zarr_format: 2 });
    write(path.join(other, file), json);
    await assertRejected(code, {}, () => openGroup(other));
  }
});

/** Numbers whose text matters: Python reads 1.0 and 1 as two types, and NaN as a number. */
const ODD =
  '{"one": 1.0, "nan": NaN, "big": 1180591620717411303424, "far": 1e400, "text": "ü\u{1f600}"}';

test("numbers of attributes may be those that only Python writes", FILES, async () => {
  const place = await makeGroup();
  const own = `{"zarr_format": 3, "attributes": ${ODD}, "node_type": "group"}`;
  write(path.join(place, "zarr.json"), own);
  const { attributes } = await openGroup(place);
  const expected = { one: 1, nan: NaN, big: 2n ** 70n, far: Infinity, text: "ü\u{1f600}" };
  assert.deepEqual({ ...attributes }, expected);
});

test("the members of a group at a URL are opened, whatever their names", FILES, async () => {
  const home = makeHome();
  const place = path.join(home, "g.zarr");
  writeGroup(place);
  const names = ["a b", "50%", "x#1", "q?r", "%2e%2e", "ü"];
  for (const [value, name] of names.entries()) {
    const options = { dtype: "int16", shape: [], chunkShape: [], fillValue: value } as const;
    await createArray(path.join(place, name), options);
  }
  consolidate(place);
  writeGroup(path.join(home, "bare.zarr"));
  const options = { dtype: "int16", shape: [1], chunkShape: [1] } as const;
  await createArray(path.join(home, "bare.zarr/a"), options);
  const server = http.createServer(({ url = "/", method }, response) => {
    const file = path.join(home, decodeURIComponent(new URL(url, "http://a").pathname));
    if (!fs.existsSync(file) || !fs.statSync(file).isFile()) return response.writeHead(404).end();
    const bytes = fs.readFileSync(file);
    response.writeHead(200, { "content-length": bytes.length });
    return response.end(method === "HEAD" ? undefined : bytes);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  try {
    const { port } = server.address() as AddressInfo;
    for (const end of ["", "/"]) {
      const group = await openGroup(`http://127.0.0.1:${port}/g.zarr${end}`);
      const listed = (await group.members()).map(({ name }) => name);
      assert.deepEqual(listed, names.toSorted());
      for (const [value, name] of names.entries()) {
        assert.deepEqual([...(await (await group.open(name)).read()).data], [value], name);
      }
      // Without consolidated metadata, a server would have to list its objects.
      const bare = await openGroup(`http://127.0.0.1:${port}/bare.zarr${end}`);
      await assertRejected("engine", {}, () => bare.members());
      assert.deepEqual([...(await (await bare.open("a")).read()).data], [0]);
    }
  } finally {
    server.closeAllConnections();
    server.close();
  }
});
