/**
 * Asynchronous calls take effect in the order in which they were made, as if each had been awaited: random sequences of
 * calls, in flight together, against the same calls made one after the other by the JavaScript engine.
 */

import assert from "node:assert/strict";
import { after, test } from "node:test";
import { vjp } from "../../src/core/functions.ts";
import { createEngine, type Engine } from "../../src/core/create-engine.ts";
import { allocate, type DType } from "../../src/core/tensor/dtype.ts";
import { copy } from "../../src/core/tensor/storage.ts";
import { equals } from "../../src/core/tensor/compare.ts";
import { Tensor } from "../../src/core/tensor/tensor.ts";
import { caseCount } from "../support/cases.ts";
import { tracedEngine } from "../support/engines.ts";
import { withLimits } from "../support/limits.ts";
import { settle } from "../support/platform.ts";
import { randomFrom, randomTensor, SEED, type Random } from "../support/random.ts";

/** Its limits are drawn for each sequence, so that calls of few elements are done in every way. */
const traced = await tracedEngine(2);
const js = createEngine({ kind: "js" });
after(() => traced.engine.dispose());

const SMALL = 10;
const LARGE = 150;

/** A tensor that asynchronous calls use, and what it would hold if each had been awaited. */
interface Pair {
  readonly real: Tensor;
  readonly model: Tensor;
}

/** Functions whose results are tensors or promises, without the types of either. */
interface Functions {
  scatterElements(data: Tensor, indices: Tensor, updates: Tensor, options: object): unknown;
  gather(data: Tensor, indices: Tensor, options: object): unknown;
}

/** The same call on the real tensors or on the model's. */
type Call = (functions: Functions, key: keyof Pair) => unknown;

class World {
  readonly engine: Engine = traced.engine;
  readonly random: Random;
  readonly pending: Promise<void>[] = [];
  readonly data: Pair[] = [];
  readonly indices: Pair[] = [];

  constructor(seed: number) {
    this.random = randomFrom(seed);
    for (const size of [SMALL, LARGE, LARGE]) {
      this.data.push(this.pair("float32", size), this.pair("float32", size));
      this.indices.push(this.pair("int32", size));
    }
  }

  /** One call, or something else that may happen between calls. */
  step(): void {
    if (this.random(3) === 0) this.callNow();
    const kind = this.random(12);
    if (kind >= 10) this.differentiate();
    else if (kind < 5) this.scatter(this.pick(this.data), "float32");
    else if (kind < 7) this.gather();
    // Indices that a call computes: later calls may read them only when it is their turn.
    else if (kind < 8) this.scatter(this.pick(this.indices), "int32");
    else if (kind < 9) this.renew();
    else if (this.random(4) === 0) this.engine.dispose();
  }

  scatter(target: Pair, dtype: DType): void {
    const indices = this.pick(this.indices.filter((one) => one !== target));
    const updates = this.pair(dtype, indices.real.size);
    const options = {
      // Indices go up to the large size, and are out of range in a small target.
      bounds: this.pick(["drop", "clip"] as const),
      reduction: dtype === "int32" ? "none" : this.pick(["none", "add", "max", "mean"] as const),
      includeSelf: this.random(4) > 0,
    } as const;
    const isInPlace = this.random(3) > 0;
    this.make(isInPlace, (functions, key) =>
      functions.scatterElements(target[key], indices[key], updates[key], {
        ...options,
        ...(isInPlace && { out: target[key] }),
      }),
    );
    // It is used by the call that is pending, so its memory may not be released yet.
    if (this.random(2) === 0) updates.real.dispose();
  }

  /** A call that is waited for, on tensors of its own, while others are pending. */
  callNow(): void {
    const size = this.pick([SMALL, LARGE]);
    const [data, indices, updates] = [LARGE, size, size].map((length, input) =>
      this.pair(input === 1 ? "int32" : "float32", length),
    );
    const scatter = (on: Engine, key: keyof Pair): Tensor =>
      on.scatterElements(data[key], indices[key], updates[key], { reduction: "add" });
    const result = scatter(this.engine, "real");
    assert.ok(
      equals(result, scatter(js, "model")),
      "the result of a call that is waited for differs",
    );
    for (const one of [result, data.real, indices.real, updates.real]) one.dispose();
  }

  gather(): void {
    const source = this.pick(this.data);
    const indices = this.pick(this.indices);
    const out = this.pick(this.data.filter((one) => one !== source));
    const isGiven = out.real.size === indices.real.size;
    this.make(isGiven, (functions, key) =>
      functions.gather(source[key], indices[key], {
        bounds: "fill",
        ...(isGiven && { out: out[key] }),
      }),
    );
  }

  /** The gradient of data of a scatter, which may take the place of the output's, or of updates, or of a gather. */
  differentiate(): void {
    const indices = this.pick(this.indices);
    const gradient = this.pick(this.data);
    const isGather = this.random(3) === 0;
    const reduction = this.pick(["none", "add", "max", "mean", "mul"] as const);
    const includeSelf = this.random(4) > 0;
    const options = isGather ? { bounds: "fill" } : { bounds: "drop", reduction, includeSelf };
    const node = { function: isGather ? "gather" : "scatterElements", options } as const;
    const data = this.pick(this.data);
    const updates = this.pair("float32", indices.real.size);
    const fits = isGather ? indices.real.size : data.real.size;
    const given = gradient.real.size === fits ? gradient : this.pair("float32", fits);
    const argnums = isGather ? 0 : this.pick([0, 2]);
    const outs = this.data.filter((one) => one !== data && one.real.size === data.real.size);
    const inPlace = given === data || isGather ? outs.filter((one) => one !== given) : outs;
    const isGiven = argnums === 0 && inPlace.length > 0;
    const out = isGiven ? this.pick(inPlace) : null;
    const inputs = (key: keyof Pair): Tensor[] =>
      [data, indices, ...(isGather ? [] : [updates])].map((one) => one[key]);
    const chosen = (key: keyof Pair) => ({ argnums, ...(out && { out: [out[key]] }) });
    const promise = this.engine.async.vjp(node, inputs("real"), given.real, chosen("real"));
    const own = { ...chosen("model"), engine: js };
    const model = vjp(node, inputs("model"), given.model, own)[argnums] as Tensor;
    const compared = promise.then((gradients) => {
      const result = gradients[argnums] as Tensor;
      assert.ok(isGiven || equals(result, model), "a gradient differs");
      if (!isGiven) result.dispose();
    });
    this.pending.push(compared);
    if (this.random(2) === 0) updates.real.dispose();
  }

  /** Disposes of a tensor that pending calls may use; the next one may get its memory. */
  renew(): void {
    const at = this.random(this.data.length);
    const { real } = this.data[at];
    real.dispose();
    this.data[at] = this.pair("float32", real.size);
  }

  /** @param isGiven whether the result goes to a tensor that later calls may change, so that it is compared at the end */
  make(isGiven: boolean, call: Call): void {
    const promise = call(this.engine.async as Functions, "real") as Promise<Tensor>;
    const model = call(js as Functions, "model") as Tensor;
    const compared = promise.then((result) => {
      assert.ok(isGiven || equals(result, model), "a result differs");
      if (!isGiven) result.dispose();
    });
    this.pending.push(compared);
  }

  async end(): Promise<void> {
    await Promise.all(this.pending);
    for (const { real, model } of [...this.data, ...this.indices]) {
      assert.ok(equals(real, model), `a tensor of ${real.size} differs`);
      real.dispose();
    }
  }

  pair(dtype: DType, size: number): Pair {
    const places = (): Int32Array => Int32Array.from({ length: size }, () => this.random(LARGE));
    const model =
      dtype === "int32"
        ? new Tensor(dtype, [size], size, places())
        : randomTensor(dtype, [size], this.random);
    const isResident = this.random(2) === 0;
    const real: Tensor = isResident
      ? this.engine.alloc<DType, readonly number[]>(dtype, [size])
      : new Tensor(dtype, [size], size, allocate(dtype, size));
    copy(model.data, real.data);
    return { real, model };
  }

  pick<T>(list: readonly T[]): T {
    return list[this.random(list.length)];
  }
}

const SEQUENCES = caseCount(200, 8);

test(`${SEQUENCES} sequences of 2 to 20 calls, awaited at random, give what one call after the other gives`, async () => {
  for (let sequence = 0; sequence < SEQUENCES; sequence++) {
    const world = new World(SEED * 1_000_003 + sequence);
    const steps = 2 + world.random(19);
    try {
      await withLimits(sequence, async () => {
        for (let step = 0; step < steps; step++) {
          world.step();
          if (world.random(4) === 0) await world.pending.at(-1);
          if (world.random(8) === 0) await settle();
        }
        await world.end();
      });
    } catch (error) {
      throw new Error(`sequence ${sequence} of SEED=${SEED}`, { cause: error });
    }
  }
  const { executor, paths } = traced;
  const seen = new Set(paths());
  // Both kinds of calls: those that the pool does, and those that are done on this thread.
  if (executor.asyncThreads > 1)
    for (const path of ["partition", "positions", "js"] as const) assert.ok(seen.has(path), path);
});
