/** Opened files and texts: archives of arrays, and damaged archives. */

import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { tensor, zeros } from "ndscatter";
import { writeNpy } from "ndscatter/npy";
import { certainOf } from "../../src/reading/certain.ts";
import { readOpened, type Read } from "../../src/reading/read-files.ts";
import { makeZip } from "../../../test/support/zip.ts";
import { stateOf, SUM } from "../support/states.ts";

const state = stateOf(SUM);

const ARRAYS = {
  "data.npy": tensor("float32", [4], [1, 1, 1, 1]),
  "indices.npy": tensor("int32", [2, 1], [3, 3]),
  "updates.npy": tensor("float32", [2], [5, 6]),
};

const zipOf = (arrays: Readonly<Record<string, Parameters<typeof writeNpy>[0]>>): Uint8Array =>
  makeZip(
    Object.entries(arrays).map(([name, array], number) => ({
      name,
      data: writeNpy(array),
      isDeflated: number % 2 === 0,
    })),
  ).bytes;

const opened = (bytes: Uint8Array): Promise<Read> =>
  readOpened({ files: [new File([bytes.slice()], "x.npz")], state });

test("the arrays of an .npz file are the inputs of the call", async () => {
  const read = await opened(zipOf(ARRAYS));
  assert.ok(read !== null && "tensors" in read && read.tensors !== undefined);
  const certain = certainOf(read.tensors, state);
  assert.deepEqual(
    certain?.state.inputs.map((one) => one?.values),
    [
      ["1", "1", "1", "1"],
      ["3", "3"],
      ["5", "6"],
    ],
  );
  const one = await opened(zipOf({ "data.npy": ARRAYS["data.npy"] }));
  assert.ok(one !== null && "choices" in one);
  assert.equal(one.choices[0].kind, "tensor");
});

test("of a large .npz file a part is shown, in types that the operator accepts", async () => {
  const read = await opened(zipOf({ ...ARRAYS, "data.npy": zeros("float32", [30_000]) }));
  assert.ok(read !== null && "choices" in read);
  assert.match(read.command ?? "", / x\.npz\/data x\.npz\/indices x\.npz\/updates$/);
  const [choice] = read.choices;
  assert.ok(choice.kind === "node");
  assert.equal(choice.state.inputs[1]?.dtype, "int64");
  assert.match(choice.remarks.join(), /indices is int32/);
  assert.ok(read.remarks.includes("The operator is still ScatterND-18 with reduction add."));
});

test("a damaged archive is refused, and no bytes throw", async () => {
  const sound = zipOf(ARRAYS);
  const cut = await opened(sound.slice(0, 200));
  assert.deepEqual(cut, { error: "x.npz could not be read: x.npz is not a complete ZIP archive" });
  await fc.assert(
    fc.asyncProperty(fc.nat(sound.length - 1), fc.nat(255), async (at, byte) => {
      const copy = sound.slice();
      copy[at] = byte;
      await opened(copy);
    }),
    { numRuns: 200 },
  );
});
