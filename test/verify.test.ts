/** Capturing and verifying, with a runtime that runs models here and makes mistakes on purpose. */

import assert from "node:assert/strict";
import { test } from "node:test";
import {
  buildModel,
  captureCalls,
  readModel,
  runModel,
  runNode,
  verifyModel,
  writeModel,
  type CapturedCall,
  type Graph,
  type Model,
  type Session,
  type VerifiedNode,
} from "../src/onnx/index.ts";
import { asTensor, equals, tensor, type Tensor } from "../src/tensor/tensor.ts";
import { i64, takePutAgain } from "./support/node-models.ts";
import { dim, tensorType, valueInfo } from "./support/onnx-parts.ts";
import {
  functionsFile,
  loopFile,
  placesFile,
  scanFile,
  shadowsFile,
} from "./support/place-models.ts";

interface Runtime {
  readonly createSession: (bytes: Uint8Array) => Promise<Session>;
  /** The models that it was given. */
  readonly models: Model[];
}

/** @param change of the outputs of a run, by which a runtime is wrong */
function makeRuntime(
  change: (outputs: Record<string, Tensor>, count: number) => void = () => {},
): Runtime {
  const models: Model[] = [];
  const createSession = async (bytes: Uint8Array): Promise<Session> => {
    const model = readModel(bytes);
    models.push(model);
    return {
      async run(feeds: Readonly<Record<string, unknown>>) {
        const own = Object.entries(feeds).map(([name, value]) => [name, asTensor(value, {}, name)]);
        const outputs = runModel(model, Object.fromEntries(own) as Record<string, Tensor>);
        change(outputs, models.length);
        return Object.fromEntries(
          Object.entries(outputs).map(([name, { dtype, shape, data }]) => [
            name,
            { type: dtype, dims: shape, data },
          ]),
        );
      },
    };
  };
  return { createSession, models };
}

async function listed<T>(items: AsyncIterable<T>): Promise<T[]> {
  const list: T[] = [];
  for await (const item of items) list.push(item);
  return list;
}

const x = tensor("float32", [4], [1, 2, 3, 4]);
const GATHERED = takePutAgain();
const BYTES = writeModel(GATHERED);

test("each node comes with its inputs and outputs, of one session", async () => {
  const runtime = makeRuntime();
  const calls = await listed(captureCalls(BYTES, { x, i: i64([2], 1, 0) }, runtime));
  assert.deepEqual(
    calls.map(({ path }) => path),
    ["take", "put", "again"],
  );
  assert.equal(runtime.models.length, 1);
  const [take, , again] = calls;
  assert.deepEqual(take.outputs?.["t"].toArray(), [2, 1]);
  assert.deepEqual(again.inputs["t"].toArray(), [2, 1]);
  assert.deepEqual(again.outputs?.["y"].toArray(), [1, 2]);
  assert.deepEqual(
    calls.map(({ problem }) => problem),
    [null, null, null],
  );
});

test("the model is cut before a node that fails, whose inputs are known", async () => {
  // again takes element 3 of the 2 that take makes.
  const feeds = { x, i: i64([2], 1, 3) };
  const calls = await listed(captureCalls(BYTES, feeds, makeRuntime()));
  const [take, put, again] = calls;
  assert.deepEqual([take.problem, put.problem], [null, null]);
  assert.deepEqual(take.outputs?.["t"].toArray(), [2, 4]);
  assert.deepEqual(again.inputs["t"].toArray(), [2, 4]);
  assert.equal(again.outputs, null);
  assert.match(again.problem ?? "", /indices\[1\] is 3/);
  const { nodes, agrees } = await verifyModel(BYTES, feeds, makeRuntime());
  assert.deepEqual(
    nodes.map(({ verdict }) => verdict),
    ["equal", "equal", "wrong"],
  );
  assert.match(
    nodes[2].sentence,
    /^indices\[1\] is 3, .*; the runtime says: Gather-13: indices\[1\] is 3/,
  );
  assert.equal(agrees, false);
});

test("an input that is needed and has no tensor is named", async () => {
  await assert.rejects(verifyModel(BYTES, { x }, makeRuntime()), {
    code: "shape-mismatch",
    message: /there is no tensor for the input "i" of the model/,
  });
});

test("only what is needed is run, and only what is needed is fed", async () => {
  const runtime = makeRuntime();
  const options = { ...runtime, node: "put" };
  const [call] = await listed(captureCalls(BYTES, { x }, options));
  assert.deepEqual(call.outputs?.["s"].toArray(), [20, 2, 3, 4]);
  assert.deepEqual(
    runtime.models.map(({ graph }) => graph.nodes.map(({ name }) => name)),
    [["put"]],
  );
});

const yes = tensor("bool", [], true);
const PLACES = placesFile();
const wide = tensor("float32", [4, 2], [1, 2, 3, 4, 5, 6, 7, 8]);

test("nodes in the branch that is taken have the inputs that they see", async () => {
  const model = readModel(PLACES);
  const feeds = Object.fromEntries(
    model.graph.inputs.map(({ name, type }) => [
      name,
      type?.dtype === "bool" ? yes : type?.dtype === "int64" ? tensor("int64", [], 1) : wide,
    ]),
  );
  const calls = await listed(captureCalls(PLACES, feeds, makeRuntime()));
  const byPath = new Map(calls.map((one) => [one.path, one]));
  const taken = [...byPath].filter(([path]) => path.includes("then_branch"));
  assert.equal(taken.length, 4);
  for (const [path, { call, outputs, problem }] of taken) {
    assert.equal(problem, null, path);
    assert.ok(call !== null && outputs !== null);
    const [[name, exact]] = Object.entries(runNode(model, path, { x: wide }));
    assert.ok(equals(outputs[name], exact), path);
  }
  const other = byPath.get('If "choose" / else_branch / take') as CapturedCall;
  assert.deepEqual([other.call, other.isRun], [null, false]);
  assert.match(
    other.problem ?? "",
    /in the else_branch of node "choose", and the then_branch was taken/,
  );
  const called = byPath.get("function d.F / first") as CapturedCall;
  assert.deepEqual([called.problem, called.call?.node.opset], [null, 13]);
});

test("a node in a function has the inputs and attributes of the first call that runs", async () => {
  const feeds = { x: tensor("float32", [2, 3], [1, 2, 3, 4, 5, 6]), c: yes };
  const taken = async (c: Tensor): Promise<Record<string, unknown>> => {
    const calls = await listed(captureCalls(functionsFile(), { ...feeds, c }, makeRuntime()));
    return Object.fromEntries(
      calls.map(({ path, call, outputs, problem }) => [
        path,
        problem ?? [call?.node.attributes, Object.values(outputs ?? {})[0].toArray()],
      ]),
    );
  };
  const others = {
    // The functions of a runtime that runs models here cannot be called.
    "function d.Twice / again": /operators that are not run here: d\.Column/,
    "function d.Alone / alone": /^it is in the function "Alone", which no node calls$/,
    "function d.Never / never": /^it is in the function "Never", whose calls do not run$/,
  };
  for (const [c, attributes, values] of [
    [yes, { axis: 1 }, [[[2]], [[5]]]],
    [tensor("bool", [], false), { axis: 0 }, [[[4, 5, 6]]]],
  ] as const) {
    const {
      "function d.Take / take": take,
      "function d.Column / take": column,
      ...rest
    } = await taken(c);
    assert.deepEqual(take, [attributes, values]);
    assert.deepEqual(column, [{ axis: 1 }, [[[2]], [[5]]]]);
    assert.deepEqual(Object.keys(rest), Object.keys(others));
    for (const [path, says] of Object.entries(others)) assert.match(String(rest[path]), says);
  }
});

test("a node in a Scan has the states and slices of the iteration that counts", async () => {
  const feeds = {
    s: tensor("float32", [2], [1, 2]),
    x: tensor("float32", [2, 3], [1, 2, 3, 4, 5, 6]),
  };
  const at = async (iteration: number, version = 18): Promise<unknown[]> => {
    const options = { ...makeRuntime(), iteration };
    const calls = await listed(captureCalls(scanFile(version), feeds, options));
    return calls.map(({ problem, inputs }) => problem ?? Object.values(inputs)[0].toArray());
  };
  assert.deepEqual(await at(0), [
    [1, 2],
    [3, 6],
  ]);
  assert.deepEqual(await at(1), [
    [2, 1],
    [2, 5],
  ]);
  assert.match(String((await at(3))[0]), /in node "scan", which has no iteration 3$/);
  assert.match(String((await at(0, 8))[1]), /bodies of Scan are not followed$/);
});

test("a node in a loop has the inputs of the iteration that counts", async () => {
  const feeds = { n: tensor("int64", [], 2n), c: yes, x: tensor("float32", [3], [1, 2, 3]) };
  const turned = async (iteration: number, c = yes): Promise<unknown> => {
    const options = { ...makeRuntime(), iteration };
    const [one] = await listed(captureCalls(loopFile(), { ...feeds, c }, options));
    return one.problem ?? [one.inputs["state"].toArray(), one.outputs?.["turned"].toArray()];
  };
  assert.deepEqual(await turned(0), [
    [1, 2, 3],
    [2, 3, 1],
  ]);
  assert.deepEqual(await turned(1), [
    [2, 3, 1],
    [3, 1, 2],
  ]);
  const none = 'it is in node "loop", which has no iteration';
  assert.equal(await turned(2), `${none} 2`);
  assert.equal(await turned(0, tensor("bool", [], false)), `${none} 0`);
});

test("a runtime that is wrong is found by node, element and verdict", async () => {
  const feeds = { x, i: i64([2], 1, 0) };
  const wrong = makeRuntime((outputs) => {
    if ("s" in outputs) outputs["s"] = tensor("float32", [4], [10, 2, 3, 4]);
  });
  const { nodes, agrees } = await verifyModel(BYTES, feeds, wrong);
  const [, put] = nodes;
  assert.deepEqual(
    nodes.map(({ verdict }) => verdict),
    ["equal", "differs", "equal"],
  );
  assert.deepEqual(put.difference, { output: "s", at: [0] });
  assert.equal(put.sentence, "s[0] is 10, and not 20");
  assert.deepEqual([put.op, put.version, agrees], ["ScatterND", 13, false]);
});

// prettier-ignore
const VERDICTS: readonly (readonly [value: number, tolerance: number, verdict: string])[] = [
  [20, 0, "equal"], [20.00001, 0, "differs"], [20.00001, 1e-5, "near"], [20.1, 1e-5, "differs"],
  [Infinity, 1e-5, "differs"], [-Infinity, 1, "differs"],
];

for (const [value, tolerance, verdict] of VERDICTS) {
  test(`${value} for 20 with tolerance ${tolerance} is ${verdict}`, async () => {
    const runtime = makeRuntime((outputs) => {
      if ("s" in outputs) outputs["s"] = tensor("float32", [4], [value, 2, 3, 4]);
    });
    const report = await verifyModel(BYTES, { x }, { ...runtime, node: "put", tolerance });
    assert.equal(report.nodes[0].verdict, verdict);
    assert.equal(report.agrees, verdict === "equal" || verdict === "near");
  });
}

test("other NaN and other signs of zero are told apart", async () => {
  const bits = (value: number): Tensor =>
    tensor(
      "float32",
      [4],
      new Float32Array(new Uint32Array([value, 0x40000000, 0x40400000, 0x40800000]).buffer),
    );
  const of = async (u: number, made: number): Promise<string> => {
    const model = writeModel({
      ...GATHERED,
      graph: {
        ...GATHERED.graph,
        constants: GATHERED.graph.constants.map((one) =>
          one.name === "u" ? { ...one, read: () => tensor("float32", [2], [0, u]) } : one,
        ),
      },
    });
    const runtime = makeRuntime((outputs) => {
      if ("s" in outputs) outputs["s"] = bits(made);
    });
    return (await verifyModel(model, { x }, { ...runtime, node: "put" })).nodes[0].verdict;
  };
  assert.equal(await of(0, 0x80000000), "nan-or-zero");
  assert.equal(await of(NaN, 0x7fc00001), "nan-or-zero");
  assert.equal(await of(NaN, 0x40000000), "differs");
});

test("a runtime that does not agree with itself is not reproducible", async () => {
  const runtime = makeRuntime((outputs, count) => {
    if (count % 2 === 0 && "s" in outputs) outputs["s"] = tensor("float32", [4], [10, 2, 3, 4]);
  });
  const feeds = { x, i: i64([2], 1, 0) };
  const once = await verifyModel(BYTES, feeds, runtime);
  assert.deepEqual([once.agrees, runtime.models.length], [true, 1]);
  const { nodes, agrees } = await verifyModel(BYTES, feeds, { ...runtime, runs: 3 });
  assert.deepEqual(
    nodes.map(({ isReproducible }) => isReproducible),
    [true, false, true],
  );
  assert.equal(agrees, false);
});

test("later runs are held against the first, in other sessions too", async () => {
  const feeds = { x, i: i64([2], 1, 0) };
  const right = makeRuntime();
  const wrong = makeRuntime((outputs) => {
    if ("s" in outputs) outputs["s"] = tensor("float32", [4], [10, 2, 3, 4]);
  });
  const told: unknown[] = [];
  const { nodes, agrees } = await verifyModel(BYTES, feeds, {
    ...right,
    runs: 2,
    others: { "8 threads": wrong.createSession },
    onProgress: (progress) => told.push(progress),
  });
  assert.deepEqual(
    nodes.map(({ otherRuns }) => otherRuns),
    [[], ["8 threads, run 1", "8 threads, run 2"], []],
  );
  assert.deepEqual([agrees, nodes[1].verdict], [false, "differs"]);
  assert.equal(told.length, 4 * nodes.length);
  assert.deepEqual(
    [told[0], told.at(-1)],
    [
      { run: 1, runs: 4, nodes: 1 },
      { run: 4, runs: 4, nodes: 3 },
    ],
  );
});

test("a node that gets other inputs from one that changes is not blamed, but is compared with them", async () => {
  const feeds = { x, i: i64([2], 1, 0) };
  // In the second run `t` is another, and `y` is first right for it, then wrong.
  const of = async (y: readonly number[]): Promise<readonly VerifiedNode[]> => {
    const runtime = makeRuntime((outputs, count) => {
      if (count === 1) return;
      outputs["t"] = tensor("float32", [2], [7, 8]);
      outputs["y"] = tensor("float32", [2], y);
    });
    return (await verifyModel(BYTES, feeds, { ...runtime, runs: 2 })).nodes;
  };
  const verdicts = (nodes: readonly VerifiedNode[]): unknown[] =>
    nodes.map(({ verdict, isReproducible }) => [verdict, isReproducible]);
  assert.deepEqual(verdicts(await of([8, 7])), [
    ["differs", false],
    ["equal", true],
    ["equal", true],
  ]);
  assert.deepEqual(verdicts(await of([8, 8])), [
    ["differs", false],
    ["equal", true],
    ["differs", true],
  ]);
});

test("a wrong node has its reason and its call", async () => {
  const runtime = makeRuntime((outputs) => {
    if ("s" in outputs) outputs["s"] = tensor("float32", [4], [10, 2, 3, 4]);
  });
  const { nodes } = await verifyModel(BYTES, { x }, { ...runtime, node: "put" });
  const [{ diagnoses, call }] = nodes;
  assert.deepEqual(
    diagnoses.map(({ id, cells }) => [id, cells]),
    [["first-wins", { explained: 1, differing: 1 }]],
  );
  assert.deepEqual([call?.node.op, call?.inputs.length], ["ScatterND", 3]);
});

test("a result where the call is an error has its reason too", async () => {
  // again takes element 3 of the 2 that take makes; a runtime clamps.
  const clamping = async (bytes: Uint8Array): Promise<Session> => {
    const session = await makeRuntime().createSession(bytes);
    return {
      async run(feeds: Readonly<Record<string, unknown>>) {
        const [t, y] = [
          [2, 4],
          [4, 4],
        ].map((values) => tensor("float32", [2], values));
        return { ...(await session.run({ ...feeds, i: i64([2], 1, 0) } as never)), t, y };
      },
    };
  };
  const options = { createSession: clamping };
  const { nodes } = await verifyModel(BYTES, { x, i: i64([2], 1, 3) }, options);
  const [, , again] = nodes;
  assert.deepEqual([again.verdict, again.diagnoses[0].id], ["wrong", "out-of-range-clipped"]);
  assert.match(again.sentence, /^indices\[1\] is 3, .*; the runtime has a result$/);
});

test("a node of an opset without its operator is wrong, and the others are compared", async () => {
  const model = writeModel({ ...GATHERED, opsets: { "ai.onnx": 10 } });
  // This runtime does not look at the opset.
  const { createSession } = makeRuntime();
  const lenient = (bytes: Uint8Array): Promise<Session> =>
    createSession(writeModel({ ...readModel(bytes), opsets: { "ai.onnx": 13 } }));
  const feeds = { x, i: i64([2], 1, 0) };
  const { nodes } = await verifyModel(model, feeds, { createSession: lenient });
  assert.deepEqual(
    nodes.map(({ verdict }) => verdict),
    ["equal", "wrong", "equal"],
  );
  assert.match(nodes[1].sentence, /does not have it yet; .*; the runtime has a result$/);
});

const SHADOWED = { n: tensor("int64", [], 2n), c: yes, x };

test("a body's own names are not those of the graph around it", async () => {
  const calls = await listed(captureCalls(shadowsFile(), SHADOWED, makeRuntime()));
  const of = (path: string): CapturedCall => calls.find((one) => one.path === path) as CapturedCall;
  const take = of('Loop "loop" / body / take');
  assert.deepEqual([take.inputs["n"].toArray(), take.problem], [[1n, 0n, 3n, 2n], null]);
  const branch = of('If "if" / then_branch / take');
  assert.deepEqual([branch.inputs["c"].toArray(), branch.problem], [[2n], null]);
  // The value "late" of the branch is not what fails in the graph around it.
  assert.deepEqual(branch.outputs?.["late"].toArray(), [3]);
});

test("the number of an iteration has the shape that the body gives it", async () => {
  const scalar = shadowsFile();
  const list = shadowsFile(valueInfo("at", tensorType(7, dim(1))));
  for (const [bytes, shape] of [
    [scalar, []],
    [list, [1]],
  ] as const) {
    const options = { ...makeRuntime(), node: 'Loop "loop" / body / nth' };
    const [{ inputs }] = await listed(captureCalls(bytes, SHADOWED, options));
    assert.deepEqual(inputs["at"].shape, shape);
  }
});

test("what a runtime cannot do in a part that is not looked at is a problem of the model", async () => {
  const { createSession } = makeRuntime();
  const failing = async (bytes: Uint8Array): Promise<Session> => {
    const isWhole = readModel(bytes).graph.nodes.some(({ op }) => op === "Loop");
    if (isWhole) throw new Error("idx=4 must be within the bounds");
    return createSession(bytes);
  };
  const feeds = { n: tensor("int64", [], 2n), c: yes, x: tensor("float32", [3], [1, 2, 3]) };
  const report = await verifyModel(loopFile(), feeds, { createSession: failing });
  assert.deepEqual(
    [report.nodes.map(({ verdict }) => verdict), report.problem, report.agrees],
    [["equal"], "idx=4 must be within the bounds", false],
  );
});

test("a node that first runs in a later run is compared then", async () => {
  let count = 0;
  const { createSession } = makeRuntime();
  // The condition changes from run to run, as of random numbers.
  const changing = async (bytes: Uint8Array): Promise<Session> => {
    const session = await createSession(bytes);
    return {
      async run(feeds: Readonly<Record<string, unknown>>) {
        const outputs: Record<string, unknown> = { ...(await session.run(feeds as never)) };
        if ("late" in outputs && count++ > 0) outputs["late"] = tensor("float32", [1], [777]);
        return outputs;
      },
    };
  };
  const options = { createSession: changing, node: 'If "if" / then_branch / take', runs: 2 };
  const { nodes } = await verifyModel(shadowsFile(), SHADOWED, options);
  assert.deepEqual([nodes[0].verdict, nodes[0].isReproducible], ["differs", false]);
});

test("only scatters and gathers are captured, and only inputs are fed", async () => {
  const relu = { op: "Relu", name: "relu", inputs: ["t"], outputs: ["r"] };
  const model = writeModel({
    ...GATHERED,
    graph: {
      ...GATHERED.graph,
      nodes: [...GATHERED.graph.nodes, { ...relu, domain: "ai.onnx", attributes: {} }],
    },
  });
  const feeds = { x, i: i64([2], 1, 0) };
  await assert.rejects(verifyModel(model, feeds, { ...makeRuntime(), node: "relu" }), {
    code: "unsupported-model",
    message:
      /node "relu" is Relu, which is no scatter and no gather; the model has "take", "put", "again"/,
  });
  await assert.rejects(verifyModel(BYTES, { ...feeds, t: x }, makeRuntime()), {
    code: "shape-mismatch",
    message: /the model has no input "t"; it has "x", "i"/,
  });
});

/** The body of the only node that has one. */
function bodyOf({ graph }: Model): Graph {
  const found = graph.nodes.flatMap(({ attributes }) =>
    Object.values(attributes).flatMap((one) => (one.type === "other" ? (one.graphs ?? []) : [])),
  );
  return found[0];
}

// prettier-ignore
const ODD_BODIES: readonly (readonly [title: string, make: () => Uint8Array, edit: (model: Model) => void, says: RegExp])[] = [
  ["a Loop's body without inputs", loopFile, (model) => void (bodyOf(model).inputs = []),
    /the body of node "loop" must have 2 inputs at least/],
  ["a Loop's body with one input", loopFile, (model) => void (bodyOf(model).inputs.length = 1),
    /the body of node "loop" must have 2 inputs at least/],
  ["a Scan of nothing", () => scanFile(), (model) => void (model.graph.nodes[0].inputs = ["", ""]),
    /node "scan" has no value to scan/],
];

for (const [title, make, edit, says] of ODD_BODIES) {
  test(`${title} is an error in a sentence`, async () => {
    const model = readModel(make());
    edit(model);
    const given = { n: tensor("int64", [], 2n), c: yes, x: tensor("float32", [3], [1, 2, 3]) };
    const isLoop = model.graph.inputs.some(({ name }) => name === "n");
    const feeds = isLoop ? given : {};
    await assert.rejects(listed(captureCalls(writeModel(model), feeds, makeRuntime())), {
      code: "malformed-file",
      message: says,
    });
  });
}

test("a failure is found in few sessions, and all that does not depend on it is known", async () => {
  // A chain of 64 gathers, of which the 40th fails, and 20 nodes beside it.
  const nodes = Array.from({ length: 64 }, (_, at) => ({
    op: "Gather",
    name: `n${at}`,
    inputs: [at === 0 ? "x" : `v${at - 1}`, at === 40 ? "far" : "near"],
    outputs: [`v${at}`],
  }));
  const beside = Array.from({ length: 20 }, (_, at) => ({
    op: "Gather",
    name: `b${at}`,
    inputs: ["x", "near"],
    outputs: [`w${at}`],
  }));
  const model = buildModel({
    opsets: { "ai.onnx": 13 },
    inputs: { x: { dtype: "float32", shape: [4] } },
    constants: { near: i64([4], 1, 2, 3, 0), far: i64([4], 0, 0, 0, 4) },
    nodes: [...nodes, ...beside],
    outputs: { v63: null },
  });
  const runtime = makeRuntime();
  const calls = await listed(captureCalls(writeModel(model), { x }, runtime));
  assert.deepEqual(
    calls.filter(({ outputs }) => outputs === null).map(({ path }) => path),
    nodes.slice(40).map(({ name }) => name),
  );
  assert.ok(runtime.models.length <= 2 * Math.log2(84), `${runtime.models.length} sessions`);
});

/** A model of gathers beside each other, all behind one node of another operator. */
const behind = (count: number): Model =>
  buildModel({
    opsets: { "ai.onnx": 13 },
    inputs: { x: { dtype: "float32", shape: [4] } },
    constants: { near: i64([4], 1, 2, 3, 0), far: i64([1], 9) },
    nodes: [
      { op: "Gather", name: "reshape", inputs: ["x", "far"], outputs: ["bad"] },
      ...Array.from({ length: count }, (_, at) => [
        { op: "Identity", name: `i${at}`, inputs: ["bad"], outputs: [`v${at}`] },
        { op: "Gather", name: `g${at}`, inputs: [`v${at}`, "near"], outputs: [`w${at}`] },
      ]).flat(),
      { op: "Gather", name: "beside", inputs: ["x", "near"], outputs: ["y"] },
    ],
    outputs: { y: null },
  });

test("one failing node before many takes few sessions, and so does a runtime that loads nothing", async () => {
  const runtime = makeRuntime();
  const calls = await listed(captureCalls(writeModel(behind(100)), { x }, runtime));
  const done = calls.filter(({ outputs }) => outputs !== null).map(({ path }) => path);
  assert.deepEqual(done, ["beside"]);
  assert.ok(runtime.models.length <= 12, `${runtime.models.length} sessions`);
  let tries = 0;
  const createSession = (): Promise<Session> => {
    tries++;
    return Promise.reject(new Error("IR 99"));
  };
  const failed = await listed(captureCalls(writeModel(behind(100)), { x }, { createSession }));
  assert.deepEqual(new Set(failed.map(({ problem }) => problem)), new Set(["IR 99"]));
  assert.ok(tries <= 20, `${tries} sessions`);
});

test("a loop is run in one session, whichever iteration is asked for, and branches in one each", async () => {
  const feeds = { n: tensor("int64", [], 50n), c: yes, x: tensor("float32", [3], [1, 2, 3]) };
  const loop = makeRuntime();
  await listed(captureCalls(loopFile(), feeds, { ...loop, iteration: 40 }));
  // The steps to the iteration, and the node in it.
  assert.equal(loop.models.length, 2);
  const places = makeRuntime();
  const given = { x: wide, c: yes, n: tensor("int64", [], 1) };
  await listed(captureCalls(PLACES, given, places));
  const ran = new Set(places.models.map(({ graph }) => graph.nodes.map(({ name }) => name).join()));
  assert.equal(ran.size, places.models.length, "no graph is run twice");
});

test("two captures at once do not disturb each other", async () => {
  const runs = [
    [1, 0],
    [3, 2],
    [2, 1],
  ].map(async (indices) => {
    const calls = captureCalls(BYTES, { x, i: i64([2], ...indices) }, makeRuntime());
    const [take] = await listed(calls);
    return take.outputs?.["t"].toArray();
  });
  assert.deepEqual(await Promise.all(runs), [
    [2, 1],
    [4, 3],
    [3, 2],
  ]);
});

// prettier-ignore
const REFUSED: readonly (readonly [options: object, says: RegExp])[] = [
  [{}, /createSession must be a function/],
  [{ createSession: 5 }, /createSession must be a function/],
  [{ ...makeRuntime(), runs: 0 }, /runs must be a whole number from 1 to 10000, got 0/],
  [{ ...makeRuntime(), tolerance: -1 }, /tolerance must be 0 or more, got -1/],
  [{ ...makeRuntime(), iteration: 1.5 }, /iteration must be 0 or more, got 1\.5/],
  [{ ...makeRuntime(), others: 5 }, /others must be an object, got 5/],
  [{ ...makeRuntime(), others: { fast: 5 } }, /createSession must be a function/],
  [{ ...makeRuntime(), onProgress: 5 }, /onProgress must be a function, got 5/],
];

for (const [options, says] of REFUSED) {
  test(`refused: ${says.source}`, async () => {
    await assert.rejects(verifyModel(BYTES, { x }, options as never), {
      code: "attribute",
      message: says,
    });
  });
}

test("a runtime that cannot make a session is a problem of every node", async () => {
  const createSession = (): Promise<Session> => Promise.reject(new Error("no such opset"));
  const { nodes } = await verifyModel(BYTES, { x, i: i64([1], 0) }, { createSession });
  assert.deepEqual(
    nodes.map(({ verdict }) => verdict),
    ["failed", "failed", "failed"],
  );
  assert.equal(nodes[1].sentence, "the runtime says: no such opset");
  assert.equal(
    nodes[2].sentence,
    "its inputs are not known, because the runtime says: no such opset",
  );
});
