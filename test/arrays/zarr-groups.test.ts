/** Groups of Zarr: what is in them, as they are, as consolidated metadata list them, and as hostile ones say. */

import assert from "node:assert/strict";
import * as fs from "node:fs";
import * as http from "node:http";
import type { AddressInfo } from "node:net";
import * as path from "node:path";
import { test } from "node:test";
import { tensor } from "../../src/core/tensor/tensor.ts";
import { createArray, createGroup, openArray, openGroup, resize } from "../../src/entries/zarr.ts";
import { makeHome } from "../support/job-files.ts";
import { WITHOUT_NODE_ITSELF } from "../support/platform.ts";
import { assertRejected } from "../support/refusal.ts";

const FILES = { skip: WITHOUT_NODE_ITSELF };

const write = (file: string, json: unknown): void => {
  fs.mkdirSync(path.dirname(file), { recursive: true });
  fs.writeFileSync(file, JSON.stringify(json));
};
const readJson = (file: string): Record<string, unknown> =>
  JSON.parse(fs.readFileSync(file, "utf8"));

/** A group with two arrays, one of them in a group below. */
async function makeGroup(): Promise<string> {
  const place = path.join(makeHome(), "g.zarr");
  await createGroup(place, { attributes: { title: "weather" } });
  await createGroup(path.join(place, "b"));
  for (const [name, length] of [
    ["time", 3],
    ["b/wind", 4],
  ] as const) {
    const options = { dtype: "int16", shape: [length], chunkShape: [2] } as const;
    const array = await createArray(path.join(place, name), options);
    await array.write(tensor("int16", [length], [...Array(length).keys()]));
  }
  return place;
}

const namesOf = (members: readonly { name: string; kind: string }[]): string[] =>
  members.map(({ name, kind }) => `${kind} ${name}`);

const ALL = ["group b", "array b/wind", "array time"];

test("the members of a group are found, and listed by consolidated metadata", FILES, async () => {
  const place = await makeGroup();
  // What is in an array, and what has no metadata, is no member.
  write(path.join(place, "time", "inner", "zarr.json"), { zarr_format: 3, node_type: "group" });
  fs.mkdirSync(path.join(place, "empty"));
  const group = await openGroup(place);
  assert.deepEqual([group.version, group.isConsolidated], [3, false]);
  assert.deepEqual({ ...group.attributes }, { title: "weather" });
  assert.deepEqual(namesOf(await group.members()), ALL);
  assert.deepEqual([...(await (await group.open("b/wind")).read()).data], [0, 1, 2, 3]);

  const now = await group.consolidate();
  assert.equal(now.isConsolidated, true);
  const json = readJson(path.join(place, "zarr.json"));
  assert.deepEqual(json["consolidated_metadata"], {
    kind: "inline",
    must_understand: false,
    metadata: {
      b: readJson(path.join(place, "b/zarr.json")),
      "b/wind": readJson(path.join(place, "b/wind/zarr.json")),
      time: readJson(path.join(place, "time/zarr.json")),
    },
  });
  assert.deepEqual({ ...(json["attributes"] as object) }, { title: "weather" });
  // The list stays what it was; an array that is opened is what it is.
  await resize(await openArray(path.join(place, "time")), [5]);
  const again = await openGroup(place);
  const listed = (await again.members()).find(({ name }) => name === "time");
  assert.deepEqual(listed?.metadata["shape"], [3]);
  assert.deepEqual((await again.open("time")).shape, [5]);
  assert.deepEqual((await (await again.consolidate()).members()).at(-1)?.metadata["shape"], [5]);
});

test("groups of Zarr v2 are read and consolidated", FILES, async () => {
  const place = path.join(makeHome(), "old.zarr");
  const array = {
    zarr_format: 2,
    shape: [2],
    chunks: [2],
    dtype: "<i4",
    compressor: null,
    order: "C",
    fill_value: 5,
    filters: null,
  };
  write(path.join(place, ".zgroup"), { zarr_format: 2 });
  write(path.join(place, ".zattrs"), { title: "old" });
  write(path.join(place, "x/.zarray"), array);
  write(path.join(place, "x/.zattrs"), { unit: "m" });
  write(path.join(place, "g/.zgroup"), { zarr_format: 2 });
  write(path.join(place, "g/y/.zarray"), array);
  const group = await openGroup(place);
  assert.deepEqual([group.version, { ...group.attributes }], [2, { title: "old" }]);
  assert.deepEqual(namesOf(await group.members()), ["group g", "array g/y", "array x"]);
  assert.deepEqual([...(await (await group.open("g/y")).read()).data], [5, 5]);
  await group.consolidate();
  assert.deepEqual(readJson(path.join(place, ".zmetadata")), {
    zarr_consolidated_format: 1,
    metadata: {
      ".zgroup": { zarr_format: 2 },
      ".zattrs": { title: "old" },
      "g/.zgroup": { zarr_format: 2 },
      "g/y/.zarray": array,
      "x/.zarray": array,
      "x/.zattrs": { unit: "m" },
    },
  });
  const again = await openGroup(place);
  assert.deepEqual(
    [again.isConsolidated, namesOf(await again.members())],
    [true, ["group g", "array g/y", "array x"]],
  );
});

test("a name that leads out of its group is refused, typed or listed", FILES, async () => {
  const place = await makeGroup();
  const group = await openGroup(place);
  for (const name of [
    "..",
    "../other",
    "b/../../x",
    "/etc",
    "",
    "a//b",
    "a\\b",
    "a\0",
    ".",
    3,
    null,
  ]) {
    await assertRejected("attribute", {}, () => group.open(name as string));
    if (typeof name !== "string") continue;
    const file = path.join(place, "zarr.json");
    const consolidated = { kind: "inline", metadata: { [name]: { node_type: "array" } } };
    write(file, { zarr_format: 3, node_type: "group", consolidated_metadata: consolidated });
    await assertRejected("malformed-file", {}, () => openGroup(place));
  }
  write(path.join(place, "zarr.json"), {
    zarr_format: 3,
    node_type: "group",
    consolidated_metadata: { kind: "other" },
  });
  assert.deepEqual(namesOf(await (await openGroup(place)).members()), ALL);
});

test("a member whose name has a colon is listed, opened and consolidated", FILES, async () => {
  const place = await makeGroup();
  const name = "b/temperature:2m";
  const options = { dtype: "int16", shape: [2], chunkShape: [2], fillValue: 9 } as const;
  await createArray(path.join(place, name), options);
  const group = await openGroup(place);
  const all = ["group b", `array ${name}`, "array b/wind", "array time"];
  assert.deepEqual(namesOf(await group.members()), all);
  assert.deepEqual([...(await (await group.open(name)).read()).data], [9, 9]);
  assert.deepEqual(namesOf(await (await group.consolidate()).members()), all);
});

test(
  "a member whose name could not be opened is an error, and a folder without metadata is not",
  FILES,
  async () => {
    const place = await makeGroup();
    fs.mkdirSync(path.join(place, "b", "..."));
    fs.mkdirSync(path.join(place, "a\\b"));
    const group = await openGroup(place);
    assert.deepEqual(namesOf(await group.members()), ALL);
    write(path.join(place, "a\\b", "zarr.json"), { zarr_format: 3, node_type: "group" });

    await assertRejected("unsupported-file", {}, () => group.members());
  },
);

test("what is no group is refused, and nothing is made where something is", FILES, async () => {
  const place = await makeGroup();
  await assertRejected("unsupported-file", {}, () => openGroup(path.join(place, "time")));
  await assertRejected("malformed-file", {}, () => openGroup(path.join(place, "none")));
  for (const one of [place, path.join(place, "time")]) {
    await assertRejected("attribute", {}, () => createGroup(one));
  }
  const consolidated_metadata = { kind: "inline", metadata: 3 };
  for (const [json, code] of [
    [{ zarr_format: 4, node_type: "group" }, "unsupported-file"],
    [{ zarr_format: 3, node_type: "group", attributes: 3 }, "malformed-file"],
    [{ zarr_format: 3, node_type: "group", consolidated_metadata }, "malformed-file"],
  ] as const) {
    write(path.join(place, "zarr.json"), json);
    await assert.rejects(() => openGroup(place), { code });
  }
});

test("a link to the group above has an end", FILES, async () => {
  const place = await makeGroup();
  fs.symlinkSync("..", path.join(place, "b", "up"));
  const group = await openGroup(place);
  await assertRejected("unsupported-file", {}, () => group.members());
});

/** Text that parsing and printing again would change: Python reads 1.0 and 1 as two types, and NaN as a number. */
const ODD =
  '{"one": 1.0, "nan": NaN, "big": 1180591620717411303424, "far": 1e400, "text": "\\u00fc\u{1f600}"}';

test(
  "consolidated metadata have the attributes as the members' files write them",
  FILES,
  async () => {
    const place = await makeGroup();
    const file = path.join(place, "time", "zarr.json");
    const member = fs
      .readFileSync(file, "utf8")
      .replace('"attributes": {}', `"attributes": ${ODD}`);
    fs.writeFileSync(file, member);
    const own = `{"zarr_format": 3, "attributes": ${ODD}, "node_type": "group"}`;
    fs.writeFileSync(path.join(place, "zarr.json"), own);
    const group = await openGroup(place);
    await group.consolidate();
    const plain = (text: string): string =>
      text.replaceAll(/\s+/g, "").replaceAll("\\u00fc", "\u00fc");
    const textOf = (file: string): string => plain(fs.readFileSync(file, "utf8"));
    const text = textOf(path.join(place, "zarr.json"));
    assert.ok(text.includes(`"time":${plain(member)}`), text);
    assert.ok(text.startsWith(plain(own).slice(0, -1)), text);
    const [, , time] = await (await openGroup(place)).members();
    assert.deepEqual(time.metadata, (await group.members())[2].metadata);
    assert.equal((time.metadata["attributes"] as { nan: number }).nan, NaN);

    const old = path.join(makeHome(), "old.zarr");
    write(path.join(old, ".zgroup"), { zarr_format: 2 });
    write(path.join(old, "x/.zgroup"), { zarr_format: 2 });
    fs.writeFileSync(path.join(old, "x/.zattrs"), ODD);
    await (await openGroup(old)).consolidate();
    assert.ok(textOf(path.join(old, ".zmetadata")).includes(`"x/.zattrs":${plain(ODD)}`));
  },
);

test("consolidating keeps what changed in the group since it was opened", FILES, async () => {
  const place = await makeGroup();
  const group = await openGroup(place);
  const file = path.join(place, "zarr.json");
  write(file, { ...readJson(file), attributes: { title: "climate" } });
  const now = await group.consolidate();
  assert.deepEqual({ ...now.attributes }, { title: "climate" });
  assert.deepEqual(readJson(file)["attributes"], { title: "climate" });
});

test("a list that no reader would take is not written", FILES, async () => {
  const place = await makeGroup();
  const file = path.join(place, "zarr.json");
  const before = fs.readFileSync(file, "utf8");
  const large = { note: "x".repeat(9 * 2 ** 20) };
  for (const name of ["b", "time"]) {
    const one = path.join(place, name, "zarr.json");
    write(one, { ...readJson(one), attributes: large });
  }
  const group = await openGroup(place);

  await assertRejected("too-large", {}, () => group.consolidate());
  for (const name of ["b", "time"]) {
    const one = path.join(place, name, "zarr.json");
    const deep = `${"[".repeat(98)}${"]".repeat(98)}`;
    write(one, { ...readJson(one), attributes: {} });
    fs.writeFileSync(
      one,
      fs.readFileSync(one, "utf8").replace('"attributes":{}', `"attributes":{"a":${deep}}`),
    );
  }
  assert.equal((await group.members()).length, 3);
  await assertRejected("unsupported-file", {}, () => group.consolidate());
  assert.equal(fs.readFileSync(file, "utf8"), before);
});

test("the members of a group at a URL are opened, whatever their names", FILES, async () => {
  const home = makeHome();
  const place = path.join(home, "g.zarr");
  await createGroup(place);
  const names = ["a b", "50%", "x#1", "q?r", "%2e%2e", "ü"];
  for (const [value, name] of names.entries()) {
    const options = { dtype: "int16", shape: [], chunkShape: [], fillValue: value } as const;
    await createArray(path.join(place, name), options);
  }
  await (await openGroup(place)).consolidate();
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
      assert.deepEqual(
        (await group.members()).map(({ name }) => name),
        names.toSorted(),
      );
      for (const [value, name] of names.entries()) {
        assert.deepEqual([...(await (await group.open(name)).read()).data], [value], name);
      }
      await assertRejected("engine", {}, () => group.consolidate());
    }
  } finally {
    server.closeAllConnections();
    server.close();
  }
});
