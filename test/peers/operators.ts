/** Compares every operator version with OpenVINO, ONNX Runtime and ONNX's reference, bit for bit. */

import { run } from "../../src/entries/index.ts";
import { buildModel, writeModel, type AttributeInput, type Model } from "../../src/entries/onnx.ts";
import { writeIR } from "../../src/entries/openvino.ts";
import { isTensorError } from "../../src/core/errors.ts";
import { compareDialects } from "../../src/insight/diagnose/compare-dialects.ts";
import type { DialectId } from "../../src/insight/diagnose/dialect-table.ts";
import { operators as versions } from "../../src/core/operators/registry.ts";
import { roleOf } from "../../src/core/operators/operator.ts";
import { DTYPES } from "../../src/core/tensor/dtype.ts";
import { equals } from "../../src/core/tensor/compare.ts";
import { Tensor } from "../../src/core/tensor/tensor.ts";
import { randomFrom, seedOf } from "../support/random.ts";
import { nodeCase, reductionsOf, shapeFacts, typesOf, type NodeCase } from "./cases.ts";
import { OPERATORS_ACCEPTED } from "./operators-accepted.ts";
import { environment } from "./environments.ts";
import { isError, Peer, type Answer } from "./peer.ts";
import { fromWire, PACKED, toWire, type WireTensor } from "./tensors.ts";
import type { Part, Tally } from "./tally.ts";

export interface Outputs {
  readonly outputs: readonly WireTensor[];
}

interface Row {
  readonly peer: string;
  readonly environment: "runtimes" | "weekly";
  readonly program: string;
  readonly domain: NodeCase["version"]["domain"];
  /** The dialect that predicts the peer's results; absent for a peer that follows the specification. */
  readonly dialect?: DialectId;
  readonly request?: object;
}

const ROWS: readonly Row[] = [
  {
    ...{ peer: "openvino", environment: "runtimes", program: "openvino_peer" },
    ...{ domain: "openvino", dialect: "openvino" },
  },
  {
    ...{ peer: "openvino-reference", environment: "runtimes", program: "openvino_peer" },
    ...{ domain: "openvino", request: { plugin: false } },
  },
  {
    ...{ peer: "onnxruntime", environment: "runtimes", program: "onnxruntime_peer" },
    ...{ domain: "ai.onnx", dialect: "onnxruntime-cpu" },
  },
  {
    ...{ peer: "onnx-reference", environment: "weekly", program: "reference_peer" },
    domain: "ai.onnx",
  },
];

/** Draws for each version, type and reduction, at a factor of 1. */
const DRAWS = 3;

function modelOf({ version, node, inputs }: NodeCase): Model {
  const names = version.inputs.slice(0, inputs.length).map(roleOf);
  const isOnnx = version.domain === "ai.onnx";
  // OpenVINO requires a constant axis.
  const fixed = names.indexOf("axis");
  const model = buildModel({
    opsets: isOnnx ? { "": node.opset } : {},
    irVersion: isOnnx ? 10 : 11,
    inputs: Object.fromEntries(
      names.flatMap((name, at) => {
        const { dtype, shape } = inputs[at];
        return at === fixed ? [] : [[name, { dtype, shape }]];
      }),
    ),
    nodes: [
      {
        ...{ op: version.name, name: "n", domain: version.domain, inputs: names, outputs: ["y"] },
        attributes: (node.attributes ?? {}) as Record<string, AttributeInput>,
      },
    ],
    outputs: { y: null },
  });
  if (!isOnnx) model.graph.nodes[0].opset = node.opset;
  if (fixed >= 0) {
    const { dtype, shape } = inputs[fixed];
    model.graph.constants.push({ name: "axis", dtype, shape, read: () => inputs[fixed] });
  }
  return model;
}

function requestOf(one: NodeCase, more: object | undefined): object {
  const model = modelOf(one);
  const inputs = Object.fromEntries(
    one.inputs.map((tensor, at) => [roleOf(one.version.inputs[at]), toWire(tensor)]),
  );
  if (one.version.domain === "ai.onnx") {
    return { model: Buffer.from(writeModel(model)).toString("base64"), inputs, ...more };
  }
  const { xml, bin } = writeIR(model);
  return { xml, weights: Buffer.from(bin).toString("base64"), inputs, ...more };
}

/** The result of the package, or the code of its error. */
function ownResult({ node, inputs }: NodeCase): Tensor | string {
  try {
    return run(node, inputs)[0];
  } catch (error) {
    if (isTensorError(error)) return error.code;
    throw error;
  }
}

const print = (result: Tensor | string): string =>
  typeof result === "string" ? result : result.toString().replaceAll("\n", " ").slice(0, 300);

/** Returns the same tensor with one bit pattern for all NaNs. */
function canonical(tensor: Tensor): Tensor {
  const { dtype, shape, size, data } = tensor;
  const { family } = DTYPES[dtype];
  if (family === "half") {
    const bits = data.slice() as Uint16Array;
    const infinity = dtype === "float16" ? 0x7c00 : 0x7f80;
    for (let p = 0; p < size; p++) if ((bits[p] & 0x7fff) > infinity) bits[p] = infinity + 1;
    return new Tensor(dtype, shape, size, bits);
  }
  if (family !== "float" && family !== "complex") return tensor;
  const values = data.slice() as Float64Array;
  for (let p = 0; p < values.length; p++) if (Number.isNaN(values[p])) values[p] = NaN;
  return new Tensor(dtype, shape, size, values);
}

const word = (value: unknown): string => (Object.is(value, -0) ? "-0" : String(value));

/** Prints the first differing elements, and the element that the dialect predicts. */
function firstDifference(own: Tensor | string, got: Tensor, said: Tensor | null | undefined) {
  if (typeof own === "string" || own.dtype !== got.dtype || own.size !== got.size) {
    return { expected: print(own), got: print(got) };
  }
  const [a, b, c] = [own, got, said ?? own].map((one) => [one.toArray() as unknown].flat(Infinity));
  const at = b.findIndex((value, p) => !Object.is(value, c[p]));
  return at < 0
    ? { expected: print(own), got: print(got) }
    : {
        expected: `at ${at}: ${word(a[at])}; the dialect: ${said && word(c[at])}`,
        got: `at ${at}: ${word(b[at])}`,
      };
}

/** Returns the prediction of the row's dialect for a case. */
const saidOf = ({ dialect }: Row, { node, inputs }: NodeCase) =>
  dialect === undefined
    ? undefined
    : compareDialects(node, inputs).find((one) => one.dialect === dialect);

/** Returns a few words for the difference of an answer, or null. */
function wordsOf(row: Row, one: NodeCase, own: Tensor | string, answer: Answer<Outputs>) {
  if (isError(answer)) {
    if (typeof own === "string") return null;
    if (answer.error.startsWith("the process ended")) return "ended";
    return saidOf(row, one)?.why === "missing" ? "missing, as the dialect says" : "refused";
  }
  const got = fromWire(answer.outputs[0]);
  if (typeof own !== "string") {
    if (equals(got, own)) return null;
    if (equals(canonical(got), canonical(own))) return "other NaNs";
  }
  const said = saidOf(row, one);
  if (said?.output && equals(canonical(got), canonical(said.output))) return "as the dialect says";
  if (said?.why === "undefined" || said?.why === "order") return "undefined, as the dialect says";
  if (typeof own === "string") return "accepted";
  return got.dtype === own.dtype ? "other bits" : "other type";
}

async function compare(row: Row, one: NodeCase, peer: Peer<Outputs>, tally: Tally): Promise<void> {
  const own = ownResult(one);
  const answer = await peer.ask(requestOf(one, row.request));
  const words = wordsOf(row, one, own, answer);
  if (words === null) {
    tally.agree(row.peer);
    return;
  }
  const { domain, name, sinceVersion } = one.version;
  tally.differ({
    peer: row.peer,
    facts: {
      ...{ words, op: `${domain}.${name}-${sinceVersion}`, dtype: one.dtype },
      ...{ reduction: String(one.node.attributes?.["reduction"] ?? "none") },
      ...{ self: String(one.node.attributes?.["use_init_val"] ?? true) },
      ...{ inRange: String(!one.isBad), ...shapeFacts(one) },
      ...{
        indices:
          one.inputs[one.version.inputs.findIndex((input) => roleOf(input) === "indices")].dtype,
      },
    },
    what: `${JSON.stringify(one.node)} ${one.inputs.map((input) => print(input)).join("; ")}`,
    ...(isError(answer)
      ? { expected: print(own), got: answer.error }
      : firstDifference(own, fromWire(answer.outputs[0]), saidOf(row, one)?.output)),
  });
}

export const operators: Part = {
  name: "operators",
  what: "operators, versions, types, attributes and edge values, bit for bit, and bad input",
  accepted: OPERATORS_ACCEPTED,
  async run(tally, factor) {
    for (const row of ROWS) {
      const { python, missing } = environment(row.environment);
      const peer = new Peer<Outputs>(python ?? "", row.program);
      // oxlint-disable-next-line no-await-in-loop
      const problem = python === null ? Object.values(missing)[0] : await peer.start();
      if (problem !== null) {
        tally.skip(`${row.peer}: ${problem}`);
        continue;
      }
      const random = randomFrom(seedOf(row.peer));
      for (const version of versions()) {
        if (version.domain !== row.domain) continue;
        for (const dtype of typesOf(version, "T")) {
          if (PACKED.test(dtype)) continue;
          for (const reduction of reductionsOf(version)) {
            for (let draw = 0; draw < DRAWS * factor; draw++) {
              const one = nodeCase(version, dtype, reduction, random(6) === 0, random);
              // oxlint-disable-next-line no-await-in-loop
              await compare(row, one, peer, tally);
            }
          }
        }
      }
      tally.note(`${row.peer}: ${JSON.stringify(peer.versions)}`);
      // oxlint-disable-next-line no-await-in-loop
      await peer.close();
    }
  },
};
