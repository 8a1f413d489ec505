/** Models that exporters write for small modules: every use of a model by the package must agree with the framework. */

import {
  convertModel,
  createExactSession,
  inspectModel,
  readModel,
  runModel,
  unsupportedOperators,
  verifyModel,
  writeModel,
  type Model,
} from "../../src/entries/onnx.ts";
import { readIR } from "../../src/entries/openvino.ts";
import { isTensorError } from "../../src/core/errors.ts";
import { RELEASED } from "./cases.ts";
import { asTensor, type Tensor } from "../../src/core/tensor/tensor.ts";
import { createSession, WITHOUT_RUNTIME } from "../support/onnxruntime.ts";
import { environment, packagesOf, type EnvironmentName } from "./environments.ts";
import { isError, Peer } from "./peer.ts";
import { fromWire, isSame, type WireTensor } from "./tensors.ts";
import type { Part, Tally } from "./tally.ts";

/** The name of an exporter, its environment, its program, and its name there. */
type Exporter = readonly [
  peer: string,
  environment: EnvironmentName,
  program: string,
  exporter: string,
];

const EXPORTERS: readonly Exporter[] = [
  ["torch.onnx", "torch", "exporters_torch", "dynamo"],
  ["torch.onnx of TorchScript", "torch", "exporters_torch", "torchscript"],
  ["openvino.convert_model", "torch", "exporters_torch", "openvino"],
  ["tf2onnx", "frameworks", "exporters_tf_jax", "tf2onnx"],
  ["jax2onnx", "frameworks", "exporters_tf_jax", "jax2onnx"],
];

/** The file of a model (ONNX or IR), its inputs, and the framework's outputs. */
interface Exported {
  readonly model: string;
  readonly xml?: string;
  readonly weights: string;
  readonly inputs: Readonly<Record<string, WireTensor>>;
  readonly outputs: readonly WireTensor[];
}

/** An opset older than the exporters' defaults, with reductions and batch axes. */
const OLDER = 16;

interface Found {
  readonly word: string;
  readonly got: string;
}

type Check = () => Promise<Found | null> | Found | null;

const bytesOf = (base64: string): Uint8Array => new Uint8Array(Buffer.from(base64, "base64"));
const printAll = (tensors: readonly Tensor[]): string =>
  tensors.map((one) => one.toString().replaceAll(/\s+/g, " ")).join("; ");

function difference(outputs: readonly Tensor[], expected: readonly Tensor[]): Found | null {
  const isRight =
    outputs.length === expected.length && expected.every((one, at) => isSame(outputs[at], one));
  return isRight ? null : { word: "other values", got: printAll(outputs) };
}

class Checks {
  readonly #exported: Exported;
  readonly #runtimes: ReadonlyMap<string, Peer<never>>;
  readonly #feeds: Readonly<Record<string, Tensor>>;
  readonly #model: Model;
  /** The framework's outputs; then the runtime's, once it has run the model, because exporters make mistakes. */
  #expected: readonly Tensor[];
  #runtime: Found | null = null;

  constructor(exported: Exported, runtimes: ReadonlyMap<string, Peer<never>>) {
    this.#exported = exported;
    this.#runtimes = runtimes;
    this.#expected = exported.outputs.map(fromWire);
    const { inputs, xml, weights, model } = exported;
    this.#feeds = Object.fromEntries(
      Object.entries(inputs).map(([name, tensor]) => [name, fromWire(tensor)]),
    );
    this.#model = xml === undefined ? readModel(bytesOf(model)) : readIR(xml, bytesOf(weights));
  }

  get expected(): string {
    return printAll(this.#expected);
  }

  /** Returns the finding of a check. An error of the package is a finding, unless the runtime also refuses the model. */
  async outcome(check: Check): Promise<Found | null> {
    try {
      return await check();
    } catch (error) {
      if (!isTensorError(error)) throw error;
      const isExpected = this.#runtime?.word === "refused" && error.code !== "unsupported-model";
      return isExpected ? null : { word: error.code, got: error.message };
    }
  }

  /** The checks by name, in order. A check returns null if everything is right. */
  all(): Readonly<Record<string, Check>> {
    const run = (): Found | null => this.#run(this.#model);
    const inspect = (): Found | null => this.#inspect();
    if (this.#exported.xml !== undefined) return { run, inspect };
    return {
      runtime: () => this.#whole(),
      ...{ run, inspect },
      "convert to the newest": () => this.#convert(RELEASED),
      "convert to an older one": () => this.#convert(OLDER),
      "OpenVINO's IR": () => this.#asIR(),
      ...(WITHOUT_RUNTIME === false && {
        verify: () => this.#verify(),
        "exact, scatters": () => this.#exact("scatters"),
        "exact, all": () => this.#exact("all"),
      }),
    };
  }

  #run(model: Model): Found | null {
    if (unsupportedOperators(model).length > 0) return null;
    const outputs = runModel(model, this.#feeds) as Readonly<Record<string, Tensor>>;
    const names = model.graph.outputs.map(({ name }) => name);
    return difference(
      names.map((name) => outputs[name]),
      this.#expected,
    );
  }

  async #inRuntime(model: Model): Promise<readonly Tensor[] | string> {
    const file = Buffer.from(writeModel(model)).toString("base64");
    const peer = this.#runtimes.get("onnxruntime") as Peer<Exported> | undefined;
    const answer = await peer?.ask({ model: file, inputs: this.#exported.inputs });
    if (answer === undefined) return this.#expected;
    return isError(answer) ? answer.error : answer.outputs.map(fromWire);
  }

  async #whole(): Promise<Found | null> {
    const outputs = await this.#inRuntime(this.#model);
    if (typeof outputs === "string") this.#runtime = { word: "refused", got: outputs };
    else {
      this.#runtime = difference(outputs, this.#expected);
      this.#expected = outputs;
    }
    return this.#runtime;
  }

  /** A model with wrong values must have a finding, and a model with right values must have none but notes. */
  #inspect(): Found | null {
    const { nodes, findings, counts } = inspectModel(this.#model);
    const all = [...nodes.flatMap((node) => node.findings), ...findings].filter(
      ({ severity }) => severity !== "note",
    );
    const isOther = this.#runtime?.word === "other values";
    if (isOther && all.length === 0) return { word: "nothing found", got: "" };
    if (all.length === 0 || (this.#runtime !== null && counts.wrong === 0)) return null;
    const word = [...new Set(all.map(({ id, severity }) => `${severity}: ${id}`))].join(", ");
    return { word, got: all.map(({ sentence }) => sentence).join("; ") };
  }

  async #convert(opset: number): Promise<Found | null> {
    const outputs = await this.#inRuntime(convertModel(this.#model, { opset }).model);
    if (typeof outputs !== "string") return difference(outputs, this.#expected);
    return this.#runtime?.word === "refused" ? null : { word: "refused", got: outputs };
  }

  /** OpenVINO's conversion of the model is read here, and runs if all its layers run here. */
  async #asIR(): Promise<Found | null> {
    const peer = this.#runtimes.get("openvino") as Peer<Exported & { xml: string }> | undefined;
    const { model, inputs } = this.#exported;
    const names = this.#model.graph.outputs.map(({ name }) => name);
    const answer = await peer?.ask({ onnx: model, inputs, names });
    if (answer === undefined || isError(answer)) return null;
    return this.#run(readIR(answer.xml, bytesOf(answer.weights)));
  }

  async #verify(): Promise<Found | null> {
    const bytes = bytesOf(this.#exported.model);
    const { agrees, nodes, problem } = await verifyModel(bytes, this.#feeds, { createSession });
    const isRefused = this.#runtime?.word === "refused" && problem !== null;
    const word = [...new Set(nodes.map(({ verdict }) => verdict))].join(", ");
    return agrees || isRefused ? null : { word, got: problem ?? word };
  }

  async #exact(nodes: "scatters" | "all"): Promise<Found | null> {
    const bytes = bytesOf(this.#exported.model);
    const session = await createExactSession(bytes, { createSession, nodes });
    try {
      const outputs = await session.run(this.#feeds);
      const tensors = session.outputNames.map((name) => asTensor(outputs[name], {}));
      return difference(tensors, this.#expected);
    } finally {
      await session.release();
    }
  }
}

async function compare(
  [peer, of, program, exporter]: Exporter,
  runtimes: ReadonlyMap<string, Peer<never>>,
  tally: Tally,
): Promise<void> {
  const { python, missing } = environment(of);
  if (python === null) return tally.skip(`${peer}: ${Object.values(missing).join("; ")}`);
  const source = new Peer<Exported & { modules: readonly string[] }>(python, program);
  const list = await source.ask({ list: true, exporter });
  if (isError(list)) return tally.skip(`${peer}: ${list.error}`);
  const packages = packagesOf(environment("runtimes"));
  const refused: string[] = [];
  for (const module of list.modules) {
    const exported = await source.ask({ module, exporter, packages });
    if (isError(exported)) {
      refused.push(module);
      continue;
    }
    const checks = new Checks(exported, runtimes);
    for (const [check, run] of Object.entries(checks.all())) {
      const { expected } = checks;
      const found = await checks.outcome(run);
      if (found === null) tally.agree(peer);
      else {
        const facts = { check, word: found.word, module };
        tally.differ({ peer, facts, what: `${module} by ${peer}`, expected, got: found.got });
      }
    }
  }
  await source.close();
  const count = list.modules.length - refused.length;
  tally.note(`${peer}: ${JSON.stringify(source.versions)}, ${count} models`);
  if (refused.length > 0) tally.note(`${peer}: does not export ${refused.join("; ")}`);
}

type AcceptedRow = readonly [
  peer: string,
  version: string,
  facts: Readonly<Record<string, readonly string[]>>,
  reason: string,
];

const LEGACY = "torch.onnx of TorchScript";

// prettier-ignore
const ACCEPTED: readonly AcceptedRow[] = [
  [LEGACY, "2.15.0", { word: ["other values"], module: ["x[i, j]", "x[i[:, None], j]", "x[i, :, j]"] },
    "negative indices become wrong offsets: inspect finds indices-flattened"],
  [LEGACY, "2.15.0",
    { word: ["other values"], module: ["", " of pairs", " of integers"].map((of) => `index_put${of}, accumulated`) },
    "repeated updates are lost: inspect finds repeats-lost"],
  [LEGACY, "2.15.0", { check: ["runtime"], word: ["refused"] },
    "ONNX Runtime refuses the If around a scatter_reduce, whose branches differ in rank, and offsets outside of data"],
  ...[LEGACY, "torch.onnx", "tf2onnx", "jax2onnx"].map((peer): AcceptedRow =>
    [peer, "any", { check: ["convert to an older one"], word: ["unsupported-model"] },
      "the older opset lacks max and min, or the exporter does not declare the types on which it depends"]),
  ["torch.onnx", "2.15.0", { check: ["runtime"], module: ["scatter_reduce mean", "scatter_reduce mean without self"] },
    "the exporter writes a mean as an overwriting scatter: with includeSelf false, inspect finds mean-lost"],
  ["torch.onnx", "2.15.0", { check: ["inspect"], word: ["nothing found"], module: ["scatter_reduce mean"] },
    "a mean with includeSelf becomes a plain ScatterElements, which looks like any other"],
  ["openvino.convert_model", "2026.4.1", { word: ["shape-mismatch"], module: ["gather"] },
    "GatherElements-6 does not take indices that are smaller than data along other axes"],
  ["tf2onnx", "1.17.0", { check: ["runtime", "inspect"], module: ["scatter_nd", "scatter_nd of rows"] },
    "tf.scatter_nd adds repeated updates, and tf2onnx writes a ScatterND without a reduction"],
];

export const models: Part = {
  name: "models",
  what: "models that exporters make of small modules: run, verify, inspect, convert, exact sessions",
  accepted: ACCEPTED.map(([peer, version, facts, reason]) => ({ peer, version, facts, reason })),
  async run(tally) {
    if (WITHOUT_RUNTIME !== false) tally.skip(`onnxruntime-node: ${WITHOUT_RUNTIME}`);
    const { python, missing } = environment("runtimes");
    if (python === null) tally.skip(Object.values(missing).join("; "));
    const names = python === null ? [] : ["onnxruntime", "openvino"];
    const runtimes = new Map(
      names.map((name) => [name, new Peer<never>(python ?? "", `${name}_peer`)] as const),
    );
    for (const row of EXPORTERS) await compare(row, runtimes, tally);
    for (const [name, peer] of runtimes) {
      tally.note(`${name}: ${JSON.stringify(peer.versions)}`);
      await peer.close();
    }
  },
};
