/** Comparisons of NPY files, of Zarr groups, and of arrays with data types and codecs that the package refuses. */

import assert from "node:assert/strict";
import * as fs from "node:fs";
import * as path from "node:path";
import { Failure } from "../../src/cli/failure.ts";
import { openPart } from "../../src/cli/input/arguments.ts";
import type { Io } from "../../src/cli/io.ts";
import { isTensorError, messageOf } from "../../src/core/errors.ts";
import { dtypesWhere } from "../../src/core/tensor/dtype.ts";
import { equals } from "../../src/core/tensor/compare.ts";
import { tensor } from "../../src/core/tensor/tensor.ts";
import { readNpy, writeNpy } from "../../src/entries/npy.ts";
import { createArray, openArray, openGroup } from "../../src/entries/zarr.ts";
import { randomFrom, randomTensor, seedOf } from "../support/random.ts";
import { boxIn, elementsOf, one } from "./array-cases.ts";
import { isError, type Answer } from "./peer.ts";
import type { Tally } from "./tally.ts";
import { toWire, type WireTensor } from "./tensors.ts";

/** An answer is a tensor, with an NPY file in base64, or the listing of a group in JSON. */
export interface Reply extends WireTensor {
  readonly file?: string;
  readonly listing?: string;
}

export type Ask = (request: object) => Promise<Answer<Reply>>;

/** Runs and counts a case. `check` throws if the results differ. */
async function attempt(tally: Tally, peer: string, what: string, check: () => Promise<void>) {
  try {
    await check();
    tally.agree(peer);
  } catch (error) {
    tally.differ({ peer, facts: { what }, what, expected: "agreement", got: messageOf(error) });
  }
}

const isRefusal = (error: unknown): boolean =>
  isTensorError(error, "unsupported-dtype", "unsupported-codec") || assert.fail(messageOf(error));

/** Sends a request that must not fail. */
async function given(ask: Ask, request: object): Promise<Reply> {
  const answer = await ask(request);
  return isError(answer) ? assert.fail(answer.error) : answer;
}

const NO_NPY = ["O", "S3", "M8[s]", "m8[ms]", "V5", "g", "G", [["a", "<i4"]]];

/** NumPy's files of every version, order and byte order are read and changed in place; our files equal NumPy's. */
export async function compareNpy(tally: Tally, ask: Ask, draws: number, home: string) {
  const random = randomFrom(seedOf("npy"));
  const place = path.join(home, "x.npy");
  const load = (dtype: string, file: Uint8Array) =>
    given(ask, { do: "load", dtype, file: Buffer.from(file).toString("base64") });
  for (const dtype of dtypesWhere(({ npy }) => npy !== undefined)) {
    for (let draw = 0; draw < draws; draw++) {
      const shape = Array.from({ length: random(4) }, () => random(5));
      const values = randomTensor(dtype, shape, random);
      const order = one(["C", "F"], random);
      const how = { order, endian: one(["<", ">"], random), version: one(VERSIONS, random) };
      const what = `${dtype} [${shape.join()}] ${JSON.stringify(how)}`;
      await attempt(tally, "numpy", what, async () => {
        const { file = "" } = await given(ask, { do: "save", ...how, ...toWire(values) });
        const bytes = Buffer.from(file, "base64");
        assert.ok(equals(readNpy(bytes), values), "we read other values");
        const again = await load(dtype, writeNpy(values));
        assert.equal(again.file, Buffer.from(writeNpy(values)).toString("base64"));
        assert.deepEqual(again.data, toWire(values).data);
        if (order === "F" || dtype === "string") return;
        fs.writeFileSync(place, bytes);
        const array = await openArray(place);
        const [start, box] = boxIn(shape, random);
        await array.write(randomTensor(dtype, box, random), start);
        const changed = fs.readFileSync(place);
        assert.deepEqual((await load(dtype, changed)).data, toWire(await array.read()).data);
        const header = bytes.length - elementsOf(values).length;
        assert.ok(changed.subarray(0, header).equals(bytes.subarray(0, header)), "other header");
      });
    }
  }
  for (const descr of NO_NPY) {
    await attempt(tally, "numpy", `refuses ${JSON.stringify(descr)}`, async () => {
      const { file = "" } = await given(ask, { do: "save", descr });
      assert.throws(() => readNpy(Buffer.from(file, "base64")), isRefusal);
    });
  }
}

/** Parts of arrays in Python's notation have the same elements as in NumPy. */
export async function compareParts(tally: Tally, ask: Ask, home: string): Promise<void> {
  const random = randomFrom(seedOf("parts"));
  const shape = [7, 1, 5];
  const options = { dtype: "int32", shape, chunkShape: [3, 1, 2] } as const;
  const array = await createArray(path.join(home, "p.zarr"), options);
  await array.write(tensor("int32", shape, [...Array(35).keys()]));
  const end = (dim: number): string => (random(4) === 0 ? "" : `${random(2 * dim + 7) - dim - 3}`);
  const range = (dim: number): string => {
    if (random(6) === 0) return `${random(2 * dim) - dim}`;
    return `${end(dim)}:${end(dim)}${one(["", ":", ":1", ":2", ":4"], random)}`;
  };
  const texts = Array.from({ length: 300 }, () => {
    const words = shape.map(range).slice(0, 1 + random(3));
    if (words.length < 3 && random(2) === 0) words.splice(random(words.length + 1), 0, "...");
    return words.join(one([",", ", "], random));
  });
  const { listing = "" } = await given(ask, { do: "index", shape, texts });
  for (const [at, expected] of JSON.parse(listing).entries()) {
    await attempt(tally, "numpy", `the part [${texts[at]}]`, async () => {
      const part = openPart({ cwd: home } as Io, `p.zarr[${texts[at]}]`);
      if (expected === null) return assert.rejects(part, Failure);
      const values = await (await part).read();
      assert.deepEqual([values.shape, Array.from(values.data, Number)], expected);
    });
  }
}

const VERSIONS = [null, [1, 0], [2, 0], [3, 0]];

const ODD = '{"odd": [1.0, NaN, 1180591620717411303424, "ü😀", -0.0]}';

/** Groups that zarr-python wrote are opened, with and without their consolidated metadata. */
export async function compareGroups(tally: Tally, ask: Ask, home: string): Promise<void> {
  for (const format of [3, 2] as const) {
    const place = path.join(home, `group-${format}.zarr`);
    await attempt(tally, "zarr", `a group of Zarr ${format}`, async () => {
      const request = { do: "members", via: "zarr", path: place, format, attributes: ODD };
      const { listing = "" } = await given(ask, { ...request, arrays: ["a b/x"] });
      const expected = `{"attributes": ${ODD}, "arrays": {"a b/x": [[4], ${ODD}]}}`;
      assert.deepEqual(exact(listing), exact(expected));
      const members = [
        { name: "a b", kind: "group" },
        { name: "a b/x", kind: "array" },
      ];
      assert.deepEqual(await (await openGroup(place)).members(), members);
      // Without the consolidated metadata, the folders are searched.
      if (format === 2) fs.rmSync(path.join(place, ".zmetadata"));
      else
        fs.writeFileSync(path.join(place, "zarr.json"), '{"zarr_format": 3, "node_type": "group"}');
      const group = await openGroup(place);
      assert.deepEqual(await group.members(), members);
      const array = await group.open("a b/x");
      assert.deepEqual((await array.read()).toArray(), [0, 1, 2, 3]);
    });
  }
}

/** Parses JSON with numbers as texts, because JSON.parse refuses NaN and rounds large integers. */
const exact = (json: string): unknown =>
  JSON.parse(json.replaceAll(/\bNaN\b|-?\d+(?:\.\d+)?/g, (word) => `"${word}"`));

/** Arrays of unsupported data types and codecs are refused as unsupported, neither read nor reported as damaged. */
export async function compareRefusals(
  tally: Tally,
  peer: string,
  ask: Ask,
  requests: readonly object[],
  home: string,
): Promise<void> {
  for (const [at, request] of requests.entries()) {
    const place = path.join(home, `refused-${at}.zarr`);
    await attempt(tally, peer, `refuses ${JSON.stringify(request)}`, async () => {
      await given(ask, { do: "other", via: peer, path: place, ...request });
      await assert.rejects(openArray(place), isRefusal);
    });
    fs.rmSync(place, { recursive: true, force: true });
  }
}
