/** A runtime that runs models here, with its own class of tensors, as onnxruntime has. */

import {
  readModel,
  runModel,
  type Model,
  type RuntimeSession,
  type Tensors,
} from "../../src/entries/onnx.ts";
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

/** @param change changes the outputs of a run */
export function localRuntime(
  change: (outputs: Record<string, LocalTensor>) => void = () => {},
): LocalRuntime {
  const models: Model[] = [];
  let open = 0;
  const createSession = async (bytes: Uint8Array): Promise<LocalSession> => {
    const model = readModel(bytes);
    models.push(model);
    open++;
    return {
      async run(feeds) {
        const given = Object.entries(feeds).map(([name, one]) => [name, asTensor(one, {}, name)]);
        const outputs = runModel(model, Object.fromEntries(given) as Tensors);
        const made = Object.fromEntries(
          Object.entries(outputs).map(([name, { dtype, shape, data }]) => [
            name,
            new LocalTensor(dtype, data.slice(), shape),
          ]),
        );
        change(made);
        return made;
      },
      async release() {
        open--;
      },
    };
  };
  return { createSession, models, open: () => open };
}
