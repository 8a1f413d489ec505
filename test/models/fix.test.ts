/** `fixModel` with runtimes that run models here and have a fault on demand: what is tried, measured, chosen and written. */

import assert from "node:assert/strict";
import { test } from "node:test";
import {
  buildModel,
  fixModel,
  readModel,
  runModel,
  writeModel,
  type Cure,
  type FixOptions,
  type FixReport,
  type Model,
  type Session,
  type SessionSettings,
} from "../../src/entries/onnx.ts";
import { asTensor, tensor, type Tensor } from "../../src/core/tensor/tensor.ts";
import { equals } from "../../src/core/tensor/compare.ts";
import { cheapestOf } from "../../src/models/fix/report.ts";
import { setLimits } from "../support/limits.ts";
import {
  BOOL,
  F32,
  i32,
  i64,
  scatterElements,
  scatterND,
  takePutAgain,
} from "../support/node-models.ts";
import { assertRejected } from "../support/refusal.ts";
import { reportSentence } from "../support/sentences.ts";

type Tensors = Readonly<Record<string, Tensor>>;

interface Fault {
  /** Throws where the runtime does not load a model. */
  readonly load?: (model: Model) => void;
  /** The model that the runtime runs in place of the given one. */
  readonly takes?: (model: Model) => Model;
  /** Changes the outputs of a run. */
  readonly change?: (outputs: Record<string, Tensor>, settings: SessionSettings) => void;
}

/** A maker of sessions that run models here, but for a fault. */
const faulty =
  ({ load, takes = (model) => model, change }: Fault, reads = true) =>
  async (bytes: Uint8Array, settings?: SessionSettings): Promise<Session> => {
    const own: SessionSettings = reads ? { ...settings } : {};
    const given = readModel(bytes);
    load?.(given);
    const model = takes(given);
    return {
      async run(feeds: Readonly<Record<string, unknown>>) {
        const values = Object.entries(feeds).map(([name, one]) => [name, asTensor(one, {}, name)]);
        const outputs = runModel(model, Object.fromEntries(values) as Tensors);
        change?.(outputs, own);
        return outputs;
      },
    };
  };

const LIMITS = {
  VERIFY: { reruns: 3, rerunTime: Infinity, oneThreadRuns: 1 },
  FIX: { runs: 4, nodeTime: Infinity, modelTime: Infinity, saving: Infinity },
};

async function fixed(
  model: Model,
  feeds: Tensors,
  fault: Fault,
  options: Partial<FixOptions> = {},
): Promise<FixReport> {
  const restore = setLimits(LIMITS);
  try {
    return await fixModel(writeModel(model), feeds, { createSession: faulty(fault), ...options });
  } finally {
    restore();
  }
}

const tried = ({ cures }: FixReport): unknown[] =>
  cures.map(({ title, isRight, nodeRuns, rightRuns, whole }) => [
    ...[title, isRight, `${rightRuns} of ${nodeRuns}`, `${whole.results} in ${whole.runs}`],
  ]);

/** The outputs of the cured model, which is run here. */
const curedOutputs = ({ chosen }: FixReport, feeds: Tensors): Tensors => {
  assert.ok(chosen?.model);
  return runModel(readModel(chosen.model), feeds);
};

const x = tensor("float32", [4], [1, 2, 3, 4]);
const FEEDS = { x, i: i64([2], 1, 0) };

/** Of the updates 10 and 20 of element 0 the first stays. */
const firstStays = (outputs: Record<string, Tensor>): void => {
  if ("s" in outputs) outputs["s"] = tensor("float32", [4], [10, 2, 3, 4]);
};

test("nothing is tried where nothing is wrong", async () => {
  const report = await fixed(takePutAgain(), FEEDS, {});
  assert.deepEqual(
    [report.agrees, report.cures, report.chosen, report.faulty],
    [true, [], null, []],
  );
  assert.deepEqual([report.plain.runs, report.plain.results], [4, 1]);
});

test("a fault that a setting cures: the setting is chosen, and each cure is counted", async () => {
  const change: Fault["change"] = (outputs, { intraOpNumThreads }) => {
    if (intraOpNumThreads !== 1) firstStays(outputs);
  };
  const report = await fixed(takePutAgain(), FEEDS, { change });
  assert.equal(report.agrees, false);
  assert.deepEqual(
    report.faulty.map(({ path, op }) => [path, op]),
    [["put", "ScatterND"]],
  );
  assert.deepEqual(report.chosen?.settings, { intraOpNumThreads: 1 });
  assert.deepEqual(tried(report).slice(0, 3), [
    ["one thread", true, "4 of 4", "1 in 4"],
    ["one node at a time", false, "0 of 1", "1 in 4"],
    ["no graph optimization", false, "0 of 1", "1 in 4"],
  ]);
  assert.equal(report.chosen.model, null);
});

test("settings that createSession does not read are not reported as tried", async () => {
  const change = firstStays;
  const createSession = faulty({ change }, false);
  const report = await fixed(takePutAgain(), FEEDS, {}, { createSession });
  assert.deepEqual(report.ignored, ["one thread", "one node at a time", "no graph optimization"]);
  assert.ok(report.cures.every(({ kind }) => kind !== "setting"));
});

test("a model that fails on one thread does not run as it is on more, because the process may end", async () => {
  const asked: (number | undefined)[] = [];
  const change: Fault["change"] = (outputs, { intraOpNumThreads }) => {
    if (!("s" in outputs) && !("y" in outputs)) return;
    asked.push(intraOpNumThreads);
    throw new Error("there is no kernel");
  };
  const { plain, chosen, cures } = await fixed(takePutAgain(), FEEDS, { change });
  assert.match(plain.problem ?? "", /no kernel/);
  assert.equal(chosen, null);
  const asIs = cures.filter(({ kind }) => kind === "setting");
  assert.deepEqual(
    asIs.map(({ settings }) => settings?.intraOpNumThreads),
    [1, 1, 1],
  );
  // The last two are those of an exact session, whose parts are other models.
  assert.ok(
    asked.slice(0, -2).every((count) => count === 1),
    asked.join(),
  );
});

test("another runtime is a cure by its name, and an exact session is the last", async () => {
  const others = { cpu: faulty({}) };
  const report = await fixed(takePutAgain(), FEEDS, { change: firstStays }, { others });
  assert.equal(report.chosen?.title, "cpu");
  assert.equal(report.cures.at(-1)?.kind, "exact-session");
  const alone = await fixed(takePutAgain(), FEEDS, { change: firstStays });
  assert.equal(alone.chosen?.kind, "exact-session");
});

const UPDATES = {
  data: F32(4),
  indices: i64([3, 1], 1, 3, 1),
  updates: tensor("float32", [3], [1, 2, 4]),
};

/** Takes words that it does not know for none. */
const ignoresWords = ({ graph, ...model }: Model): Model => ({
  ...model,
  graph: {
    ...graph,
    nodes: graph.nodes.map((node) => {
      const { reduction, ...attributes } = node.attributes;
      return reduction?.value === "sum" ? { ...node, attributes } : node;
    }),
  },
});

test("an unknown reduction becomes the word that was meant, and settings are not tried", async () => {
  const model = scatterND({ opset: 16, ...UPDATES, attributes: { reduction: "sum" } });
  const report = await fixed(model, { data: x }, { takes: ignoresWords });
  assert.deepEqual(
    report.faulty.map(({ faults }) => faults.map(({ id }) => id)),
    [["unknown-reduction"]],
  );
  assert.deepEqual(tried(report), [
    ["1 node rewritten as equivalent nodes", true, "4 of 4", "1 in 4"],
  ]);
  assert.deepEqual(curedOutputs(report, { data: x })["y"].toArray(), [1, 7, 3, 6]);
});

test("a mean is not a word of ONNX, so no meaning is offered", async () => {
  const model = scatterND({ opset: 18, ...UPDATES, attributes: { reduction: "mean" } });
  const report = await fixed(model, { data: x }, {});
  assert.deepEqual([report.cures, report.chosen], [[], null]);
  const { uncured } = report.faulty[0];
  assert.ok(uncured !== null);
  reportSentence("uncured", uncured);
});

test("max at opset 16 is converted to opset 18 with the rest of the model", async () => {
  const model = scatterElements({
    opset: 16,
    data: F32(4),
    indices: i64([3], 1, 3, 1),
    updates: tensor("float32", [3], [1, 9, 7]),
    attributes: { reduction: "max" },
  });
  const report = await fixed(
    model,
    { data: x },
    { takes: (given) => ({ ...given, opsets: { "ai.onnx": 18 } }) },
  );
  assert.deepEqual(curedOutputs(report, { data: x })["y"].toArray(), [1, 7, 3, 9]);
  assert.equal(readModel(report.chosen?.model ?? new Uint8Array()).opsets["ai.onnx"], 18);
  assert.ok(report.chosen !== null && report.chosen.notes.length > 0);
  for (const note of report.chosen.notes) reportSentence("note", note);
});

/** Does not load ScatterND with other indices than int64. */
const wantsInt64 = ({ graph }: Model): void => {
  const narrow = graph.constants.some(({ name, dtype }) => name === "indices" && dtype !== "int64");
  const isUsed = graph.nodes.some(
    ({ op, inputs }) => op === "ScatterND" && inputs[1] === "indices",
  );
  const given = graph.inputs.some(
    ({ name, type }) => name === "indices" && type?.dtype !== "int64",
  );
  if (isUsed && (narrow || given))
    throw new Error("Type 'tensor(int32)' of input parameter is invalid");
};

test("int32 indices of ScatterND are cast", async () => {
  const model = scatterND({ ...UPDATES, indices: i32([3, 1], 1, -1, 1) });
  const report = await fixed(model, { data: x }, { load: wantsInt64 });
  assert.deepEqual(curedOutputs(report, { data: x })["y"].toArray(), [1, 4, 3, 2]);
});

/** The number of the data type uint8. */
const UINT8 = 2;

/** Has no kernel for ScatterND of booleans: it loads one only behind a Cast to uint8. */
const wantsNumbers = ({ graph }: Model): void => {
  const casts = graph.nodes.filter(
    ({ op, attributes }) => op === "Cast" && Number(attributes["to"].value) === UINT8,
  );
  const makers = new Set(casts.flatMap(({ outputs }) => outputs));
  const isBool = graph.nodes.some(({ op, inputs }) => op === "ScatterND" && !makers.has(inputs[0]));
  if (isBool) throw new Error("bool data type is not supported");
};

const truths = tensor("bool", [4], [true, false, false, false]);

test("max of booleans is max of uint8 where the runtime has no kernel", async () => {
  const model = scatterND({
    data: BOOL(4),
    indices: i64([3, 1], 1, 3, 1),
    updates: tensor("bool", [3], [false, true, true]),
    attributes: { reduction: "max" },
  });
  const report = await fixed(model, { data: truths }, { load: wantsNumbers });
  assert.equal(report.chosen?.kind, "model");
  const { y } = curedOutputs(report, { data: truths });
  assert.deepEqual(y.toArray(), [true, true, false, true]);
});

test("a node behind one that fails is found and cured with it", async () => {
  const max = (data: string, at: string, y: string) =>
    ({
      ...{ op: "ScatterND", name: y, inputs: [data, at, "yes"], outputs: [y] },
      attributes: { reduction: "max" },
    }) as const;
  const model = buildModel({
    opsets: { "": 18 },
    inputs: { data: BOOL(4) },
    constants: {
      first: i64([1, 1], 1),
      second: i64([1, 1], 2),
      yes: tensor("bool", [1], [true]),
    },
    nodes: [max("data", "first", "a"), max("a", "second", "y")],
    outputs: { y: null },
  });
  const report = await fixed(model, { data: truths }, { load: wantsNumbers });
  assert.deepEqual(
    report.faulty.map(({ path, faults }) => [path, ...faults.map(({ id }) => id)]),
    [
      ["a", "bool-max"],
      ["y", "bool-max"],
    ],
  );
  assert.equal(report.chosen?.title, "2 nodes rewritten as equivalent nodes");
  const { y } = curedOutputs(report, { data: truths });
  assert.deepEqual(y.toArray(), [true, true, true, false]);
});

for (const [newest, ir] of [
  [21, 10],
  [24, 12],
] as const) {
  test(`a model of a newer opset is converted to ${newest}, the newest that the runtime loads`, async () => {
    const model = buildModel({
      opsets: { "": 28 },
      inputs: { data: F32(4) },
      constants: { indices: i64([1, 1], 2), updates: tensor("float32", [1], [9]) },
      nodes: [{ op: "ScatterND", inputs: ["data", "indices", "updates"], outputs: ["y"] }],
      outputs: { y: null },
    });
    const load = ({ opsets }: Model): void => {
      if (opsets["ai.onnx"] > newest) throw new Error("Opset 28 is under development");
    };
    const report = await fixed(model, { data: x }, { load });
    assert.equal(report.fault?.id, "newer-opset");
    assert.equal(report.chosen?.title, `the model at opset ${newest} and IR version ${ir}`);
    assert.ok(equals(curedOutputs(report, { data: x })["y"], tensor("float32", [4], [1, 2, 9, 4])));
  });
}

const fails = (): never => {
  throw new Error("not in this kernel");
};

// prettier-ignore
const OTHER_REASONS: readonly (readonly [title: string, fault: Fault])[] = [
  ["the model loads, and its run fails", { change: fails }],
  ["a model of one other node has the same versions and loads",
    { load: ({ graph }) => graph.nodes.some(({ op }) => op === "ScatterND") && fails() }],
];

for (const [title, fault] of OTHER_REASONS) {
  test(`the opset is not the fault: ${title}`, async () => {
    const report = await fixed(
      scatterND({
        opset: 18,
        data: F32(4),
        indices: i64([1, 1], 1),
        updates: tensor("float32", [1], [9]),
      }),
      { data: x },
      fault,
    );
    assert.deepEqual([report.agrees, report.fault], [false, null]);
  });
}

test("options that are wrong are refused", async () => {
  for (const options of [
    null,
    {},
    { createSession: 1 },
    { createSession: faulty({}), onProgress: 1 },
    { createSession: faulty({}), others: { a: 1 } },
  ]) {
    // oxlint-disable-next-line no-await-in-loop
    await assertRejected("attribute", {}, () =>
      fixModel(writeModel(takePutAgain()), FEEDS, options as never),
    );
  }
});

test("progress tells what is being measured", async () => {
  const said = new Set<string>();
  const onProgress = ({ what }: { what: string }): void => void said.add(what);
  await fixed(takePutAgain(), FEEDS, { change: firstStays }, { onProgress });
  for (const one of [
    "the model as it is",
    "one thread: put alone",
    "an exact session: the whole model",
  ])
    assert.ok(said.has(one), one);
});

// prettier-ignore
const CHOICES: readonly (readonly [title: string, cures: readonly (readonly [Cure["kind"], number, isRight?: false])[], chosen: number | null])[] = [
  ["nothing", [], null],
  ["none that is right", [["setting", 1, false], ["model", 1, false]], null],
  ["the first", [["setting", 10], ["model", 10], ["exact-session", 10]], 0],
  ["a model that saves a fifth", [["setting", 10], ["model", 7.9]], 1],
  ["the first of two settings", [["setting", 10], ["setting", 1]], 0],
  ["a setting that is a little slower", [["setting", 10], ["model", 8.5]], 0],
  ["a setting that is half a millisecond slower", [["setting", 0.9], ["model", 0.2]], 0],
  ["an exact session that saves half", [["model", 10], ["exact-session", 4.9]], 1],
  ["a model that is not twice as slow", [["model", 10], ["exact-session", 5.1]], 0],
  ["the only one that is right", [["setting", 1, false], ["model", 9, false], ["exact-session", 90]], 2],
];

for (const [title, cures, chosen] of CHOICES) {
  test(`chosen of ${cures.length} cures: ${title}`, () => {
    const all = cures.map(([kind, time, isRight = true]): Cure => ({
      ...{
        kind,
        title: "",
        settings: null,
        model: null,
        nodes: null,
        notes: [],
        nodeRuns: 0,
        rightRuns: 0,
      },
      ...{
        whole: { runs: 1, results: 1, time, problem: null },
        isExpected: null,
        ratio: null,
        problem: null,
        isRight,
      },
    }));
    const restore = setLimits({ FIX: { saving: 1 } });
    try {
      assert.equal(cheapestOf(all), chosen === null ? null : all[chosen]);
    } finally {
      restore();
    }
  });
}
