/**
 * A runtime that runs models here, with its own class of tensors, as onnxruntime has. Like onnxruntime-web it refuses
 * runs that overlap, and its tensors are views into memory that holds more.
 */

import {
  readModel,
  runModel,
  type Model,
  type RuntimeSession,
  type Tensors,
} from "../../src/entries/onnx.ts";
import { isNumericStorage, type Storage } from "../../src/core/tensor/dtype.ts";
import { settle } from "./platform.ts";
import { runtimeOf } from "./runtime-of.ts";
import { asTensor } from "../../src/core/tensor/tensor.ts";

/** The tensor class of this runtime. */
export class LocalTensor {
  readonly type: string;
  readonly data: never;
  readonly dims: readonly number[];

  constructor(type: string, data: unknown, dims: readonly number[]) {
    this.type = type;
    this.data = data as never;
    this.dims = dims;
  }
}

export interface LocalSession extends RuntimeSession {
  run(feeds: Readonly<Record<string, unknown>>): Promise<Readonly<Record<string, LocalTensor>>>;
}

export interface LocalRuntime {
  readonly createSession: (bytes: Uint8Array) => Promise<LocalSession>;
  /** The models passed to the runtime. */
  readonly models: Model[];
  /** The number of sessions that were made and not released. */
  readonly open: () => number;
}

/** A copy of elements behind three others and before two, which are not zero. */
function viewOf(data: Storage): Storage {
  if (!isNumericStorage(data)) return data.slice();
  const whole = data.constructor as new (length: number) => Uint8Array;
  const memory = new whole(data.length + 5);
  new Uint8Array(memory.buffer).fill(0x5a);
  memory.set(data as Uint8Array, 3);
  return memory.subarray(3, 3 + data.length);
}

/** @param change changes the outputs of a run */
export function localRuntime(
  change: (outputs: Record<string, LocalTensor>) => void = () => {},
): LocalRuntime {
  const models: Model[] = [];
  let open = 0;
  let isBusy = false;
  const createSession = async (bytes: Uint8Array): Promise<LocalSession> => {
    const model = readModel(bytes);
    models.push(model);
    open++;
    let isOpen = true;
    const run: LocalSession["run"] = async (feeds) => {
      if (isBusy) throw new Error("another run is in progress");
      if (!isOpen) throw new Error("the session was released");
      isBusy = true;
      // A runtime computes while other code runs.
      await settle();
      isBusy = false;
      const given = Object.entries(feeds).map(([name, one]) => [name, asTensor(one, {}, name)]);
      const outputs = runModel(model, Object.fromEntries(given) as Tensors);
      const made = Object.fromEntries(
        Object.entries(outputs).map(([name, { dtype, shape, data }]) => [
          name,
          new LocalTensor(dtype, viewOf(data), shape),
        ]),
      );
      change(made);
      return made;
    };
    return {
      run,
      async release() {
        if (isBusy || !isOpen) throw new Error("the session runs or was released");
        isOpen = false;
        open--;
      },
    };
  };
  return runtimeOf(createSession, { models, open: () => open });
}
