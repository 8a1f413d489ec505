/** A runtime that runs models here and is wrong in the runs that a test chooses. */

import { readModel, runModel, type Model, type Session } from "../../src/entries/onnx.ts";
import { asTensor, type Tensor } from "../../src/core/tensor/tensor.ts";

export interface RacingRuntime {
  readonly createSession: (bytes: Uint8Array) => Promise<Session>;
  /** The models that it was given. */
  readonly models: Model[];
  /** Sessions that were made and not released. */
  readonly open: () => number;
  /** Runs of models of one node. */
  readonly alone: () => number;
}

/**
 * @param change of the outputs of a run
 * @param isRun says of which runs: whether the model is one node alone, and how many such runs there were
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
    // A part of a model keeps its constants; a node alone is given all of its inputs.
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
  return { createSession, models, open: () => open, alone: () => runs.alone };
}
