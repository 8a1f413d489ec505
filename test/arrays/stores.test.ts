/** The same arrays and groups in every kind of store. */

import assert from "node:assert/strict";
import * as fs from "node:fs";
import * as path from "node:path";
import { after, test } from "node:test";
import * as zarrita from "zarrita";
import { writeNpy } from "../../src/entries/npy.ts";
import {
  createArray,
  openArray,
  openGroup,
  type Location,
  type Store,
  type StoreOptions,
} from "../../src/entries/zarr.ts";
import { equals } from "../../src/core/tensor/compare.ts";
import { tensor } from "../../src/core/tensor/tensor.ts";
import { groupMetadata } from "../support/groups.ts";
import { serveFiles } from "../support/http-server.ts";
import { makeHome } from "../support/job-files.ts";
import { assertRejected, assertRejectedCode } from "../support/refusal.ts";
import { serveS3 } from "../support/s3-server.ts";
import { makeZip } from "../support/zip.ts";

type Objects = Map<string, Uint8Array>;

const home = makeHome();
const VALUES = tensor(
  "int32",
  [7, 5],
  Array.from({ length: 35 }, (_, at) => at * 1000 + 7),
);
const OPTIONS = { dtype: "int32", shape: [7, 5], chunkShape: [2, 3], fillValue: 9 } as const;

/** The names of the arrays in the group. */
const FORMS = {
  plain: {},
  gzip: { codecs: ["gzip"] },
  shards: { chunkShape: [2, 1], shards: [4, 3], codecs: ["crc32c"] },
  "deep/old": { zarrFormat: 2, codecs: ["zlib"] },
} as const;

/** A group with an array of each form, of which the last row is not stored, and an NPY file. */
async function makeObjects(): Promise<Objects> {
  const objects: Objects = new Map([
    ["zarr.json", groupMetadata({ title: "all" })],
    ["deep/zarr.json", groupMetadata()],
  ]);
  for (const [name, form] of Object.entries(FORMS)) {
    const options = { ...OPTIONS, ...form, path: name } as const;
    const array = await createArray(objects, options);
    await array.write(tensor("int32", [6, 5], VALUES.data.slice(0, 30)));
  }
  objects.set("values.npy", writeNpy(VALUES));
  return objects;
}

/** A store of the caller over a map. With `isSized`, it reads ranges. */
const ownStore = (objects: Objects, isSized: boolean): Store => ({
  async get(key, range) {
    const bytes = objects.get(key);
    if (range !== undefined) assert.ok(isSized);
    return range === undefined ? bytes : bytes?.slice(range.offset, range.offset + range.length);
  },
  ...(isSized && { size: async (key: string) => objects.get(key)?.length }),
  async put(key, bytes, { ifAbsent }) {
    if (ifAbsent && objects.has(key)) return false;
    objects.set(key, bytes);
    return true;
  },
  async *list(prefix) {
    for (const key of objects.keys()) if (key.startsWith(prefix)) yield key;
  },
  async delete(key) {
    objects.delete(key);
  },
});

/** A store of zarrita, as docs/arrays/zarr.md wraps it. */
const wrapped = (theirs: zarrita.AsyncReadable, size?: Store["size"]): Store => ({
  get: (key, range) =>
    range === undefined ? theirs.get(`/${key}`) : theirs.getRange?.(`/${key}`, range),
  ...(size && { size }),
});

function writeFiles(folder: string, objects: Objects): string {
  for (const [key, bytes] of objects) {
    const file = path.join(folder, key);
    fs.mkdirSync(path.dirname(file), { recursive: true });
    fs.writeFileSync(file, bytes);
  }
  return folder;
}

/** The location of a group, with the options to open it. */
interface Opened {
  readonly location: Location;
  readonly options?: StoreOptions;
}

interface Kind {
  readonly name: string;
  readonly isWritable?: boolean;
  /** False if keys cannot be listed. */
  readonly isListed?: boolean;
  /** False if existing arrays are never replaced. */
  readonly isReplaced?: boolean;
  /** Stores the objects. */
  open(objects: Objects): Opened | Promise<Opened>;
}

let count = 0;
const newFolder = (): string => path.join(home, `${count++}`);

const zipped = (objects: Objects, top: string, isDeflated: boolean, isZip64: boolean): string => {
  const members = [...objects].map(([key, data]) => ({ name: top + key, data, isDeflated }));
  fs.writeFileSync(path.join(home, `${count}.zip`), makeZip(members, isZip64, "a comment").bytes);
  return path.join(home, `${count++}.zip`);
};

const web = await serveFiles(home);
const s3 = await serveS3(null);
after(() => {
  web.close();
  s3.close();
});
const KEYS = { accessKeyId: "id", secretAccessKey: "secret", region: "r" };

const KINDS: readonly Kind[] = [
  {
    name: "a folder",
    isWritable: true,
    isListed: true,
    isReplaced: true,
    open: (objects) => ({ location: writeFiles(newFolder(), objects) }),
  },
  {
    name: "a map",
    isWritable: true,
    isListed: true,
    isReplaced: true,
    open: (location) => ({ location }),
  },
  ...[false, true].map((isSized) => ({
    name: `a store of the caller ${isSized ? "with" : "without"} sizes`,
    isWritable: true,
    isListed: true,
    isReplaced: true,
    open: (objects: Objects) => ({ location: ownStore(objects, isSized) }),
  })),
  {
    name: "a store of the caller that is only read",
    open: (objects) => ({ location: { get: (key: string) => objects.get(key) } }),
  },
  {
    name: "a folder of a store",
    isWritable: true,
    isListed: true,
    isReplaced: true,
    open(objects) {
      const inside: Objects = new Map([...objects].map(([key, bytes]) => [`a/b/${key}`, bytes]));
      return { location: inside, options: { path: "a/b" } };
    },
  },
  {
    name: "object storage",
    isWritable: true,
    isListed: true,
    open(objects) {
      const folder = `bucket/${count++}`;
      for (const [key, bytes] of objects) s3.objects.set(`${folder}/${key}`, bytes);
      return { location: `s3://${folder}`, options: { s3: { ...KEYS, endpoint: s3.endpoint } } };
    },
  },
  {
    name: "a web server",
    open: (objects) => ({
      location: `${web.address}/${path.basename(writeFiles(newFolder(), objects))}`,
    }),
  },
  {
    name: "an archive on a web server",
    isListed: true,
    open: (objects) => ({
      location: `${web.address}/${path.basename(zipped(objects, "", true, false))}`,
    }),
  },
  ...(
    [
      ["a ZIP archive", "", false, false],
      ["a deflated ZIP archive with one folder", "x.zarr/", true, false],
      ["a ZIP64 archive", "", true, true],
    ] as const
  ).map(([name, top, isDeflated, isZip64]) => ({
    name,
    isListed: true,
    open: (objects: Objects) => ({ location: zipped(objects, top, isDeflated, isZip64) }),
  })),
  {
    name: "a FileSystemStore of zarrita",
    open(objects) {
      const folder = writeFiles(newFolder(), objects);
      const get = async (key: string): Promise<Uint8Array | undefined> =>
        fs.existsSync(folder + key) ? new Uint8Array(fs.readFileSync(folder + key)) : undefined;
      return { location: wrapped({ get }) };
    },
  },
  ...[false, true].map((isSized) => ({
    name: `a FetchStore of zarrita ${isSized ? "with" : "without"} sizes`,
    open(objects: Objects) {
      const url = `${web.address}/${path.basename(writeFiles(newFolder(), objects))}`;
      const size = async (key: string): Promise<number | undefined> => {
        const { ok, headers } = await fetch(`${url}/${key}`, { method: "HEAD" });
        return ok ? Number(headers.get("content-length")) : undefined;
      };
      const store = new zarrita.FetchStore(url);
      return { location: isSized ? wrapped(store, size) : wrapped(store) };
    },
  })),
];

const FILLED = tensor("int32", [7, 5], [...VALUES.data.slice(0, 30), 9, 9, 9, 9, 9]);

for (const { name, isWritable = false, isListed = false, isReplaced = false, open } of KINDS) {
  test(`arrays and groups in ${name} are read`, async () => {
    const { location, options = {} } = await open(await makeObjects());
    const group = await openGroup(location, options);
    assert.equal(group.attributes["title"], "all");
    for (const form of Object.keys(FORMS)) {
      const array = await group.open(form);
      assert.ok(equals(await array.read(), FILLED), form);
      const part = await array.read([1, 2], [4, 2]);
      assert.deepEqual(
        part.toArray(),
        (FILLED.toArray() as number[][]).slice(1, 5).map((row) => row.slice(2, 4)),
      );
    }
    const file = await group.open("values.npy");
    assert.equal(file.location.format, "npy");
    assert.ok(
      equals(
        await file.slice([1, null, 2]).read(),
        tensor(
          "int32",
          [3, 5],
          [1, 3, 5].flatMap((row) => [...VALUES.data.slice(5 * row, 5 * row + 5)]),
        ),
      ),
    );
    await assertRejectedCode("malformed-file", {}, () => group.open("nothing"));
    if (!isListed) {
      await assertRejectedCode("engine", {}, () => group.members());
      return;
    }
    const members = await group.members();
    assert.deepEqual(
      members.map((one) => one.name),
      ["deep", "gzip", "plain", "shards"],
    );
    const plain = (await group.open("plain")) as Awaited<ReturnType<typeof createArray>>;
    assert.deepEqual(await plain.stored(), { chunks: 6, bytes: 6 * 24 });
  });

  test(`arrays in ${name} are ${isWritable ? "written" : "not written"}`, async () => {
    const { location, options = {} } = await open(await makeObjects());
    const group = await openGroup(location, options);
    if (!isWritable) {
      const code =
        name.includes("web server") && !name.includes("archive") ? "engine" : "attribute";
      const array = await group.open("plain");
      await assertRejectedCode(code, {}, () => array.write(VALUES));
      assert.ok(equals(await array.read(), FILLED));
      return;
    }
    const made = async (more: object = {}) =>
      typeof location === "string"
        ? createArray(`${location}/new`, { ...OPTIONS, ...options, ...more })
        : createArray(location, {
            ...OPTIONS,
            ...more,
            path: [options.path, "new"].filter(Boolean).join("/"),
          });
    const array = await made();
    await array.write(VALUES);
    await array.write(tensor("int32", [1, 2], [-1, -2]), [3, 2]);
    const again = await group.open("new");
    assert.deepEqual((await again.read([3, 0], [1, 5])).toArray(), [[15007, 16007, -1, -2, 19007]]);
    assert.deepEqual((await again.read([6, 0], [1, 5])).toArray(), [
      [30007, 31007, 32007, 33007, 34007],
    ]);
    await assertRejectedCode("attribute", { key: "overwrite" }, () => made());
    if (!isReplaced) return;
    const empty = await made({ overwrite: true });
    assert.ok(equals(await empty.read([0, 0], [1, 5]), tensor("int32", [1, 5], [9, 9, 9, 9, 9])));
    assert.deepEqual(await empty.stored(), { chunks: 0, bytes: 0 });
    assert.ok(equals(await (await group.open("plain")).read(), FILLED));
  });
}

test("a path of a store leads into the store", async () => {
  const objects = await makeObjects();
  for (const path of ["/plain", "plain/", "../plain", "a//b", 4 as never]) {
    await assertRejectedCode("attribute", { key: "path" }, () => openArray(objects, { path }));
  }
  await assertRejected("attribute", { key: "path" }, () => openArray("x.zarr", { path: "plain" }));
  const options = { ...OPTIONS, path: "x.npy" };
  await assertRejected("attribute", { key: "location" }, () => createArray(objects, options));
});
