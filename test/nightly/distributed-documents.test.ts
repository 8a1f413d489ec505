/** The commands of docs/arrays/distributed.md, which `distributed/document-steps.ts` runs in namespaces of its own. */

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { before, test } from "node:test";
import { fileURLToPath } from "node:url";
import { blocksWithoutStep, STEPS } from "./distributed/document-steps.ts";
import { WITHOUT_QUEUE } from "./distributed/packages.ts";
import { WITHOUT_SLURM } from "./distributed/slurm-cluster.ts";
import { exitOnSignals, ProcessGroup } from "../../scripts/process-group.js";

// A test that takes too long takes its processes with it.
exitOnSignals();

const NAMESPACES = ["--mount", "--net", "--pid", "--fork", "--kill-child", "--mount-proc"];

const ends = (program: string, ...args: readonly string[]): boolean =>
  spawnSync(program, args).status === 0;

/** The reason to skip the tests, false where there is none. */
const skip =
  WITHOUT_QUEUE !== false
    ? WITHOUT_QUEUE
    : WITHOUT_SLURM !== false
      ? WITHOUT_SLURM
      : !ends("parallel", "--version")
        ? "there is no GNU parallel"
        : ends("unshare", ...NAMESPACES, "ip", "link", "set", "lo", "up")
          ? false
          : "there are no namespaces";

const outcomes = new Map<string, string | null>();

before(async () => {
  if (skip !== false) return;
  const program = fileURLToPath(new URL("distributed/document-steps.js", import.meta.url));
  const { NODE_TEST_CONTEXT: _, ...env } = process.env;
  const command = ["unshare", ...NAMESPACES, "--", process.execPath, program];
  const world = new ProcessGroup(command, { env });
  await world.ended;
  for (const line of world.output.split("\n")) {
    if (!line.startsWith('{"name"')) continue;
    const { name, error } = JSON.parse(line) as { name: string; error: string | null };
    outcomes.set(name, error);
  }
  if (outcomes.size === 0) assert.fail(world.output);
});

for (const name of Object.keys(STEPS)) {
  test(`docs/arrays/distributed.md: ${name}`, { skip }, () => {
    assert.equal(outcomes.get(name), null);
  });
}

test("every block of commands of docs/arrays/distributed.md has a step", () => {
  assert.deepEqual(blocksWithoutStep(), []);
});
