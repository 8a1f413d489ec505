/**
 * The working time of a device: timestamps around each command buffer if the device supports them, and the wall clock.
 */

import { randomBits, shuffle } from "../random.js";

/** A query set has 4,096 slots, two for each command buffer. */
const MOST = 4096;

/**
 * The device time of command buffers from any source: while recording, every encoder of the device begins and ends with
 * an empty pass that writes a timestamp. Time between two command buffers is not counted, so a peer that keeps the
 * device waiting is measured by its kernels.
 */
export class Stamps {
  #device;
  #queries;
  #values;
  #used = null;

  /** @param {GPUDevice} device with the feature timestamp-query */
  constructor(device) {
    this.#device = device;
    this.#queries = device.createQuerySet({ type: "timestamp", count: MOST });
    const usage = GPUBufferUsage.QUERY_RESOLVE | GPUBufferUsage.COPY_SRC;
    this.#values = device.createBuffer({ size: 8 * MOST, usage });
    const create = device.createCommandEncoder.bind(device);
    device.createCommandEncoder = (descriptor) => this.#watch(create(descriptor));
  }

  start() {
    this.#used = 0;
  }

  /** @returns {Promise<number | null>} milliseconds; null if the command buffers outnumber the slots */
  async stop() {
    const used = this.#used;
    this.#used = null;
    if (used === null || used > MOST) return null;
    if (used === 0) return 0;
    const size = 8 * used;
    const usage = GPUBufferUsage.MAP_READ | GPUBufferUsage.COPY_DST;
    const target = this.#device.createBuffer({ size, usage });
    const encoder = this.#device.createCommandEncoder();
    encoder.resolveQuerySet(this.#queries, 0, used, this.#values, 0);
    encoder.copyBufferToBuffer(this.#values, 0, target, 0, size);
    this.#device.queue.submit([encoder.finish()]);
    await target.mapAsync(GPUMapMode.READ);
    const stamps = new BigUint64Array(target.getMappedRange().slice(0));
    target.destroy();
    let nanoseconds = 0n;
    for (let p = 0; p < used; p += 2) nanoseconds += stamps[p + 1] - stamps[p];
    // Some drivers reset their clock when the device is idle.
    return nanoseconds < 0n ? null : Number(nanoseconds) / 1e6;
  }

  #watch(encoder) {
    if (this.#used === null) return encoder;
    const at = this.#used;
    this.#used += 2;
    if (this.#used > MOST) return encoder;
    this.#stamp(encoder, { endOfPassWriteIndex: at });
    const finish = encoder.finish.bind(encoder);
    encoder.finish = (descriptor) => {
      this.#stamp(encoder, { beginningOfPassWriteIndex: at + 1 });
      return finish(descriptor);
    };
    return encoder;
  }

  #stamp(encoder, where) {
    encoder.beginComputePass({ timestampWrites: { querySet: this.#queries, ...where } }).end();
  }
}

/**
 * @typedef {object} GpuContestant
 * @property {string} name
 * @property {() => Promise<Work>} [work] makes one call, and returns the device's work for it
 * @property {() => void | Promise<void>} call submits one call, whose result stays on the device
 * @property {() => void} [flush] submits postponed calls
 * @property {() => Promise<Uint32Array>} output makes one call and reads its result, as words
 * @property {() => void} [release]
 */

/** @typedef {{ passes: number, commands: number, dispatches: number, bytes: number }} Work of one call */

/**
 * @typedef {{ device: number[], wall: number[] }} Times milliseconds per call, one value per round; no `device` without
 * stamps
 */

/**
 * In each round every contestant makes a sample, in a newly shuffled order, so that a temporary slowdown of the machine
 * affects all.
 * @param {GPUDevice} device
 * @param {Stamps | null} stamps
 * @param {readonly GpuContestant[]} contestants
 * @param {{ samples: number, sample: number }} pace a sample lasts at least `sample` milliseconds
 * @returns {Promise<Map<string, Times>>}
 */
export async function measureGpu(device, stamps, contestants, { samples, sample }) {
  const calls = new Map();
  for (const contestant of contestants) {
    const once = await sampleOf(device, null, contestant, 1);
    const count = Math.ceil(sample / Math.max(once.wall, 0.02));
    calls.set(contestant, Math.min(500, Math.max(1, count)));
  }
  const times = new Map(contestants.map(({ name }) => [name, { device: [], wall: [] }]));
  const bits = randomBits(contestants.length);
  for (let round = 0; round < samples; round++) {
    for (const contestant of shuffle([...contestants], bits)) {
      const one = await sampleOf(device, stamps, contestant, calls.get(contestant));
      const { device: list, wall } = times.get(contestant.name);
      wall.push(one.wall);
      if (one.device !== null) list.push(one.device);
    }
  }
  return times;
}

/** Returns milliseconds per call. */
async function sampleOf(device, stamps, { call, flush }, calls) {
  await device.queue.onSubmittedWorkDone();
  stamps?.start();
  const start = performance.now();
  for (let n = 0; n < calls; n++) {
    const waits = call();
    if (waits instanceof Promise) await waits;
  }
  flush?.();
  await device.queue.onSubmittedWorkDone();
  const wall = (performance.now() - start) / calls;
  const busy = stamps === null ? null : await stamps.stop();
  return { wall, device: busy === null ? null : busy / calls };
}
