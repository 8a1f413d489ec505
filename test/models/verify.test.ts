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
} from "../../src/entries/onnx.ts";
import { asTensor, tensor, zeros, type Tensor } from "../../src/core/tensor/tensor.ts";
import { equals } from "../../src/core/tensor/compare.ts";
import { neededNodes } from "../../src/models/split/part.ts";
import { i64, takePutAgain } from "../support/node-models.ts";
import { dim, tensorType, valueInfo } from "../support/onnx-parts.ts";
import {
  branchInFunctionFile,
  failingBranchFile,
  functionsFile,
  loopFile,
  loopInBranchFile,
  placesFile,
  scanFile,
  shadowsFile,
  twoCallsFile,
} from "../support/place-models.ts";
import { assertRejected } from "../support/refusal.ts";
import { runtimeOf } from "../support/runtime-of.ts";
import { reportSentence } from "../support/sentences.ts";

/** Asserts that a call was not captured, or not as a whole: it has a sentence in place of its values. */
function assertProblem(problem: unknown): void {
  assert.ok(typeof problem === "string", String(problem));
  reportSentence("problem", problem);
}

interface Runtime {
  readonly createSession: (bytes: Uint8Array) => Promise<Session>;
  /** The models that it was given. */
  readonly models: Model[];
}

/** @param change of the outputs of a run, by which a runtime is wrong; `count` numbers sessions */
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
  return runtimeOf(createSession, { models });
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
  assertProblem(again.problem);
  const { nodes, agrees } = await verifyModel(BYTES, feeds, makeRuntime());
  assert.deepEqual(
    nodes.map(({ verdict }) => verdict),
    ["equal", "equal", "wrong"],
  );
  reportSentence("verdict wrong", nodes[2].sentence);
  assert.equal(agrees, false);
});

test("an input that is needed and has no tensor is named", async () => {
  await assertRejected("shape-mismatch", { input: "i" }, () =>
    verifyModel(BYTES, { x }, makeRuntime()),
  );
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
  assertProblem(other.problem);
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
  // The functions of a runtime that runs models here cannot be called.
  const others = [
    "function d.Twice / again",
    "function d.Alone / alone",
    "function d.Never / never",
  ];
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
    assert.deepEqual(Object.keys(rest), others);
    for (const path of others) assertProblem(rest[path]);
  }
});

test("a node in a function has the inputs of the call that counts", async () => {
  const given = { x: tensor("float32", [2, 3], [1, 2, 3, 4, 5, 6]) };
  const at = async (call: number, c: Tensor): Promise<Record<string, unknown>> => {
    const options = { ...makeRuntime(), call };
    const calls = await listed(captureCalls(functionsFile(), { ...given, c }, options));
    return Object.fromEntries(
      calls.map(({ path, problem, outputs }) => [
        path.split(" ")[1],
        problem ?? Object.values(outputs ?? {})[0].toArray(),
      ]),
    );
  };
  const second = await at(1, yes);
  assert.deepEqual(second["d.Take"], [[[4, 5, 6]]]);
  // Column has one call, in Twice, which has one call in the model.
  assertProblem(second["d.Column"]);
  const no = tensor("bool", [], false);
  assertProblem((await at(1, no))["d.Take"]);
  assertProblem((await at(2, yes))["d.Take"]);
});

test("a function that one other function calls runs in the call of that function that counts", async () => {
  const feeds = {
    x: tensor("float32", [2, 3], [1, 2, 3, 4, 5, 6]),
    z: tensor("float32", [2, 3], [7, 8, 9, 10, 11, 12]),
  };
  const taken = async (call: number): Promise<unknown> => {
    const [one] = await listed(captureCalls(twoCallsFile(), feeds, { ...makeRuntime(), call }));
    return one.problem ?? one.outputs?.["y"].toArray();
  };
  assert.deepEqual(await taken(0), [[[4, 5, 6]]]);
  assert.deepEqual(await taken(1), [[[10, 11, 12]]]);
  assertProblem(await taken(2));
});

test("a body in a function has the attributes of the call that counts, and calls in it run in that call", async () => {
  const feeds = {
    x: tensor("float32", [2, 3], [1, 2, 3, 4, 5, 6]),
    z: tensor("float32", [2, 3], [7, 8, 9, 10, 11, 12]),
    c: yes,
  };
  const at = async (call: number): Promise<unknown[]> => {
    const options = { ...makeRuntime(), call };
    const calls = await listed(captureCalls(branchInFunctionFile(), feeds, options));
    return calls
      .toSorted((a, b) => (a.path < b.path ? -1 : 1))
      .map((one) => [one.path, one.problem ?? [one.call?.node.attributes, one.outputs]]);
  };
  const inner = "function d.Inner / row";
  const outer = 'function d.Outer / If "if" / then_branch / take';
  const values = (shape: number[], ...all: number[]): Tensor => tensor("float32", shape, all);
  assert.deepEqual(await at(0), [
    [inner, [{}, { y: values([1, 1, 3], 4, 5, 6) }]],
    [outer, [{ axis: 0 }, { t: values([1, 1, 3], 4, 5, 6) }]],
  ]);
  assert.deepEqual(await at(1), [
    [inner, [{}, { y: values([1, 1, 3], 10, 11, 12) }]],
    [outer, [{ axis: 1 }, { t: values([2, 1, 1], 8, 11) }]],
  ]);
});

test("a branch that fails is found among others, although no node before it makes a tensor", async () => {
  const known: Readonly<Record<string, Tensor>> = {
    a: tensor("float32", [3], [1, 2, 3]),
    first: tensor("float32", [1, 1], [2]),
  };
  /** Knows all values but those that depend on `b`, whose branch fails. */
  const createSession = async (bytes: Uint8Array): Promise<Session> => {
    const { nodes, outputs } = readModel(bytes).graph;
    return {
      async run() {
        if (nodes.some((node) => node.outputs.includes("b"))) throw new Error("the branch fails");
        return Object.fromEntries(
          outputs.map(({ name }) => {
            const { dtype, shape, data } = known[name];
            return [name, { type: dtype, dims: shape, data }];
          }),
        );
      },
    };
  };
  const feeds = { x: known["a"], c: yes };
  const calls = await listed(captureCalls(failingBranchFile(), feeds, { createSession }));
  const byPath = new Map(calls.map((one) => [one.path, one]));
  const [first, second] = ["first", "second"].map((path) => byPath.get(path));
  assert.equal(first?.problem, null);
  assert.deepEqual(first?.inputs["a"].toArray(), [1, 2, 3]);
  assert.deepEqual(first?.outputs?.["first"].toArray(), [[2]]);
  assert.deepEqual(Object.keys(second?.inputs ?? {}), ["i"]);
  assert.equal(second?.outputs, null);
  assert.match(second?.problem ?? "", /the branch fails/);
});

test("a node in a Scan has the states and slices of the iteration that counts", async () => {
  const feeds = {
    s: tensor("float32", [2], [1, 2]),
    x: tensor("float32", [2, 3], [1, 2, 3, 4, 5, 6]),
  };
  const at = async (iteration: number, bytes = scanFile()): Promise<unknown[]> => {
    const options = { ...makeRuntime(), iteration };
    const calls = await listed(captureCalls(bytes, feeds, options));
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
  assertProblem((await at(3))[0]);
  assert.deepEqual(await at(0, scanFile(18, true)), [
    [1, 2],
    [1, 2, 3],
  ]);
  assert.deepEqual(await at(1, scanFile(18, true)), [
    [2, 1],
    [4, 5, 6],
  ]);
  assertProblem((await at(2, scanFile(18, true)))[0]);
  assertProblem((await at(0, scanFile(8)))[1]);
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
  assertProblem(await turned(2));
  assertProblem(await turned(0, tensor("bool", [], false)));
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
  assert.deepEqual([...(put.result?.data ?? [])], [10, 2, 3, 4]);
  assert.equal(nodes[0].result, null);
  reportSentence("verdict differs", put.sentence);
  assert.deepEqual([put.op, put.version, agrees], ["ScatterND", 13, false]);
});

// prettier-ignore
const VERDICTS: readonly (readonly [value: number, tolerance: number, verdict: string])[] = [
  [20, 0, "equal"], [20.00001, 0, "differs"], [20.00001, 1e-5, "near"], [20.1, 1e-5, "differs"],
  [Infinity, 1e-5, "differs"], [-Infinity, 1, "differs"],
  // The difference relative to the larger one, which may be the exact one: at the tolerance it is near.
  [15, 0.25, "near"], [15, 0.2499, "differs"], [40, 0.5, "near"], [40, 0.4999, "differs"],
  [-20, 2, "near"], [-20, 1.9999, "differs"], [-40, 1.5, "near"], [-40, 1.4999, "differs"], [0, 1, "near"],
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

/** Of 20, 2, 3 and 4. */
// prettier-ignore
const PLACED: readonly (readonly [shape: readonly number[], values: readonly number[], tolerance: number, at: readonly number[] | null])[] = [
  [[4], [20.5, 2, 3.5, 4], 0.5, [0]],
  [[4], [20.5, 2, 30, 40], 0.5, [2]],
  [[2, 2], [20, 2, 3, 4], 0.5, null],
];

for (const [shape, values, tolerance, at] of PLACED) {
  test(`${values} in shape ${shape} differ at ${at}`, async () => {
    const runtime = makeRuntime((outputs) => {
      if ("s" in outputs) outputs["s"] = tensor("float32", shape, values);
    });
    const { nodes } = await verifyModel(BYTES, { x }, { ...runtime, node: "put", tolerance });
    assert.deepEqual(nodes[0].difference, at && { output: "s", at });
    reportSentence("verdict differs", nodes[0].sentence);
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
      { run: 1, runs: 4, nodes: 1, searches: 0, alone: null },
      { run: 4, runs: 4, nodes: 3, searches: 0, alone: null },
    ],
  );
});

test("a node that gets other inputs from one that changes is not blamed, but is compared with them", async () => {
  const feeds = { x, i: i64([2], 1, 0) };
  // In the second run `t` is another, and `y` is first right for it, then wrong.
  const of = async (y: readonly number[]): Promise<readonly VerifiedNode[]> => {
    const runtime = makeRuntime((outputs, count) => {
      // The first session runs the whole model, and the second the nodes.
      if (count <= 2) return;
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
  reportSentence("verdict wrong", again.sentence);
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
  reportSentence("verdict wrong", nodes[1].sentence);
});

test("of a reduction that the version does not have, what the runtime did is said", async () => {
  const edited = (bytes: Uint8Array, opset: number, word: string | null): Uint8Array => {
    const model = readModel(bytes);
    for (const node of model.graph.nodes) {
      if (node.name !== "put") continue;
      node.attributes = word === null ? {} : { reduction: { type: "string", value: word } };
    }
    return writeModel({ ...model, opsets: { "ai.onnx": opset } });
  };
  const { createSession } = makeRuntime();
  for (const word of ["sum", "max"]) {
    // This runtime takes max, and ignores other words.
    const lenient = (bytes: Uint8Array): Promise<Session> =>
      createSession(edited(bytes, 18, word === "max" ? word : null));
    const options = { createSession: lenient, node: "put" };
    const { nodes } = await verifyModel(edited(BYTES, 16, word), { x }, options);
    const [{ verdict, sentence, diagnoses }] = nodes;
    assert.equal(verdict, "wrong");
    reportSentence("verdict wrong", sentence);
    const found = diagnoses.filter(({ id }) => id === "other-reduction");
    assert.ok(found.length > 0, JSON.stringify(diagnoses));
    for (const one of found) reportSentence(`diagnosis ${one.id}`, one.sentence);
  }
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

/** Runs models without bodies and calls here; for others `whole` gets the feeds, and fails or not. */
function makeWholeRuntime(
  ops: readonly string[],
  whole: (feeds: Readonly<Record<string, Tensor>>) => void,
): Pick<Runtime, "createSession"> & { readonly feeds: Readonly<Record<string, Tensor>>[] } {
  const { createSession } = makeRuntime();
  const seen: Readonly<Record<string, Tensor>>[] = [];
  return runtimeOf(
    async (bytes: Uint8Array): Promise<Session> => {
      const { graph } = readModel(bytes);
      if (graph.nodes.every(({ op }) => !ops.includes(op))) return createSession(bytes);
      return {
        async run(given: Readonly<Record<string, unknown>>) {
          const tensors = Object.entries(given).map(([name, one]) => [
            name,
            asTensor(one, {}, name),
          ]);
          const feeds = Object.fromEntries(tensors) as Record<string, Tensor>;
          seen.push(feeds);
          whole(feeds);
          const one = { type: "float32", dims: [1], data: new Float32Array(1) };
          return Object.fromEntries(graph.outputs.map(({ name }) => [name, one]));
        },
      };
    },
    { feeds: seen },
  );
}

test("the iteration of a loop that fails is found by halving, and its nodes are compared", async () => {
  for (const trips of [5n, 8n, 1000n]) {
    const runtime = makeWholeRuntime(["Loop"], (feeds) => {
      const count = Number((feeds["ndscatter: input 0"] ?? feeds["n"]).data[0]);
      if (count > 4) throw new Error("idx=4 must be within the bounds");
    });
    const node = 'Loop "loop" / body / nth';
    const feeds = { ...SHADOWED, n: tensor("int64", [], trips) };
    const report = await verifyModel(shadowsFile(), feeds, { ...runtime, node });
    const [{ verdict, sentence, where }] = report.nodes;
    assert.deepEqual(
      [verdict, where, report.agrees],
      ["wrong", 'iteration 4 of node "loop"', false],
    );
    reportSentence("verdict wrong", sentence);
    assert.equal(report.problem, `${where}: idx=4 must be within the bounds`);
    // The whole model, 0, 1, 2, 4, 8 or all iterations, and halves of what is between.
    assert.ok(runtime.feeds.length <= 9, `${runtime.feeds.length} runs`);
  }
});

test("a Scan is halved by the slices that come first", async () => {
  const runtime = makeWholeRuntime(["Scan"], (feeds) => {
    const part = feeds["ndscatter: input 1"];
    if (part === undefined || part.shape[1] > 1) throw new Error("too long");
  });
  const feeds = {
    s: tensor("float32", [2], [1, 2]),
    x: tensor("float32", [2, 3], [1, 2, 3, 4, 5, 6]),
  };
  const { nodes, problem, agrees } = await verifyModel(scanFile(), feeds, runtime);
  assert.equal(problem, 'iteration 1 of node "scan": too long');
  // Another operator than those of the family fails.
  assert.deepEqual(
    [nodes.map(({ verdict, where }) => [verdict, where]), agrees],
    [
      [
        ["equal", null],
        ["equal", null],
      ],
      false,
    ],
  );
  const parts = runtime.feeds.flatMap((one) => one["ndscatter: input 1"]?.toArray() ?? []);
  assert.deepEqual(parts, [[3], [6], [2, 3], [5, 6]]);
});

test("a loop in a branch that is not taken fails in no iteration", async () => {
  const runtime = makeWholeRuntime(["If"], () => {
    throw new Error("no memory");
  });
  const feeds = { n: tensor("int64", [], 2n), c: yes, x: tensor("float32", [3], [1, 2, 3]) };
  const options = { ...runtime, node: "own" };
  const { nodes, problem } = await verifyModel(loopInBranchFile(), feeds, options);
  assert.deepEqual([nodes[0].verdict, problem], ["equal", "no memory"]);
});

test("a loop that is not loaded fails in no iteration", async () => {
  const { createSession } = makeRuntime();
  const loading = (bytes: Uint8Array): Promise<Session> =>
    readModel(bytes).graph.nodes.some(({ op }) => op === "Scan")
      ? Promise.reject(new Error("1 output is missing"))
      : createSession(bytes);
  const feeds = {
    s: tensor("float32", [2], [1, 2]),
    x: tensor("float32", [2, 3], [1, 2, 3, 4, 5, 6]),
  };
  const { problem } = await verifyModel(scanFile(), feeds, { createSession: loading });
  assert.equal(problem, "1 output is missing");
});

test("a call of a function that fails is found", async () => {
  const whole = makeWholeRuntime(["Take"], () => {
    throw new Error("no rows here");
  });
  const createSession = (bytes: Uint8Array): Promise<Session> => {
    const alongRows = readModel(bytes).graph.nodes.some(
      ({ name, attributes }) => name === "take" && attributes["axis"]?.value === 0,
    );
    return alongRows ? Promise.reject(new Error("no rows")) : whole.createSession(bytes);
  };
  const feeds = { x: tensor("float32", [2, 3], [1, 2, 3, 4, 5, 6]), c: yes };
  const options = { createSession, node: "function d.Take / take" };
  const { nodes, problem } = await verifyModel(functionsFile(), feeds, options);
  assert.deepEqual(
    [nodes[0].verdict, nodes[0].where, problem],
    ["failed", "call 1 of its function", "call 1 of its function: no rows"],
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
  await assertRejected("unsupported-model", {}, () =>
    verifyModel(model, feeds, { ...makeRuntime(), node: "relu" }),
  );
  await assertRejected("shape-mismatch", { input: "t" }, () =>
    verifyModel(BYTES, { ...feeds, t: x }, makeRuntime()),
  );
});

/** The body of the only node that has one. */
function bodyOf({ graph }: Model): Graph {
  const found = graph.nodes.flatMap(({ attributes }) =>
    Object.values(attributes).flatMap((one) => (one.type === "other" ? (one.graphs ?? []) : [])),
  );
  return found[0];
}

// prettier-ignore
const ODD_BODIES: readonly (readonly [title: string, make: () => Uint8Array, edit: (model: Model) => void])[] = [
  ["a Loop's body without inputs", loopFile, (model) => void (bodyOf(model).inputs = [])],
  ["a Loop's body with one input", loopFile, (model) => void (bodyOf(model).inputs.length = 1)],
  ["a Scan of nothing", () => scanFile(), (model) => void (model.graph.nodes[0].inputs = ["", ""])],
  ["a Scan without inputs", () => scanFile(), (model) => void (model.graph.nodes[0].inputs = [])],
  ["a Scan that does not say how many inputs it scans", () => scanFile(),
    (model) => void delete model.graph.nodes[0].attributes["num_scan_inputs"]],
];

for (const [title, make, edit] of ODD_BODIES) {
  test(`${title} is an error in a sentence`, async () => {
    const model = readModel(make());
    edit(model);
    const given = { n: tensor("int64", [], 2n), c: yes, x: tensor("float32", [3], [1, 2, 3]) };
    const isLoop = model.graph.inputs.some(({ name }) => name === "n");
    const scanned = { s: zeros("float32", [2]), x: zeros("float32", [2, 3]) };
    const feeds = isLoop ? given : scanned;
    await assertRejected("malformed-file", {}, () =>
      listed(captureCalls(writeModel(model), feeds, makeRuntime())),
    );
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

/** A runtime in which Reshape fails. */
function reshapeFails(): Pick<Runtime, "createSession"> {
  const { createSession } = makeRuntime();
  return {
    createSession: (bytes) => {
      const model = readModel(bytes);
      const reshapes = model.graph.nodes.some(({ op }) => op === "Reshape");
      return reshapes
        ? Promise.resolve({ run: () => Promise.reject(new Error("cannot be reshaped")) })
        : createSession(bytes);
    },
  };
}

/** A model of gathers beside each other, all behind one node of another operator. */
const behind = (count: number): Model =>
  buildModel({
    opsets: { "ai.onnx": 13 },
    inputs: { x: { dtype: "float32", shape: [4] } },
    constants: { near: i64([4], 1, 2, 3, 0), far: i64([1], 9) },
    nodes: [
      { op: "Reshape", name: "reshape", inputs: ["x", "far"], outputs: ["bad"] },
      ...Array.from({ length: count }, (_, at) => [
        { op: "Identity", name: `i${at}`, inputs: ["bad"], outputs: [`v${at}`] },
        { op: "Gather", name: `g${at}`, inputs: [`v${at}`, "near"], outputs: [`w${at}`] },
      ]).flat(),
      { op: "Gather", name: "beside", inputs: ["x", "near"], outputs: ["y"] },
    ],
    outputs: { y: null },
  });

test("a node of which several values are wanted is needed once, and nothing is missing", () => {
  const { graph } = buildModel({
    opsets: { "ai.onnx": 18 },
    inputs: { x: { dtype: "float32", shape: [4] } },
    constants: { sizes: i64([2], 1, 3) },
    nodes: [
      { op: "Split", inputs: ["x", "sizes"], outputs: ["head", "tail"] },
      { op: "Concat", inputs: ["tail", "head"], outputs: ["y"], attributes: { axis: 0 } },
    ],
    outputs: { head: null, tail: null, y: null },
  });
  const { nodes, names } = neededNodes(graph, ["y", "head", "tail"], new Set(["x"]));
  assert.deepEqual([...nodes].map(({ op }) => op).toSorted(), ["Concat", "Split"]);
  assert.deepEqual([...names].toSorted(), ["head", "sizes", "tail", "x", "y"]);
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

test("a node in a loop is behind the node that should make its state, in any iteration", async () => {
  const model = readModel(loopFile());
  const [loop] = model.graph.nodes;
  const failing = { ...loop, op: "Reshape", name: "reshape", attributes: {} };
  loop.inputs = ["n", "c", "bad"];
  model.graph.nodes = [{ ...failing, inputs: ["x", "n"], outputs: ["bad"] }, loop];
  const feeds = { n: tensor("int64", [], 2n), c: yes, x: tensor("float32", [3], [1, 2, 3]) };
  for (const iteration of [0, 1]) {
    const options = { ...reshapeFails(), iteration };
    const [turn] = await listed(captureCalls(writeModel(model), feeds, options));
    assert.deepEqual(
      [turn.problem, turn.behind?.name, turn.call],
      ["cannot be reshaped", "reshape", null],
    );
  }
});

test("a node of another operator that fails is named once, and those behind it are not blamed", async () => {
  const { nodes, failures, agrees } = await verifyModel(
    writeModel(behind(3)),
    { x },
    reshapeFails(),
  );
  assert.deepEqual(
    nodes.map(({ path, verdict }) => [path, verdict]),
    [
      ["g0", "behind"],
      ["g1", "behind"],
      ["g2", "behind"],
      ["beside", "equal"],
    ],
  );
  for (const { verdict, sentence } of nodes.slice(0, 3))
    reportSentence(`verdict ${verdict}`, sentence);
  assert.equal(nodes[3].sentence, "");
  assert.deepEqual(failures, [
    {
      title: "Reshape reshape",
      message: "cannot be reshaped",
      isCompared: false,
      behind: ["g0", "g1", "g2"],
    },
  ]);
  assert.equal(agrees, false);
  // Of one node alone, too.
  const options = { ...reshapeFails(), node: "g1" };
  const alone = await verifyModel(writeModel(behind(3)), { x }, options);
  assert.deepEqual([alone.nodes[0].verdict, alone.failures.length], ["behind", 1]);
});

test("a node that is compared and fails is not blamed for itself", async () => {
  const feeds = { x, i: i64([2], 1, 3) };
  const chain = writeModel({
    ...GATHERED,
    graph: {
      ...GATHERED.graph,
      nodes: [
        ...GATHERED.graph.nodes,
        { ...GATHERED.graph.nodes[2], name: "last", inputs: ["y", "i"], outputs: ["z"] },
      ],
    },
  });
  const { nodes, failures } = await verifyModel(chain, feeds, makeRuntime());
  assert.deepEqual(
    nodes.map(({ verdict }) => verdict),
    ["equal", "equal", "wrong", "behind"],
  );
  assert.deepEqual(
    failures.map(({ title, isCompared, behind: paths }) => [title, isCompared, paths]),
    [["Gather again", true, ["last"]]],
  );
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
const REFUSED: readonly (readonly [name: string, options: object])[] = [
  ["no createSession", {}],
  ["createSession 5", { createSession: 5 }],
  ["runs 0", { ...makeRuntime(), runs: 0 }],
  ["runs 10001", { ...makeRuntime(), runs: 10_001 }],
  ["tolerance -2", { ...makeRuntime(), runs: 10_000, tolerance: -2 }],
  ["tolerance -1", { ...makeRuntime(), tolerance: -1 }],
  ["iteration 1.5", { ...makeRuntime(), iteration: 1.5 }],
  ["call -1", { ...makeRuntime(), call: -1 }],
  ["others 5", { ...makeRuntime(), others: 5 }],
  ["others that hold 5", { ...makeRuntime(), others: { fast: 5 } }],
  ["onProgress 5", { ...makeRuntime(), onProgress: 5 }],
];

for (const [name, options] of REFUSED) {
  test(`refused: ${name}`, async () => {
    await assertRejected("attribute", {}, () => verifyModel(BYTES, { x }, options as never));
  });
}

test("a runtime that cannot make a session is a problem of every node", async () => {
  const createSession = (): Promise<Session> => Promise.reject(new Error("no such opset"));
  const { nodes } = await verifyModel(BYTES, { x, i: i64([1], 0) }, { createSession });
  assert.deepEqual(
    nodes.map(({ verdict }) => verdict),
    ["failed", "failed", "failed"],
  );
  for (const { sentence } of nodes) reportSentence("verdict failed", sentence);
});
