/**
 * Submitters and workers in a simulated world: a fake of the queue, virtual time, and faults by a seed. `STEPS=1000000` makes
 * as many steps, `SIMULATION=7` begins with another seed; a failure names the seed that replays it.
 */

import assert from "node:assert/strict";
import { test } from "node:test";
import { simulate } from "./distributed/simulation/scenario.ts";
import { seedOf } from "../support/random.ts";

const FIRST = Number(process.env["SIMULATION"] ?? seedOf("queue-simulation"));
const STEPS = Number(process.env["STEPS"] ?? 200_000);

test("jobs end with their bits, or with a clear error, whatever becomes of messages and processes", async () => {
  let steps = 0;
  const seen = new Set<string>();
  for (let seed = FIRST; steps < STEPS; seed++) {
    const report = await simulate(seed);
    steps += report.steps;
    for (const what of report.counts.keys()) seen.add(what);
    const replay = `SIMULATION=${seed} STEPS=1 node --test build/test/nightly/queue-simulation.test.js`;
    const story = report.story.slice(-100).join("\n");
    assert.deepEqual(report.faults, [], `${replay}\n${story}`);
  }
  // The faults that a scenario draws came, unless few steps were asked for.
  if (STEPS >= 200_000)
    for (const what of ["Redis restarts", "worker killed", "process stands still", "taken back"])
      assert.ok(seen.has(what), what);
});

test("a seed has one story", async () => {
  const [one, other] = [await simulate(FIRST + 3), await simulate(FIRST + 3)];
  assert.deepEqual(one.story, other.story);
  assert.equal(one.steps, other.steps);
});
