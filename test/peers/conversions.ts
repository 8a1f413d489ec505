/** Converts random models to every opset and to both formats; peers must load each result, and compute the same. */

import {
  convertModel,
  readModel,
  runModel,
  writeModel,
  type Conversion,
  type ConvertTarget,
  type Model,
} from "../../src/entries/onnx.ts";
import { readIR, writeIR } from "../../src/entries/openvino.ts";
import { isTensorError } from "../../src/core/errors.ts";
import { NEWEST_OPSETS, type Domain } from "../../src/core/operators/operator.ts";
import { operators as versions } from "../../src/core/operators/registry.ts";
import type { Tensor } from "../../src/core/tensor/tensor.ts";
import { asFile } from "../support/model-files.ts";
import { lastOpset, randomModel } from "../support/models.ts";
import { randomGraph } from "../support/random-graphs.ts";
import { randomFrom, seedOf, type Random } from "../support/random.ts";
import { isOneBatch, typesOf, RELEASED } from "./cases.ts";
import { environment } from "./environments.ts";
import { isError, Peer, type Answer } from "./peer.ts";
import { fromWire, isSame, PACKED, toWire, type WireTensor } from "./tensors.ts";
import type { Accepted, Part, Tally } from "./tally.ts";

interface Outputs {
  readonly outputs: readonly WireTensor[];
}

/** OpenVINO's own conversion of a model, and its outputs or its error. */
type OwnIR = Readonly<{ xml: string; weights: string; outputs: readonly WireTensor[] | string }>;

type Values = Readonly<Record<string, Tensor>>;

interface Case {
  /** The operator's version, or `graph`. */
  readonly what: string;
  readonly dtype: string;
  readonly model: Model;
  readonly inputs: Values;
}

type Drawn = Pick<Case, "model" | "inputs">;

const PEERS = [
  ["checker", "runtimes", "reference_peer"],
  ["weekly checker", "weekly", "reference_peer"],
  ["onnxruntime", "runtimes", "onnxruntime_peer"],
  ["openvino", "runtimes", "openvino_peer"],
] as const;

/** Draws for each version and type, at a factor of 1: rare differences must be seen. */
const DRAWS = 3;

/** Returns random opsets of both formats; many cases together cover every pair. */
function targets(random: Random): ConvertTarget[] {
  const opsets = (domain: Domain, count: number): number[] =>
    Array.from({ length: count }, () => 1 + random(NEWEST_OPSETS[domain]));
  return [
    ...opsets("ai.onnx", 8).map((opset) => ({ opset })),
    ...opsets("openvino", 3).map((opset) => ({ domain: "openvino", opset }) as const),
    { domain: "openvino", version: random(2) === 0 ? 10 : 11 },
  ];
}

/** Names that must be quoted or escaped in files or in lists of names. */
const NAMES = ["x", "a,b", "in/0:0", String.raw`a\,b`, `<&">`, "ü x"];

/** Returns the model with other names of its values, and with a second output of the same value if `isTwice`. */
function renamed({ model, inputs }: Drawn, first: number, isTwice: boolean): Drawn {
  const { graph } = model;
  const all = [...graph.inputs, ...graph.constants, ...graph.outputs].map(({ name }) => name);
  const nameOf = (name: string): string =>
    name === "" ? "" : NAMES[(all.indexOf(name) + first) % NAMES.length];
  const rename = <T extends { name: string }>(one: T): T => ({ ...one, name: nameOf(one.name) });
  // Checkers require the type of an output.
  const { dtype, shape } = (runModel(model, inputs) as Values)[graph.outputs[0].name];
  const [output] = graph.outputs.map((one) => ({ ...rename(one), type: { dtype, shape } }));
  const [node] = graph.nodes.map((one) => ({
    ...{ ...one, inputs: one.inputs.map(nameOf), outputs: one.outputs.map(nameOf) },
  }));
  const copy = { ...node, op: "Identity", inputs: [output.name], outputs: ["y, y"] };
  const changed: Model = {
    ...model,
    graph: {
      ...graph,
      inputs: graph.inputs.map(rename),
      constants: graph.constants.map(rename),
      nodes: isTwice ? [node, { ...copy, name: "copy", attributes: {} }] : [node],
      outputs: isTwice ? [output, { ...output, name: "y, y" }] : [output],
    },
  };
  const feeds = Object.entries(inputs).map(([name, one]) => [nameOf(name), one] as const);
  return { model: asFile(changed), inputs: Object.fromEntries(feeds) };
}

/** Returns true for text with unpaired surrogates, which UTF-8, and therefore a file, cannot contain. */
const hasHalfPair = ({ model, inputs }: Drawn): boolean =>
  [...Object.values(inputs), ...model.graph.constants.map((one) => one.read())]
    .filter(({ dtype }) => dtype === "string")
    .some(({ data }) => /[\ud800-\udfff]/u.test((data as readonly string[]).join(" ")));

function* casesOf(random: Random, factor: number): Generator<Case> {
  for (const version of versions()) {
    for (const dtype of typesOf(version, version.inputs[0].type)) {
      if (PACKED.test(dtype)) continue;
      const what = `${version.domain}.${version.name}-${version.sinceVersion}`;
      // A factor of 0.1 draws for three of ten types.
      for (let draw = random(1000) / 1000; draw < DRAWS * factor; draw++) {
        const drawn = randomModel(
          version,
          Math.min(lastOpset(version), RELEASED),
          random,
          dtype,
        ) as Drawn;
        const isTwice = version.domain === "ai.onnx" && random(3) === 0;
        if (hasHalfPair(drawn)) continue;
        yield { what, dtype, ...renamed(drawn, random(NAMES.length), isTwice) };
      }
    }
  }
  for (let draw = 0; draw < 20 * factor; draw++) {
    const { bytes, feeds } = randomGraph(random, 2 + random(6));
    yield { what: "graph", dtype: "float32", model: readModel(bytes), inputs: feeds };
  }
}

const isOnnx = ({ opsets }: Model): boolean => "ai.onnx" in opsets;
const base64 = (bytes: Uint8Array): string => Buffer.from(bytes).toString("base64");
const namesOf = ({ graph }: Model): string[] => graph.outputs.map(({ name }) => name);

/** Runs a function of the package. Returns its result, or the codes of its error and of the cause. */
function attempt<T>(run: () => T): T | string {
  try {
    return run();
  } catch (error) {
    if (!isTensorError(error)) throw error;
    return `${error.code} ${isTensorError(error.cause) ? error.cause.code : ""}`.trim();
  }
}

const ownOutputs = (model: Model, inputs: Values): Values | string =>
  attempt(() => runModel(model, inputs) as Values);

/** Returns a few words for a peer's error, which are equal for equal reasons. */
function reasonOf(error: string): string {
  if (
    /NOT_IMPLEMENTED|find an implementation|is not supported|only supported|Numpy type|inference failed/.test(
      error,
    )
  )
    return "no kernel";
  if (error.includes("ValidateOpsetForDomain")) return "newer opset";
  if (/Failed to set tensor for input with precision|can't convert from/.test(error)) {
    return "other type";
  }
  return error.replaceAll(/["'][^"']*["']|\d+|\s+/g, " ").slice(-80);
}

function print(value: unknown): string {
  if (typeof value === "string") return value;
  const plain = (_key: string, one: unknown): unknown => {
    if (ArrayBuffer.isView(one)) return Array.from(one as Uint8Array, String).join(" ");
    return typeof one === "bigint" ? String(one) : one;
  };
  return JSON.stringify(value, plain).slice(0, 500);
}

/** Returns true if a Gather of the model has one batch, as {@link isOneBatch} says. */
function hasOneBatch({ model: { graph }, inputs }: Drawn): boolean {
  const read = (name: string): Tensor | undefined =>
    inputs[name] ?? graph.constants.find((one) => one.name === name)?.read();
  return graph.nodes.some(({ op, attributes, inputs: [data, , axis] }) => {
    if (op !== "Gather" || attributes["batch_dims"] === undefined) return false;
    const at = Number(read(axis)?.toArray() ?? 0);
    return isOneBatch(attributes["batch_dims"].value, read(data)?.shape ?? [], at);
  });
}

class Comparison {
  readonly #tally: Tally;
  readonly #peers: ReadonlyMap<string, Peer<never>>;
  readonly #one: Case;
  readonly #own: Values | string;
  readonly #names: readonly string[];
  #before = new Map<string, Answer<Outputs>>();

  constructor(tally: Tally, peers: ReadonlyMap<string, Peer<never>>, one: Case) {
    this.#tally = tally;
    this.#peers = peers;
    this.#one = one;
    this.#own = ownOutputs(one.model, one.inputs);
    this.#names = namesOf(one.model);
  }

  async run(to: readonly ConvertTarget[], refused: string[]): Promise<void> {
    const { model } = this.#one;
    this.#before = await this.#answers(model);
    // OpenVINO keeps negative indices of GatherElements, with which its GatherElements-6 reads outside of data, or ends.
    if (isOnnx(model) && !this.#one.what.includes("GatherElements")) await this.#readOwnIR();
    for (const target of to) {
      const result = attempt(() => {
        const made = convertModel(model, target);
        // An IR cannot express inputs with defaults, which its writer refuses.
        return { ...made, model: asFile(made.model) };
      });
      if (typeof result === "string") refused.push(result);
      else await this.#judge(result, `${target.domain ?? "ai.onnx"} ${target.opset ?? ""}`);
    }
  }

  async #ask<T = Outputs>(peer: string, request: object): Promise<Answer<T> | null> {
    const inputs = Object.entries(this.#one.inputs).map(([name, one]) => [name, toWire(one)]);
    const all = { inputs: Object.fromEntries(inputs), names: this.#names, ...request };
    return (await (this.#peers.get(peer) as Peer<T> | undefined)?.ask(all)) ?? null;
  }

  /** Returns the answers of the peers of the model's format; those of checkers have no outputs. */
  async #answers(model: Model, request: object = {}): Promise<Map<string, Answer<Outputs>>> {
    const all = new Map<string, Answer<Outputs>>();
    const put = async (peer: string, file: object): Promise<void> => {
      const answer = await this.#ask(peer, { ...file, ...request });
      if (answer !== null) all.set(peer, answer);
    };
    if (isOnnx(model)) {
      const file = { model: base64(writeModel(model)) };
      const isChecked = { ...file, check: true };
      const checks = [put("checker", isChecked), put("weekly checker", isChecked)];
      await Promise.all([...checks, put("onnxruntime", file)]);
    } else {
      const { xml, bin } = writeIR(model);
      await put("openvino", { xml, weights: base64(bin) });
    }
    return all;
  }

  /** @param got values by name, outputs in order, or an error's code */
  #isRight(got: Values | readonly WireTensor[] | string, isNear: boolean): boolean {
    const own = this.#own;
    if (typeof own === "string" || typeof got === "string") return got === own;
    return this.#names.every((name, at) => {
      const one = Array.isArray(got) ? fromWire(got[at]) : (got as Values)[name];
      return isSame(one, own[name], isNear);
    });
  }

  async #judge({ model, notes }: Conversion, to: string): Promise<void> {
    const isNear = notes.some((note) => note.includes("NaN"));
    const mine = ownOutputs(model, this.#one.inputs);
    this.#count("ndscatter", model, to, this.#isRight(mine, isNear) ? null : "other values", mine);
    for (const [peer, answer] of await this.#answers(model)) {
      const word = await this.#wordOf(peer, answer, model, isNear);
      this.#count(peer, model, to, word, isError(answer) ? answer.error : answer);
    }
  }

  /** Returns a word for a difference from both our result and the peer's result before the conversion, or null. */
  async #wordOf(
    peer: string,
    answer: Answer<Outputs>,
    model: Model,
    isNear: boolean,
  ): Promise<string | null> {
    const earlier = this.#before.get(peer);
    if (isError(answer) && answer.error.startsWith("the process ended")) return "ended";
    if (isError(answer)) return earlier !== undefined && isError(earlier) ? null : "refused";
    const { outputs } = answer;
    if (peer.endsWith("checker") || this.#isRight(outputs, isNear)) return null;
    if (JSON.stringify(earlier) === JSON.stringify(answer)) return null;
    if (peer === "openvino") {
      const second = (await this.#answers(model, { plugin: false })).get(peer);
      const isKernel = second && !isError(second) && this.#isRight(second.outputs, isNear);
      if (isKernel === true) return "other values, not in the reference";
    }
    const own = this.#own;
    const isOtherType =
      typeof own !== "string" &&
      this.#names.some((name, at) => outputs[at].dtype !== own[name].dtype);
    return isOtherType ? "other type" : "other values";
  }

  /** OpenVINO converts the model; its IR must be readable here, and compute the same. */
  async #readOwnIR(): Promise<void> {
    const { model, inputs } = this.#one;
    const answer = await this.#ask<OwnIR>("openvino", { onnx: base64(writeModel(model)) });
    if (answer === null || isError(answer)) return;
    const { outputs, xml, weights } = answer;
    const isRefused = typeof outputs === "string";
    this.#before.set("openvino", isRefused ? { error: outputs } : { outputs });
    const ir = readIR(xml, new Uint8Array(Buffer.from(weights, "base64")));
    const read = ownOutputs(ir, inputs);
    // Layers of other operators do not run here.
    if (read === "unsupported-model" || typeof this.#own === "string") return;
    const isRight = typeof read === "string" ? isRefused : this.#isRight(read, true);
    this.#count("openvino's IR", ir, "", isRight ? null : "other values", read);
  }

  #count(peer: string, model: Model, to: string, word: string | null, got: unknown): void {
    if (word === null) {
      this.#tally.agree(peer);
      return;
    }
    const { what, dtype, inputs } = this.#one;
    const format = isOnnx(model) ? "ai.onnx" : `IR ${model.irVersion}`;
    const reason = typeof got === "string" ? reasonOf(got) : "";
    const { constants } = this.#one.model.graph;
    const hasEmpty = [...Object.values(inputs), ...constants].some(
      ({ shape }) => shape.at(-1) === 0,
    );
    const oneBatch = String(hasOneBatch(this.#one));
    this.#tally.differ({
      ...{
        peer,
        facts: { word, reason, op: what, format, dtype, hasEmpty: String(hasEmpty), oneBatch },
      },
      what: `${what} to ${to}: ${print(this.#one.model.graph.nodes)} ${print(inputs)} and ${print(constants.map(({ name }) => name))}`,
      ...{ expected: print(this.#own), got: print(got) },
    });
  }
}

const FORMER = "inputs and outputs of IR version 10 have the data types of the former API";

const UNRANKED = {
  word: ["refused"],
  reason: ["ValidationError: Field   of   is required but missing."],
};
const NEEDS_SHAPE =
  "an IR stores a scalar like an unknown shape, and the checker requires a shape for each output";

// prettier-ignore
const ACCEPTED: readonly (readonly [string, string, Accepted["facts"], string, "rare"?])[] = [
  ["openvino", "2026.4.1", { word: ["other type"], format: ["IR 10"] }, FORMER],
  ["openvino", "2026.4.1", { word: ["refused"], reason: ["other type"], format: ["IR 10"] }, FORMER],
  ["openvino", "2026.4.1", { word: ["other values, not in the reference"] },
    "the CPU plugin differs from OpenVINO's reference, which agrees"],
  ["openvino", "2026.4.1", { word: ["other values"], dtype: ["float64", "int64", "uint64", "uint32"] },
    "the CPU plugin computes in 32 bits, and the reference does not evaluate the node"],
  ["openvino", "2026.4.1", { word: ["other type", "refused"], dtype: ["float8e4m3fn", "float8e5m2", "float8e8m0"] },
    "the CPU plugin does not compute with float8", "rare"],
  ["openvino", "2026.4.1", { word: ["other values"], hasEmpty: ["true"] },
    "a tuple of no index addresses all of data, and OpenVINO changes nothing"],
  ["onnxruntime", "1.32.0", { word: ["other values"], dtype: ["string"] },
    "Gather of strings copies only the first element of each slice", "rare"],
  ["openvino", "2026.4.1", { word: ["other values"], op: ["openvino.Gather-1"] },
    "the result of the same file varies from run to run", "rare"],
  ["openvino", "2026.4.1", { word: ["other values"], op: ["openvino.Gather-7", "openvino.Gather-8"], oneBatch: ["true"] },
    "Gather with batch_dims reads other memory for one batch", "rare"],
  ["openvino", "2026.4.1", { word: ["other values"], op: ["openvino.Gather-8"], dtype: ["int16", "uint16"] },
    "an index outside its axis reads other memory, where its reference does not evaluate the node", "rare"],
  ["openvino", "2026.4.1", { word: ["ended"], op: ["openvino.Gather-1", "openvino.Gather-7", "openvino.Gather-8"] },
    "the process ends within Gather"],
  ["ndscatter", "", { reason: ["attribute attribute"], format: ["ai.onnx"] },
    "Cast before opset 6 names its data type by a word, which does not run here"],
  ["openvino's IR", "2026.4.1", { reason: ["index-out-of-range index-out-of-range"] },
    "OpenVINO keeps negative indices in versions that do not count from the end"],
  ["openvino's IR", "2026.4.1", { reason: ["dtype dtype"], dtype: ["string"] },
    "OpenVINO writes scatters of text, for which its specification has no type", "rare"],
  ["openvino's IR", "2026.4.1", { word: ["other values"], reason: [""], dtype: ["float32"] },
    "OpenVINO folds constants, and makes subnormal floats zero", "rare"],
  ["checker", "1.23.2", UNRANKED, NEEDS_SHAPE, "rare"],
  ["weekly checker", "1.24.0.dev20261026", UNRANKED, NEEDS_SHAPE, "rare"],
  ["onnxruntime", "1.32.0", { word: ["refused"], reason: ["newer opset"] },
    "it loads opsets up to 28"],
  ["onnxruntime", "1.32.0", { word: ["refused"], reason: ["no kernel"] },
    "it has no kernel for the data type, the reduction or the opset, or no type of NumPy"],
];

export const conversions: Part = {
  name: "conversions",
  what: "random models in every opset and both formats: peers load them, and compute the same",
  accepted: [
    ...ACCEPTED.map(([peer, version, facts, reason, rare]) => ({
      ...{ peer, version, facts, reason },
      ...(rare === "rare" && { isRare: true as const }),
    })),
    {
      ...{ peer: "openvino", version: "2026.4.1", facts: { word: ["refused"] } },
      ...{ says: "EliminateGather", isRare: true },
      reason: "a pass that removes Gathers stops at constant indices of uint64",
    },
  ],
  async run(tally, factor) {
    const peers = new Map<string, Peer<never>>();
    for (const [peer, of, program] of PEERS) {
      const { python, missing } = environment(of);
      if (python === null) tally.skip(`${peer}: ${Object.values(missing).join("; ")}`);
      else peers.set(peer, new Peer(python, program));
    }
    const refused: string[] = [];
    const random = randomFrom(seedOf("conversions"));
    for (const one of casesOf(random, factor)) {
      await new Comparison(tally, peers, one).run(targets(random), refused);
    }
    for (const code of new Set(refused)) {
      tally.note(`refused ${refused.filter((one) => one === code).length} times: ${code}`);
    }
    for (const [name, peer] of peers) {
      tally.note(`${name}: ${JSON.stringify(peer.versions)}`);
      await peer.close();
    }
  },
};
