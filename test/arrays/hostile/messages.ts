/** Messages of a queue and ranges of tasks. */

import * as fs from "node:fs";
import * as path from "node:path";
import { parseTasks } from "../../../src/cli/commands/job.ts";
import { createWorker } from "../../../src/entries/bullmq.ts";
import { openJob } from "../../../src/entries/chunked.ts";
import { add, MEMORY } from "../../support/job-files.ts";
import { setLimits } from "../../support/limits.ts";
import { FAKE_BULLMQ, FAKE_IOREDIS, processorOf } from "./fake-queue.ts";
import { makeTemplate } from "./jobs.ts";
import { mutateJson, mutateText } from "./mutate.ts";
import type { Kind, Places } from "./places.ts";

/** Messages of a queue, as a worker gets them. */
export async function messages(places: Places): Promise<Kind> {
  // Milliseconds for which a worker waits for a folder that it does not see.
  setLimits({ DISTRIBUTED: { blind: 0 } });
  const template = await makeTemplate(places, add, {}, {});
  const from = path.join(path.dirname(places.home), "packages");
  for (const [name, code] of Object.entries({ bullmq: FAKE_BULLMQ, ioredis: FAKE_IOREDIS })) {
    fs.mkdirSync(path.join(from, "node_modules", name), { recursive: true });
    fs.writeFileSync(path.join(from, "node_modules", name, "index.js"), code);
  }
  await createWorker({
    connection: "redis://127.0.0.1:1",
    threads: 1,
    memory: MEMORY,
    roots: [places.home],
    from,
  });
  const process = processorOf();
  const { id } = await openJob(template.folder);
  const { folder, sandbox } = template;
  const text = JSON.stringify({ folder, id });
  return async (random) => {
    if (random(50) === 0) sandbox.restore();
    const mutant = random(5) === 0 ? text : mutateJson(text, places.targets, random);
    let parsed: unknown;
    try {
      parsed = JSON.parse(mutant);
    } catch {
      return "not JSON, which BullMQ does not hand over";
    }
    const entry = { id: "7", data: parsed, moveToWait: async () => {} };
    await process(entry, "token").catch((error: Error) => {
      throw error.cause;
    });
    return "run";
  };
}

/** Ranges of tasks, as Slurm and people give them. */
export const ranges: Kind = async (random) => {
  const text = ["0-15", "0-3,7", "12", "0-0", "3,1,2"][random(5)];
  const wild = [
    "5-2",
    "0-999999999999999",
    "0-16777215",
    "999999999999999",
    "1".repeat(20),
    "0,".repeat(random(300_000)) + "0",
    "-1",
    "0x10",
    "1e3",
    "\u0661",
    " 1",
    "0-1-2",
    ",",
  ];
  const mutant = random(4) === 0 ? wild[random(wild.length)] : mutateText(text, random);
  const tasks = [1, 16, 2 ** 24][random(3)];
  const parsed = parseTasks(mutant, { name: "apply", tasks });
  if (parsed.some((task) => !(Number.isSafeInteger(task) && task >= 0 && task < tasks)))
    throw new Error(`${mutant} names ${parsed}`);
  return "run";
};
