/** A runtime that runs models here, with wrong results in runs that a test chooses. */

import { readModel, runModel, type Model, type Session } from "../../src/entries/onnx.ts";
import { asTensor, type Tensor } from "../../src/core/tensor/tensor.ts";
import { runtimeOf } from "./runtime-of.ts";

export interface RacingRuntime {
  readonly createSession: (bytes: Uint8Array) => Promise<Session>;
  /** The models passed to the runtime. */
  readonly models: Model[];
  /** The number of sessions that were made and not released. */
  readonly open: () => number;
  /** The number of runs of models with one node. */
  readonly alone: () => number;
}

/**
 * @param change changes the outputs of a run
 * @param isRun chooses the runs, by whether the model is one node alone and the number of such runs so far
 */
export function racingRuntime(
  change: (outputs: Record<string, Tensor>) => void = () => {},
  isRun: (isAlone: boolean, nth: number) => boolean = () => true,
): RacingRuntime {
  const models: Model[] = [];
  const runs = { alone: 0, whole: 0 };
  let open = 0;
  const createSession = async (bytes: Uint8Array): Promise<Session> => {
    const model = readModel(bytes);
    const { nodes, constants } = model.graph;
    // A part of a model keeps its constants; a node alone gets all of its inputs at run time.
    const isAlone = nodes.length === 1 && constants.length === 0;
    models.push(model);
    open++;
    return {
      async run(feeds: Readonly<Record<string, unknown>>) {
        const own = Object.entries(feeds).map(([name, value]) => [name, asTensor(value, {}, name)]);
        const outputs = runModel(model, Object.fromEntries(own) as Record<string, Tensor>);
        if (isRun(isAlone, ++runs[isAlone ? "alone" : "whole"])) change(outputs);
        return Object.fromEntries(
          Object.entries(outputs).map(([name, { dtype, shape, data }]) => [
            name,
            { type: dtype, dims: shape, data },
          ]),
        );
      },
      async release() {
        open--;
      },
    };
  };
  return runtimeOf(createSession, { models, open: () => open, alone: () => runs.alone });
}
