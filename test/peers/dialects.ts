/**
 * Compares the table of dialects with the systems themselves: the line that `ndscatter compare` prints for a call is run,
 * and its result must be the one that `compareDialects` predicts, in the cells that the dialect decides. The calls are
 * those of `test/fixtures/dialects/calls.jsonl`, and random ones. With UPDATE=1, results of the former that agree are
 * recorded in `recorded.jsonl`, which the tests of every commit read.
 */

import * as fs from "node:fs";
import * as path from "node:path";
import { codeOf } from "../../src/cli/text/dialect-code.ts";
import { callOf, nodeFrom, type NodeSpec } from "../../src/core/call/call.ts";
import { tensorsOf } from "../../src/core/call/inputs.ts";
import { prepare } from "../../src/core/call/check.ts";
import { isTensorError } from "../../src/core/errors.ts";
import { roleOf } from "../../src/core/operators/operator.ts";
import { DTYPES, integerRange, type DType } from "../../src/core/tensor/dtype.ts";
import { reader } from "../../src/core/tensor/scalar.ts";
import { sameShape } from "../../src/core/tensor/shape.ts";
import { tensor, type Tensor } from "../../src/core/tensor/tensor.ts";
import { cellUpdatesOf } from "../../src/insight/diagnose/rule.ts";
import { cellsOf, differingCells } from "../../src/insight/diagnose/cells.ts";
import {
  compareDialects,
  type DialectComparison,
} from "../../src/insight/diagnose/compare-dialects.ts";
import { readCall } from "../../src/insight/diagnose/predict.ts";
import { DIALECTS, type DialectId } from "../../src/insight/diagnose/dialect-table.ts";
import {
  dialects as tableOf,
  type DialectAspect,
  type DialectFact,
} from "../../src/insight/diagnose/dialects.ts";
import { isWhole } from "../../src/insight/diagnose/hypothesis.ts";
import { randomFrom, seedOf } from "../support/random.ts";
import { ROOT } from "../support/root.ts";
import { tfjsOn, WITHOUT_TFJS } from "../support/tfjs.ts";
import { nodeCase, reductionsOf, shapeFacts, typesOf, type NodeCase } from "./cases.ts";
import {
  JAX,
  newestVersions,
  openPeer,
  requestOf,
  TENSORFLOW,
  TORCH,
  withInt64,
  type LinesPeer,
} from "./lines.ts";
import { DIALECTS_ACCEPTED } from "./dialects-accepted.ts";
import type { Outputs } from "./operators.ts";
import { isError, type Answer } from "./peer.ts";
import { fromWire, toWire } from "./tensors.ts";
import type { Part, Tally } from "./tally.ts";

const PEERS: readonly LinesPeer[] = [
  { program: "numpy_lines_peer", environment: "runtimes", dialects: ["numpy"] },
  TORCH,
  TENSORFLOW,
  JAX,
  { program: "onnxruntime_lines_peer", environment: "runtimes", dialects: ["onnxruntime-cpu"] },
  { program: "openvino_lines_peer", environment: "runtimes", dialects: ["openvino"] },
];

const FOLDER = path.join(ROOT, "test/fixtures/dialects");
const linesOf = (file: string): readonly string[] =>
  fs.readFileSync(path.join(FOLDER, file), "utf8").trim().split("\n");

/** A call, with its name if it is one of `calls.jsonl`. */
type Call = Pick<NodeCase, "version" | "node" | "inputs"> & { readonly name?: string };

/** A system that runs lines. */
interface Runner {
  readonly tool: string;
  readonly dialects: readonly DialectId[];
  /** Kinds of predictions that are not tested. */
  readonly skips: readonly DialectComparison["why"][];
  versions(): string;
  ask(call: Call, line: string): Promise<Answer<Outputs>>;
  close(): Promise<void>;
}

interface Given {
  readonly name: string;
  readonly node: NodeSpec;
  readonly inputs: readonly { dtype: DType; shape: number[]; values: (number | string)[] }[];
}

const fixedCalls = (): readonly Call[] =>
  linesOf("calls.jsonl").map((text) => {
    const { name, node, inputs }: Given = JSON.parse(text);
    const tensors = inputs.map(({ dtype, shape, values }) =>
      tensor(dtype, shape, dtype === "string" ? values : (values.map(Number) as never)),
    );
    const { version } = callOf(nodeFrom(node));
    return { name, version, node, inputs: tensors as Tensor[] };
  });

/** Draws for each operator, type and reduction; one of three may have an index out of range. */
const DRAWS = 3;

/** The data types of ScatterND; the other systems have few others. */
const TYPES = new Set(
  newestVersions()
    .filter(({ name }) => name === "ScatterND")
    .flatMap((version) => typesOf(version, "T")),
);

function* randomCalls(factor: number, tool: string): Iterable<Call> {
  const random = randomFrom(seedOf(`dialects ${tool}`));
  for (const version of newestVersions()) {
    for (const dtype of typesOf(version, "T").filter((one) => TYPES.has(one))) {
      for (const reduction of reductionsOf(version)) {
        for (let draw = 0; draw < Math.round(DRAWS * factor); draw++) {
          const call = withInt64(nodeCase(version, dtype, reduction, random(3) === 0, random));
          if (isFit(call)) yield call;
        }
      }
    }
  }
}

/** Returns false for a reduction that the data type lacks, such as the sum of text, and for unpaired surrogates. */
function isFit({ node, inputs }: Call): boolean {
  try {
    compareDialects(node, inputs);
    return !inputs.some(({ data }) => Array.isArray(data) && data.includes("\ud800"));
  } catch (error) {
    if (isTensorError(error, "reduction")) return false;
    throw error;
  }
}

const OTHER_TYPES = new Set<DType>(["int64", "uint64", "uint32", "int16", "uint16", "float64"]);

/** The aspects of the table that a call concerns. */
function aspectsOf({ node, inputs }: Call): readonly DialectAspect[] {
  const call = callOf(nodeFrom(node));
  const { rule, facts } = readCall(prepare(call, tensorsOf(call, inputs)));
  const { data, updates } = rule;
  const { reduction } = rule.call.settings;
  const { dtype } = data;
  const { family } = DTYPES[dtype];
  const isScatter = updates !== undefined;
  const isComparison = isScatter && (reduction === "max" || reduction === "min");
  const isSum = isScatter && !isComparison && reduction !== "none";
  const counts = isScatter ? cellUpdatesOf(rule) : null;
  const hasRepeats = Array.from({ length: data.size }, (_, cell) => counts?.count(cell) ?? 0).some(
    (count) => count > 1,
  );
  const touched: Readonly<Record<DialectAspect, boolean>> = {
    negative: facts.hasNegative,
    scatters: isScatter && facts.hasOutside,
    gathers: !isScatter && facts.hasOutside,
    repeats: isScatter && reduction === "none" && hasRepeats,
    sums: isSum && hasRepeats,
    compares: isComparison && (family === "half" || family === "float"),
    halves: isSum && family === "half",
    types: OTHER_TYPES.has(dtype) || (dtype === "bool" && reduction === "sub"),
    means: reduction === "mean" && integerRange(dtype) !== null,
    wholes: isWhole(rule),
    strings: !isScatter && dtype === "string",
  };
  return (Object.keys(touched) as DialectAspect[]).filter((aspect) => touched[aspect]);
}

const factsOf = (dialect: DialectId): readonly DialectFact[] =>
  tableOf().find(({ id }) => id === dialect)?.facts ?? [];

const labelOf = ({ aspect, of }: DialectFact): string =>
  of === null ? aspect : `${aspect} of ${of}`;

/** Returns the rows of the table that a call concerns; for a call that the dialect lacks, the rows that say so. */
function labelsOf({ dialect, why }: DialectComparison, call: Call): readonly string[] {
  const { version, inputs } = call;
  return aspectsOf(call).flatMap((aspect) => {
    const rows = factsOf(dialect).filter((fact) => fact.aspect === aspect);
    const limits = [inputs[0].dtype, version.indexForm, null];
    const row = limits.map((of) => rows.find((one) => one.of === of)).find(Boolean);
    return row === undefined || (why === "missing" && row.does !== "none") ? [] : [labelOf(row)];
  });
}

/** Returns a word for the difference between an answer and the table, or null. */
function wordOf(said: DialectComparison, answer: Answer<Outputs>): string | null {
  const { why, output, undecided } = said;
  if (why === "undefined") return null;
  if (isError(answer)) {
    if (output === null) return null;
    return answer.error.startsWith("the process ended") ? "ended" : "refused";
  }
  if (output === null) return why === "missing" ? "has it" : "no error";
  const got = fromWire(answer.outputs[0]);
  if (got.dtype !== output.dtype || !sameShape(got.shape, output.shape))
    return "other type or shape";
  const open = new Set(undecided);
  const cells = differingCells(cellsOf(got), cellsOf(output));
  return cells.every((cell) => open.has(cell)) ? null : "other values";
}

/** Returns true if an answer differs only in subnormal numbers of bfloat16, which are 0 in it. */
function isFlushed({ output }: DialectComparison, answer: Answer<Outputs>): boolean {
  if (output?.dtype !== "bfloat16" || isError(answer)) return false;
  const [own, got] = [output, fromWire(answer.outputs[0])].map((one) => one.data as Uint16Array);
  // The bits of a subnormal number without its sign are at most 0x7f; those of 0 are its sign.
  return own.every(
    (bits, p) => bits === got[p] || ((bits & 0x7fff) <= 0x7f && got[p] === (bits & 0x8000)),
  );
}

const print = (one: Tensor): string => one.toString().replaceAll("\n", " ").slice(0, 300);

/** Counts of cases by dialect and row. */
type Touched = Map<string, number>;

async function compare(runner: Runner, call: Call, tally: Tally, touched: Touched, rows: object[]) {
  const { version, node, inputs, name } = call;
  for (const said of compareDialects(node, inputs)) {
    const { dialect, why, output } = said;
    if (!runner.dialects.includes(dialect)) continue;
    const line = codeOf(dialect, node, inputs);
    if (line === null || (why !== null && runner.skips.includes(why))) continue;
    // oxlint-disable-next-line no-await-in-loop
    const answer = await runner.ask(call, line);
    const labels = labelsOf(said, call);
    for (const label of labels) {
      touched.set(`${dialect}: ${label}`, (touched.get(`${dialect}: ${label}`) ?? 0) + 1);
    }
    const word = wordOf(said, answer);
    if (word === null) {
      tally.agree(dialect);
      if (name === undefined) continue;
      const [tool, asked] = [runner.tool, runner.versions()];
      rows.push({ call: name, dialect, line, tool, version: asked, ...recordOf(answer) });
      continue;
    }
    const reduction = String(node.attributes?.["reduction"] ?? "none");
    tally.differ({
      peer: dialect,
      facts: {
        ...{ word, version: runner.versions(), form: version.indexForm, reduction },
        ...{ dtype: inputs[0].dtype, aspects: labels.join(", "), said: why ?? "a result" },
        ...{ self: String(node.attributes?.["use_init_val"] ?? true) },
        ...{ ...shapeFacts(call), flushed: String(isFlushed(said, answer)) },
        ...{ batched: String((node.attributes?.["batch_dims"] ?? 0) !== 0) },
      },
      what: `${name ?? ""} ${JSON.stringify(node)} ${inputs.map(print).join("; ")}: ${line}`,
      expected: output === null ? String(why) : print(output),
      got: isError(answer) ? answer.error : print(fromWire(answer.outputs[0])),
    });
  }
}

/** A result in the form of `recorded.jsonl`. */
function recordOf(answer: Answer<Outputs>): object {
  if (isError(answer)) return { error: answer.error.split("\n")[0].slice(0, 160) };
  const { dtype, shape, data, size } = fromWire(answer.outputs[0]);
  const read = reader(dtype, data);
  const values = Array.from({ length: size }, (_, p) => {
    const { [p]: text } = data;
    if (typeof text === "string") return text;
    const value = Number(read(p));
    return Object.is(value, -0) ? "-0" : Number.isFinite(value) ? value : String(value);
  });
  return { shape, values };
}

/** Replaces the recorded results of the systems that were run. */
function record(rows: readonly object[]): void {
  const keyOf = (row: object): string =>
    ["tool", "dialect", "call"].map((key) => String(Reflect.get(row, key))).join(" ");
  const before = linesOf("recorded.jsonl").map((line): object => JSON.parse(line));
  const all = new Map([...before, ...rows].map((row) => [keyOf(row), row]));
  const text = [...all.values()].map((row) => `${JSON.stringify(row)}\n`).join("");
  fs.writeFileSync(path.join(FOLDER, "recorded.jsonl"), text);
}

function pythonRunner(own: LinesPeer): Runner | string {
  const peer = openPeer(own);
  if (typeof peer === "string") return peer;
  return {
    tool: own.program.split("_")[0],
    dialects: own.dialects,
    skips: [],
    versions: () => Object.values(peer.versions)[0] ?? "unknown",
    ask: (call, line) => peer.ask(requestOf(call, line)),
    close: () => peer.close(),
  };
}

/** TensorFlow.js in this process. */
async function tfjsRunner(backend: "cpu" | "wasm"): Promise<Runner | string> {
  if (WITHOUT_TFJS !== false) return `tfjs-${backend}: ${WITHOUT_TFJS}`;
  const { version_core: version } = await tfjsOn(backend);
  return {
    tool: "@tensorflow/tfjs",
    dialects: [`tfjs-${backend}`],
    // For calls that the table says are missing, it uses another type; undefined ones may write into other memory.
    skips: ["missing", "undefined"],
    versions: () => version,
    async ask({ version: { inputs: schema }, inputs }, line) {
      const tf = await tfjsOn(backend);
      const names = ["data", "indices", "updates"];
      try {
        const own = inputs.filter((_, at) => roleOf(schema[at]) !== "axis");
        const given = own.map(({ dtype, shape, data }) => {
          const type = dtype === "int64" ? "int32" : (dtype as "float32");
          return tf.tensor(Array.from(data as Float32Array, Number), shape, type);
        });
        // The line must run as it is printed.
        // oxlint-disable-next-line no-new-func
        const y = new Function("tf", ...names, `let ${line}; return y;`)(tf, ...given);
        const output = tensor(inputs[0].dtype, [...y.shape], Array.from(y.dataSync()) as never);
        return { outputs: [toWire(output as Tensor)] };
      } catch (error) {
        return { error: String(error) };
      }
    },
    close: () => Promise.resolve(),
  };
}

async function runRunner(runner: Runner, tally: Tally, factor: number, rows: object[]) {
  const touched: Touched = new Map();
  for (const call of [...fixedCalls(), ...randomCalls(factor, runner.tool)]) {
    // oxlint-disable-next-line no-await-in-loop
    await compare(runner, call, tally, touched, rows);
  }
  for (const id of runner.dialects) {
    const { version } = DIALECTS[id];
    if (version !== runner.versions()) {
      tally.differ({
        ...{ peer: id, facts: { word: "version" }, what: "the version in the table" },
        ...{ expected: version, got: runner.versions() },
      });
    }
    const labels = factsOf(id).map(labelOf);
    const counts = labels.map((label) => `${label} ${touched.get(`${id}: ${label}`) ?? 0}`);
    tally.note(`${id} ${runner.versions()}: ${counts.join(", ")}`);
  }
  await runner.close();
}

export const dialects: Part = {
  name: "dialects",
  what: "the table of dialects, by the lines that compare prints, value for value",
  accepted: DIALECTS_ACCEPTED,
  async run(tally, factor) {
    const rows: object[] = [];
    const tfjs = [await tfjsRunner("cpu"), await tfjsRunner("wasm")];
    for (const runner of [...PEERS.map(pythonRunner), ...tfjs]) {
      if (typeof runner === "string") tally.skip(runner);
      // oxlint-disable-next-line no-await-in-loop
      else await runRunner(runner, tally, factor, rows);
    }
    if (process.env["UPDATE"] === "1") record(rows);
  },
};
