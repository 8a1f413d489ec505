/** A runtime that runs models here, with tensors of a class of its own, as onnxruntime has. */

import {
  readModel,
  runModel,
  type Model,
  type RuntimeSession,
  type Tensors,
} from "../../src/entries/onnx.ts";
import { asTensor } from "../../src/core/tensor/tensor.ts";

/** A tensor as this runtime makes it. */
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
  /** The models that it was given. */
  readonly models: Model[];
  /** Sessions that were made and not released. */
  readonly open: () => number;
}

/** @param change of the outputs of a run */
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
