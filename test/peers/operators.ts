/** Every operator version beside OpenVINO, ONNX Runtime and ONNX's reference, bit for bit. */

import { run } from "../../src/entries/index.ts";
import { buildModel, writeModel, type AttributeInput, type Model } from "../../src/entries/onnx.ts";
import { writeIR } from "../../src/entries/openvino.ts";
import { isTensorError } from "../../src/core/errors.ts";
import { compareDialects } from "../../src/insight/diagnose/compare-dialects.ts";
import type { DialectId } from "../../src/insight/diagnose/dialect-table.ts";
import { operators as versions } from "../../src/core/operators/registry.ts";
import { roleOf } from "../../src/core/operators/operator.ts";
import { equals, type Tensor } from "../../src/core/tensor/tensor.ts";
import { randomFrom, seedOf } from "../support/random.ts";
import { nodeCase, reductionsOf, typesOf, type NodeCase } from "./cases.ts";
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
  /** The dialect whose rows predict what the peer does; absent for a peer that follows the specification. */
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
  const model = buildModel({
    opsets: isOnnx ? { "": node.opset } : {},
    irVersion: isOnnx ? 10 : 11,
    inputs: Object.fromEntries(
      names.map((name, at) => [name, { dtype: inputs[at].dtype, shape: inputs[at].shape }]),
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

/** One word for how an answer differs; null if it does not. */
function wordOf(row: Row, one: NodeCase, own: Tensor | string, answer: Answer<Outputs>) {
  if (isError(answer)) {
    if (typeof own === "string") return null;
    return answer.error.startsWith("the process ended") ? "ended" : "refused";
  }
  const got = fromWire(answer.outputs[0]);
  if (typeof own !== "string" && equals(got, own)) return null;
  if (row.dialect !== undefined) {
    const said = compareDialects(one.node, one.inputs).find(
      ({ dialect }) => dialect === row.dialect,
    );
    if (said?.output && equals(got, said.output)) return "as the dialect says";
    if (said?.why === "undefined" || said?.why === "order") return "undefined there";
  }
  if (typeof own === "string") return "taken";
  return got.dtype === own.dtype ? "other bits" : "other type";
}

async function compare(row: Row, one: NodeCase, peer: Peer<Outputs>, tally: Tally): Promise<void> {
  const own = ownResult(one);
  const answer = await peer.ask(requestOf(one, row.request));
  const word = wordOf(row, one, own, answer);
  if (word === null) {
    tally.agree(row.peer);
    return;
  }
  const { domain, name, sinceVersion } = one.version;
  tally.differ({
    peer: row.peer,
    facts: {
      ...{ word, op: `${domain}.${name}-${sinceVersion}`, dtype: one.dtype },
      ...{ reduction: String(one.node.attributes?.["reduction"] ?? "none") },
      ...{ inRange: String(!one.isBad) },
      ...{
        indices:
          one.inputs[one.version.inputs.findIndex((input) => roleOf(input) === "indices")].dtype,
      },
    },
    what: `${JSON.stringify(one.node)} ${one.inputs.map((input) => print(input)).join("; ")}`,
    expected: print(own),
    got: isError(answer) ? answer.error : print(fromWire(answer.outputs[0])),
  });
}

export const operators: Part = {
  name: "operators",
  what: "operators, versions, types, attributes and edge values, bit for bit, and bad input",
  accepted: [],
  async run(tally, factor) {
    for (const row of ROWS) {
      const { python, missing } = environment(row.environment);
      if (python === null) {
        tally.skip(`${row.peer}: ${Object.values(missing).join("; ")}`);
        continue;
      }
      const peer = new Peer<Outputs>(python, row.program);
      const random = randomFrom(seedOf(row.peer));
      for (const version of versions()) {
        if (version.domain !== row.domain) continue;
        for (const dtype of typesOf(version, "T")) {
          if (PACKED.test(dtype)) continue;
          for (const reduction of reductionsOf(version)) {
            for (let draw = 0; draw < DRAWS * factor; draw++) {
              const one = nodeCase(version, dtype, reduction, draw % 6 === 5, random);
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
