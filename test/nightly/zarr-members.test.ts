/** A group with more members than JavaScript passes as arguments of a call. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { ZarrGroup } from "../../src/arrays/zarr/group.ts";
import { MemoryStore } from "../support/memory-store.ts";

test("a group may have more members than a call has arguments", async () => {
  const store = new MemoryStore();
  const [array, group] = ["array", "group"].map((kind) =>
    new TextEncoder().encode(`{"zarr_format": 3, "node_type": "${kind}"}`),
  );
  const count = 150_000;
  store.objects.set("g/zarr.json", group);
  for (let i = 0; i < count; i++) store.objects.set(`g/${i}/zarr.json`, array);
  const all = new ZarrGroup(
    store,
    { version: 3, attributes: {}, members: null },
    { location: "memory", options: {} },
  );
  assert.equal((await all.members()).length, count + 1);
});
