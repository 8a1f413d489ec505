/** ZIP archives and .npz files: as zarr-python and NumPy write them, and damaged or hostile ones. */

import assert from "node:assert/strict";
import * as fs from "node:fs";
import * as path from "node:path";
import { after, before, test } from "node:test";
import { writeNpy } from "../../src/entries/npy.ts";
import { createArray, openArray, openGroup } from "../../src/entries/zarr.ts";
import { gatherChunked, scatterChunked } from "../../src/entries/chunked.ts";
import { isTensorError, type ErrorCode } from "../../src/core/errors.ts";
import { equals } from "../../src/core/tensor/compare.ts";
import { tensor } from "../../src/core/tensor/tensor.ts";
import { serveFiles, type HttpServer } from "../support/http-server.ts";
import { makeHome } from "../support/job-files.ts";
import { setLimits } from "../support/limits.ts";
import { randomFrom } from "../support/random.ts";
import { assertRejectedCode } from "../support/refusal.ts";
import { ROOT } from "../support/root.ts";
import { makeZip, type Zip } from "../support/zip.ts";

const home = makeHome();
const at = (name: string): string => path.join(home, name);
const VALUES = tensor(
  "int32",
  [4, 3],
  Array.from({ length: 12 }, (_, one) => one * 1000 + 7),
);

const recorded = fs.readFileSync(path.join(ROOT, "test/fixtures/archives.jsonl"), "utf8");
for (const line of recorded.trim().split("\n")) {
  const { name, base64 } = JSON.parse(line) as { name: string; base64: string };
  fs.writeFileSync(at(name), Buffer.from(base64, "base64"));
}

for (const member of [0, 1_048_576]) {
  test(`archives of zarr-python and NumPy are read, members of ${member} bytes at once`, async () => {
    const restore = setLimits({ ZARR: { member } });
    try {
      for (const version of [2, 3]) {
        // In the archive, zeros precede the values of the same chunks.
        assert.ok(equals(await (await openArray(at(`array-v${version}.zip`))).read(), VALUES));
        const group = await openGroup(at(`group-v${version}.zip`));
        assert.deepEqual(await group.members(), [{ name: "rain", kind: "array" }]);
        assert.ok(equals(await (await group.open("rain")).read(), VALUES));
        assert.ok(equals(await (await openArray(at(`group-v${version}.zip/rain`))).read(), VALUES));
      }
      for (const name of ["savez.npz", "savez-compressed.npz"]) {
        for (const one of ["values", "values.npy"])
          assert.ok(equals(await (await openArray(at(`${name}/${one}`))).read(), VALUES));
        const ids = await openArray(at(`${name}/ids`), { chunkShape: [1] });
        assert.deepEqual((await ids.slice([1, 3]).read()).toArray(), [1n, 2n]);
        const facts = { file: at(name), expected: "array" };
        await assertRejectedCode("malformed-file", facts, () => openArray(at(name)));
        await assertRejectedCode("malformed-file", {}, () => openArray(at(`${name}/other`)));
      }
    } finally {
      restore();
    }
  });
}

test("the arrays of an archive are inputs of jobs", async () => {
  const [data, indices] = [
    await openArray(at("savez.npz/values")),
    await openArray(at("array-v3.zip")),
  ];
  const ids = tensor("int64", [2, 1], [3, 1]);
  fs.writeFileSync(
    at("ids.npz"),
    makeZip([{ name: "ids.npy", data: writeNpy(ids), isDeflated: true }]).bytes,
  );
  const where = await openArray(at("ids.npz"));
  const expected = tensor("int32", [2, 3], [9007, 10007, 11007, 3007, 4007, 5007]);
  for (const one of [data, indices]) {
    for (const job of [undefined, at("job")]) {
      const out = at(`out-${one.location.format}-${job === undefined}.zarr`);
      const options = { out, threads: 0, ...(job !== undefined && { job }) };
      assert.ok(equals(await (await gatherChunked(one, where, options)).read(), expected));
      if (job !== undefined) fs.rmSync(job, { recursive: true });
    }
  }
});

test("an archive is never written", async () => {
  const place = at("array-v3.zip");
  const options = { dtype: "int32", shape: [2], chunkShape: [2] } as const;
  const before = fs.readFileSync(place);
  for (const overwrite of [false, true]) {
    await assertRejectedCode("attribute", {}, () => createArray(place, { ...options, overwrite }));
    await assertRejectedCode("attribute", {}, () =>
      createArray(`${place}/new`, { ...options, overwrite }),
    );
  }
  const array = await openArray(place);
  await assertRejectedCode("attribute", { key: "location" }, () => array.write(VALUES));
  const member = await openArray(at("savez.npz/values"));
  await assertRejectedCode("attribute", { key: "location" }, () => member.write(VALUES));
  const ids = tensor("int64", [1, 1], [0]);
  fs.writeFileSync(at("zero.npy"), writeNpy(ids));
  fs.writeFileSync(at("row.npy"), writeNpy(tensor("int32", [1, 3], [1, 2, 3])));
  const [zero, row] = [await openArray(at("zero.npy")), await openArray(at("row.npy"))];
  for (const out of [array, `${place}/new.zarr`, at("savez.npz/new.npy")])
    await assertRejectedCode("attribute", { key: "location" }, () =>
      scatterChunked(array, zero, row, { out, threads: 0, job: at("other-job") }),
    );
  assert.equal(fs.existsSync(at("other-job")), false);
  assert.deepEqual(fs.readFileSync(place), before);
});

test("a folder may have the name of an archive", async () => {
  fs.mkdirSync(at("folder.zip"));
  fs.writeFileSync(at("folder.zip/a.npy"), writeNpy(VALUES));
  const array = await createArray(at("folder.zip/a.zarr"), {
    dtype: "int32",
    shape: [4, 3],
    chunkShape: [4, 3],
  });
  await array.write(VALUES);
  for (const name of ["a.npy", "a.zarr"])
    assert.ok(equals(await (await openArray(at(`folder.zip/${name}`))).read(), VALUES));
});

test("an archive that changes while it is open is an error", async () => {
  fs.copyFileSync(at("array-v3.zip"), at("changing.zip"));
  const array = await openArray(at("changing.zip"));
  fs.appendFileSync(at("changing.zip"), "more");
  await assertRejectedCode("malformed-file", { file: at("changing.zip") }, () => array.read());
});

let web: HttpServer;
before(async () => {
  web = await serveFiles(home);
});
after(() => web.close());

test("an archive on a server needs a few requests", async () => {
  const array = await openArray(`${web.address}/array-v3.zip`);
  web.asked.length = 0;
  assert.ok(equals(await array.read(), VALUES));
  // The array has four chunks.
  assert.equal(web.asked.length, 4);
  assert.ok(
    equals(await (await openArray(`${web.address}/savez.npz/values?token`)).read(), VALUES),
  );
});

/** An archive of an array of 12 elements in one chunk. */
async function archive(isDeflated = false, isZip64 = false): Promise<Zip> {
  const objects = new Map<string, Uint8Array>();
  const array = await createArray(objects, { dtype: "int32", shape: [4, 3], chunkShape: [4, 3] });
  await array.write(VALUES);
  const members = [...objects].map(([name, data]) => ({ name, data, isDeflated }));
  return makeZip(members, isZip64);
}

const rename = (zip: Zip, place: number, name: string): void =>
  zip.bytes.set(new TextEncoder().encode(name), place);

/** Damage to an archive. The member `c/0/0` is the second one. */
const DAMAGE: readonly (readonly [what: string, damage: (zip: Zip) => void, code: ErrorCode])[] = [
  ["without its end", (zip) => void (zip.bytes = zip.bytes.slice(0, -4)), "malformed-file"],
  [
    "with a byte after its end",
    (zip) => void (zip.bytes = Uint8Array.from([...zip.bytes, 0])),
    "malformed-file",
  ],
  ["that begins later", (zip) => void (zip.bytes = zip.bytes.slice(5)), "malformed-file"],
  [
    "with a huge count",
    ({ view, end }) => view.setUint16(end + 10, 0xfffe, true),
    "malformed-file",
  ],
  [
    "with a count too small",
    ({ view, end }) => view.setUint16(end + 10, 1, true),
    "malformed-file",
  ],
  [
    "with a huge directory",
    ({ view, end }) => view.setUint32(end + 12, 0xfffffffe, true),
    "malformed-file",
  ],
  [
    "whose directory is elsewhere",
    ({ view, end }) => view.setUint32(end + 16, 0, true),
    "malformed-file",
  ],
  ["of several disks", ({ view, end }) => view.setUint16(end + 4, 1, true), "unsupported-file"],
  [
    "with a damaged entry",
    ({ view, entries }) => view.setUint32(entries[1], 0, true),
    "malformed-file",
  ],
  [
    "with a long name",
    ({ view, entries }) => view.setUint16(entries[1] + 28, 0xffff, true),
    "malformed-file",
  ],
  [
    "whose name leads outside",
    (zip) => rename(zip, zip.entries[1] + 46, "../.."),
    "malformed-file",
  ],
  ["with an absolute name", (zip) => rename(zip, zip.entries[1] + 46, "/etc/"), "malformed-file"],
  ["with a backslash", (zip) => rename(zip, zip.entries[1] + 46, "c\\0\\0"), "malformed-file"],
  [
    "with the name of a drive",
    (zip) => rename(zip, zip.entries[1] + 46, "c:0/0"),
    "malformed-file",
  ],
  [
    "with a name that the member lacks",
    (zip) => rename(zip, zip.locals[1] + 30, "c/1/1"),
    "malformed-file",
  ],
  [
    "with an encrypted member",
    ({ view, entries }) => view.setUint16(entries[1] + 8, 1, true),
    "unsupported-file",
  ],
  [
    "with another compression",
    ({ view, entries }) => view.setUint16(entries[1] + 10, 12, true),
    "unsupported-codec",
  ],
  [
    "with a method that the member lacks",
    ({ view, locals }) => view.setUint16(locals[1] + 8, 7, true),
    "malformed-file",
  ],
  [
    "with a member at the beginning of another",
    ({ view, entries }) => view.setUint32(entries[1] + 42, 0, true),
    "malformed-file",
  ],
  [
    "with a member outside",
    ({ view, entries }) => view.setUint32(entries[1] + 42, 0xfffffff0, true),
    "malformed-file",
  ],
  [
    "with a long member",
    ({ view, entries }) => view.setUint32(entries[0] + 20, 0xfffffff0, true),
    "malformed-file",
  ],
  [
    "with a large member",
    ({ view, entries }) => view.setUint32(entries[1] + 24, 0xfffffff0, true),
    "malformed-file",
  ],
  [
    "with a size too small",
    ({ view, entries }) => view.setUint32(entries[1] + 24, 4, true),
    "malformed-file",
  ],
  [
    "with a wrong checksum",
    ({ view, entries }) => view.setUint32(entries[1] + 16, 4, true),
    "malformed-file",
  ],
  ["with a changed byte", ({ bytes, locals }) => void bytes[locals[1] + 36]++, "malformed-file"],
  [
    "with a long local header",
    ({ view, locals }) => view.setUint16(locals[1] + 28, 0xffff, true),
    "malformed-file",
  ],
  [
    "with a missing ZIP64 field",
    ({ view, entries }) => view.setUint32(entries[1] + 20, 0xffffffff, true),
    "malformed-file",
  ],
];

for (const [what, damage, code] of DAMAGE) {
  for (const isDeflated of [false, true]) {
    const name = `${isDeflated ? "deflated" : "stored"}-${what.replaceAll(" ", "-")}.zip`;
    test(`an archive ${what}, ${isDeflated ? "deflated" : "stored"}, is an error`, async () => {
      const zip = await archive(isDeflated);
      damage(zip);
      fs.writeFileSync(at(name), zip.bytes);
      await assertRejectedCode(code, {}, async () => (await openArray(at(name))).read());
    });
  }
}

test("the last of several members with the same name counts, as in Python", async () => {
  const [zero, one] = [0, 1].map((value) => tensor("uint8", [1], [value]));
  const members = [zero, one].map((value) => ({ name: "a.npy", data: writeNpy(value) }));
  fs.writeFileSync(at("twice.npz"), makeZip(members).bytes);
  assert.ok(equals(await (await openArray(at("twice.npz"))).read(), one));
});

test("a damaged archive is read right or refused", async () => {
  const random = randomFrom(4049);
  let refused = 0;
  for (let turn = 0; turn < 400; turn++) {
    const zip = await archive(turn % 2 === 1, turn % 4 > 1);
    for (let i = 0; i <= turn % 3; i++) zip.bytes[random(zip.bytes.length)] ^= 1 << random(8);
    fs.writeFileSync(at("damaged.zip"), zip.bytes);
    try {
      const array = await openArray(at("damaged.zip"));
      const values = await array.read();
      // A member that a changed name hides is a chunk with the fill value.
      const isHidden = values.data.every((value) => Number(value) === 0);
      assert.ok(equals(values, VALUES) || isHidden, `turn ${turn}`);
    } catch (error) {
      assert.ok(
        isTensorError(error, "malformed-file", "unsupported-file", "unsupported-codec"),
        `turn ${turn}: ${String(error)}`,
      );
      refused++;
    }
  }
  assert.ok(refused > 200, `${refused} refused`);
});

test("an archive that declares more than it can contain allocates nothing", async () => {
  const zip = await archive(true, true);
  // The sizes are in the ZIP64 field of the entry.
  zip.view.setBigUint64(zip.entries[1] + 46 + 5 + 4, 2n ** 50n, true);
  fs.writeFileSync(at("bomb.zip"), zip.bytes);
  const facts = { file: at("bomb.zip"), got: 2 ** 50 };
  await assertRejectedCode("malformed-file", facts, async () =>
    (await openArray(at("bomb.zip"))).read(),
  );
});

test("what the archive contains is in the error", async () => {
  const names = ["a", "b"].map((one) => ({ name: `${one}.npy`, data: writeNpy(VALUES) }));
  fs.writeFileSync(at("two.npz"), makeZip(names).bytes);
  await assertRejectedCode("malformed-file", { file: at("two.npz") }, () =>
    openArray(at("two.npz")),
  );
  fs.writeFileSync(at("none.zip"), makeZip([]).bytes);
  const error = await assertRejectedCode("malformed-file", {}, () => openArray(at("none.zip")));
  assert.match(error.message, /contains none/);
});
