/** Stands in for BullMQ and ioredis: keeps the function that a worker runs for each entry. */

import type { Processor } from "../../../src/arrays/distributed/redis.ts";

export const FAKE_BULLMQ = `
class Emitter { on() { return this; } async close() {} }
exports.Worker = class extends Emitter {
  constructor(name, processor) { super(); globalThis.hostileProcessor = processor; }
};
exports.WaitingError = class extends Error {};
`;

export const FAKE_IOREDIS = `
exports.Redis = class {
  status = "ready";
  on() { return this; }
  async connect() {}
  disconnect() {}
  duplicate() { return this; }
  async set() { return "OK"; }
  async get() { return null; }
};
`;

export const processorOf = (): Processor =>
  Reflect.get(globalThis, "hostileProcessor") as Processor;
