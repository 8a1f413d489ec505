/**
 * Simulates the growth of a scatter job with the number of machines: the stages partition and apply, task by task, with
 * measured times. `docs/arrays/distributed.md` has the formulas, which are lower bounds of the simulation.
 *
 *   node bench/growth.js --data 10T --updates 2.5T --chunk 1G --machines 1,10,100
 */

import fs from "node:fs";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { table } from "./table.js";

const HELP = `node bench/growth.js [options]

  --data SIZE        bytes of data                                     (10T)
  --updates SIZE     bytes of updates                                 (2.5T)
  --chunk SIZE       of data                                            (1G)
  --block SIZE       of updates                                       (100M)
  --machines A,B     how many                      (1,2,5,10,20,50,100,200)
  --threads N        of each machine                                    (16)
  --network SIZE     bytes a second of each machine                  (1.25G)
  --storage SIZE     bytes a second of the shared file system          (20G)
  --latency MS       of a read from it                                 (0.5)
  --loss HOURS       after which a machine is lost, on average          (500)
  --times FILE       measured times                     (bench/growth.json)
  --seed N           of the tasks' times and of lost machines             (1)

Letters are powers of 1000.
`;

const UNITS = { "": 1, k: 1e3, M: 1e6, G: 1e9, T: 1e12, P: 1e15 };

/** Seconds after which a lost machine comes back, or is replaced. */
const ABSENCE = 600;

/** Steps of the simulation per shortest phase of a task. */
const STEPS = 20;

/** @param {string} text */
function parseSize(text) {
  const [, number, unit = ""] = /^(\d+(?:\.\d+)?)([kMGTP]?)B?$/.exec(text) ?? [];
  if (number === undefined) throw new Error(`not an amount: ${text}`);
  return Number(number) * UNITS[unit];
}

/** Returns a number in [0, 1), from a seed. */
function randomFrom(seed) {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/**
 * Returns the tasks of the two stages: bytes to move, and seconds of computing and of waiting for reads, all for one
 * thread.
 * @param {Record<string, number>} load
 * @param {Record<string, number>} times
 */
function stagesOf({ data, updates, chunk, block, latency }, times) {
  const blocks = Math.ceil(updates / block);
  const chunks = Math.ceil(data / chunk);
  const share = updates / chunks;
  return [
    {
      name: "partition",
      tasks: blocks,
      // A block is read, and written in another order.
      bytes: 2 * block,
      seconds: (times.partition * block) / 1e6 + 2 * latency,
    },
    {
      name: "apply",
      tasks: chunks,
      // The chunk is read and written, the updates are read.
      bytes: 2 * chunk + share,
      // One read per fragment, in sequence.
      seconds: (times.apply * (chunk + share)) / 1e6 + blocks * latency,
    },
  ];
}

/** Returns the lower bound of any schedule, by resource, in seconds. */
function boundsOf(stages, { machines, threads, network, storage }) {
  const sum = (of) => stages.reduce((total, stage) => total + stage.tasks * of(stage), 0);
  const bytes = sum((stage) => stage.bytes);
  return {
    threads: sum(({ seconds, bytes: own }) => seconds + own / network) / (machines * threads),
    network: bytes / (machines * network),
    storage: bytes / storage,
  };
}

/**
 * One stage. Each thread takes a task, moves its bytes at a rate shared by all active threads, and computes.
 * @returns the seconds of the stage, and the number of tasks that ran again
 */
function simulate(stage, cluster, random) {
  const { machines, threads, network, storage, loss } = cluster;
  const transfer = stage.bytes / Math.min(network / threads, storage / (machines * threads));
  const step = Math.min(stage.seconds, stage.bytes / network, transfer) / STEPS;
  // The remaining bytes and seconds of each thread's task; -1 for no task.
  const bytes = new Float64Array(machines * threads).fill(-1);
  const seconds = new Float64Array(machines * threads);
  const back = new Float64Array(machines);
  let waiting = stage.tasks;
  let done = 0;
  let again = 0;
  let time = 0;
  for (; done < stage.tasks; time += step) {
    let movers = 0;
    const moving = new Uint32Array(machines);
    for (let machine = 0; machine < machines; machine++) {
      if (back[machine] > time) continue;
      const isLost = random() < step / 3600 / loss;
      for (let at = machine * threads; at < (machine + 1) * threads; at++) {
        if (isLost && bytes[at] >= 0) {
          bytes[at] = -1;
          waiting++;
          again++;
        } else if (!isLost && bytes[at] < 0 && waiting > 0) {
          waiting--;
          bytes[at] = stage.bytes;
          // Tasks differ: some chunks have more updates, some processors are busy.
          seconds[at] = stage.seconds * (0.8 + 0.4 * random());
        }
        if (bytes[at] > 0) moving[machine]++;
      }
      if (isLost) {
        back[machine] = time + ABSENCE;
        moving[machine] = 0;
      }
      movers += moving[machine];
    }
    const global = movers === 0 ? 0 : storage / movers;
    for (let machine = 0; machine < machines; machine++) {
      const rate = Math.min(global, network / Math.max(1, moving[machine])) * step;
      for (let at = machine * threads; at < (machine + 1) * threads; at++) {
        if (bytes[at] > 0) bytes[at] = Math.max(0, bytes[at] - rate);
        else if (bytes[at] === 0) {
          seconds[at] -= step;
          if (seconds[at] > 0) continue;
          bytes[at] = -1;
          done++;
        }
      }
    }
  }
  return { seconds: time, again };
}

function parse() {
  const string = { type: "string" };
  const names = ["data", "updates", "chunk", "block", "machines", "threads", "network", "storage"];
  const more = ["latency", "loss", "times", "seed"];
  const options = Object.fromEntries([...names, ...more].map((name) => [name, string]));
  const { values } = parseArgs({ options: { ...options, help: { type: "boolean" } } });
  if (values.help) {
    process.stdout.write(HELP);
    process.exit();
  }
  const times = values.times ?? fileURLToPath(new URL("growth.json", import.meta.url));
  return {
    load: {
      data: parseSize(values.data ?? "10T"),
      updates: parseSize(values.updates ?? "2.5T"),
      chunk: parseSize(values.chunk ?? "1G"),
      block: parseSize(values.block ?? "100M"),
      latency: Number(values.latency ?? 0.5) / 1000,
    },
    cluster: {
      threads: Number(values.threads ?? 16),
      network: parseSize(values.network ?? "1.25G"),
      storage: parseSize(values.storage ?? "20G"),
      loss: Number(values.loss ?? 500),
    },
    machines: (values.machines ?? "1,2,5,10,20,50,100,200").split(",").map(Number),
    seed: Number(values.seed ?? 1),
    times: JSON.parse(fs.readFileSync(times, "utf8")),
  };
}

const { load, cluster, machines, seed, times } = parse();
const stages = stagesOf(load, times);
const fragment = (load.block * load.chunk) / load.data;
for (const { name, tasks, bytes, seconds } of stages) {
  console.log(
    `${name}: ${tasks} tasks, each moves ${bytes / 1e6} MB and computes ${seconds.toFixed(2)} s`,
  );
}
console.log(`a fragment has ${(fragment / 1000).toFixed(1)} kB\n`);
const rows = machines.map((count) => {
  const sized = { ...cluster, machines: count };
  const random = randomFrom(seed);
  const parts = stages.map((stage) => simulate(stage, sized, random));
  const total = parts.reduce((sum, part) => sum + part.seconds, 0);
  const bounds = Object.entries(boundsOf(stages, sized));
  const [limit, bound] = bounds.reduce((most, one) => (one[1] > most[1] ? one : most));
  return [
    String(count),
    ...parts.map((part) => (part.seconds / 3600).toFixed(2)),
    (total / 3600).toFixed(2),
    (bound / 3600).toFixed(2),
    limit,
    String(parts.reduce((sum, part) => sum + part.again, 0)),
  ];
});
const head = [
  "machines",
  "partition h",
  "apply h",
  "hours",
  "at least",
  "limit",
  "tasks run again",
];
process.stdout.write(table(head, rows));
