/** A group with more members than JavaScript passes as arguments of a call. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { openGroup } from "../../src/entries/zarr.ts";
import { groupMetadata } from "../support/groups.ts";

test("a group may have more members than a call has arguments", async () => {
  const objects = new Map([
    ["zarr.json", groupMetadata()],
    ["g/zarr.json", groupMetadata()],
  ]);
  const count = 150_000;
  const array = new TextEncoder().encode('{"zarr_format": 3, "node_type": "array"}');
  for (let i = 0; i < count; i++) objects.set(`g/${i}/zarr.json`, array);
  const all = await openGroup(objects);
  assert.equal((await all.members()).length, count + 1);
});
