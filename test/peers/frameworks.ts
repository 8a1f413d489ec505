/** Runs the calls of frameworks in `docs/frameworks.md`. Each must return the result in its row, which is also ours. */

import { isNumericStorage } from "../../src/core/tensor/dtype.ts";
import type { Tensor } from "../../src/core/tensor/tensor.ts";
import { runBlock } from "../support/documents.ts";
import { FRAMEWORK_INPUTS, FRAMEWORK_ROWS, printResult } from "../support/frameworks.ts";
import { tfjsOn, WITHOUT_TFJS, type TfTensor } from "../support/tfjs.ts";
import { openPeer, type LinesPeer } from "./lines.ts";
import type { Outputs } from "./operators.ts";
import { isError, type Peer } from "./peer.ts";
import type { Part, Tally } from "./tally.ts";
import { fromWire, toWire } from "./tensors.ts";

type Inputs = Readonly<Record<string, Tensor>>;

const PEERS: Readonly<Record<string, Omit<LinesPeer, "dialects">>> = {
  PyTorch: { program: "torch_peer", environment: "torch" },
  TensorFlow: { program: "tensorflow_peer", environment: "frameworks" },
  JAX: { program: "jax_peer", environment: "frameworks" },
  NumPy: { program: "numpy_lines_peer", environment: "runtimes" },
  MLX: { program: "mlx_peer", environment: "mlx" },
};

/** Runs a call of a framework. Returns its result as the table prints it, or an error. */
type Runner = (call: string, inputs: Inputs) => Promise<string>;

export const frameworks: Part = {
  name: "frameworks",
  what: "the calls of docs/frameworks.md",
  accepted: [],

  async run(tally) {
    const names = [...FRAMEWORK_INPUTS.matchAll(/^const (\w+)/gm)].map(([, name]) => name);
    const { values } = await runBlock("frameworks-inputs", FRAMEWORK_INPUTS, { exported: names });
    const inputs = values as Inputs;
    for (const [framework, peer] of Object.entries(PEERS)) {
      const opened = openPeer({ ...peer, dialects: [] });
      if (typeof opened === "string") {
        tally.skip(opened);
        continue;
      }
      // oxlint-disable-next-line no-await-in-loop
      await compare(framework, inPython(opened), inputs, tally);
      tally.note(`${framework} ${Object.values(opened.versions).join(", ")}`);
      // oxlint-disable-next-line no-await-in-loop
      await opened.close();
    }
    if (WITHOUT_TFJS === false) await compare("TensorFlow.js", inTfjs, inputs, tally);
    else tally.skip(`TensorFlow.js: ${WITHOUT_TFJS}`);
  },
};

async function compare(framework: string, run: Runner, inputs: Inputs, tally: Tally) {
  for (const row of FRAMEWORK_ROWS.filter((one) => one.framework === framework)) {
    // oxlint-disable-next-line no-await-in-loop
    const got = await run(row.theirs, inputs);
    if (got === row.result) tally.agree(framework);
    else {
      const [what, expected] = [row.theirs, row.result];
      tally.differ({ peer: framework, facts: { name: row.name }, what, expected, got });
    }
  }
}

const inPython =
  (peer: Peer<Outputs>): Runner =>
  async (call, inputs) => {
    const named = Object.entries(inputs).map(([name, one]) => [name, toWire(one)]);
    // An assignment, and a call that returns None, change `m`.
    const line = call.includes("] = ") ? `${call}; y = m` : `y = ${call}\nif y is None: y = m`;
    const answer = await peer.ask({ line, inputs: Object.fromEntries(named) });
    if (isError(answer)) return answer.error;
    const { shape, data } = fromWire(answer.outputs[0]);
    return printResult(shape, data);
  };

const inTfjs: Runner = async (call, inputs) => {
  const tf = await tfjsOn("cpu");
  const given = Object.values(inputs).map(({ dtype, shape, data }) => {
    if (!isNumericStorage(data)) throw new Error(`an input of ${dtype}`);
    // TensorFlow.js has no int64.
    const isIndex = dtype === "int64";
    return tf.tensor(Array.from(data, Number), shape, isIndex ? "int32" : "float32");
  });
  const run = new Function("tf", ...Object.keys(inputs), `return ${call};`);
  const result: TfTensor = run(tf, ...given);
  return printResult(result.shape, result.dataSync());
};
