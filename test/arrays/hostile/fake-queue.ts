/** Stands in for BullMQ and ioredis: keeps the function that a worker runs for each job, and hands it jobs. */

import type { Processor, QueuedJob } from "../../../src/arrays/distributed/packages.ts";

export const FAKE_BULLMQ = `
class Emitter { on() { return this; } async close() {} }
exports.Queue = class extends Emitter {
  async getJob() { return undefined; }
  async addBulk() {}
};
exports.Worker = class extends Emitter {
  constructor(name, processor) { super(); globalThis.hostileProcessor = processor; }
};
for (const name of ["UnrecoverableError", "WaitingError", "WaitingChildrenError"])
  exports[name] = class extends Error { get name() { return name; } };
`;

export const FAKE_IOREDIS = `
exports.Redis = class {
  status = "ready";
  on() { return this; }
  async connect() {}
  disconnect() {}
  async info() { return ""; }
  duplicate() { return this; }
  async set() { return "OK"; }
  async get() { return null; }
  async mget(keys) { return keys.map(() => null); }
};
`;

export const processorOf = (): Processor =>
  Reflect.get(globalThis, "hostileProcessor") as Processor;

export const fakeJob = (name: string, data: unknown): QueuedJob => ({
  id: "7",
  name,
  data,
  timestamp: 0,
  queueQualifiedName: "bull:ndscatter",
  getState: async () => "active",
  updateData: async () => {},
  updateProgress: async () => {},
  moveToWait: async () => {},
  moveToWaitingChildren: (() => {
    let calls = 0;
    return async () => ++calls > 1;
  })(),
  getIgnoredChildrenFailures: async () => ({}),
  removeUnprocessedChildren: async () => {},
  remove: async () => {},
});
