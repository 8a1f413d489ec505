/**
 * Values that no caller should pass, and that some caller does, in every place of every public function: each call
 * either works or throws a TensorError. What works is not looked at here, but in the tests of the functions.
 */

import assert from "node:assert/strict";
import { test } from "node:test";
import * as api from "../../src/entries/index.ts";
import * as npy from "../../src/entries/npy.ts";
import * as onnx from "../../src/entries/onnx.ts";
import * as openvino from "../../src/entries/openvino.ts";
import { caseList } from "../support/cases.ts";
import { HOSTILE_VALUES } from "../support/hostile-values.ts";

const FUNCTIONS: object = { ...openvino, ...onnx, ...npy, ...api };

/** Calls a function with arguments that the compiler would not let through, and takes all that it yields. */
const apply = (name: string, args: readonly unknown[]): unknown => {
  const made: unknown = Reflect.apply(Reflect.get(FUNCTIONS, name), undefined, args);
  const isIterable = typeof made === "object" && made !== null && Symbol.asyncIterator in made;
  return isIterable ? listed(made as AsyncIterable<unknown>) : made;
};

async function listed(items: AsyncIterable<unknown>): Promise<unknown[]> {
  const list: unknown[] = [];
  for await (const item of items) list.push(item);
  return list;
}

const f32 = (...shape: number[]) => api.zeros("float32", shape);
const int = (shape: number[], ...values: number[]) => api.tensor("int64", shape, values);

/** Arguments that work, so that each of them can be replaced by one that may not. */
const ARGUMENTS: Readonly<Record<string, () => readonly unknown[]>> = {
  scatterND: () => [f32(2, 2), int([1, 1], 0), f32(1, 2)],
  scatterElements: () => [f32(2, 2), int([1, 1], 0), f32(1, 1)],
  scatter: () => [f32(2, 2), int([1, 1], 0), f32(1, 1)],
  gatherND: () => [f32(2, 2), int([1, 1], 0)],
  gatherElements: () => [f32(2, 2), int([1, 1], 0)],
  gather: () => [f32(2, 2), int([1, 1], 0)],
  tensorScatter: () => [f32(1, 2, 2), f32(1, 1, 2), int([1], 0)],
  planScatterND: () => [[2, 2], int([1, 1], 0)],
  planScatterElements: () => [[2, 2], int([1, 1], 0)],
  planGatherND: () => [[2, 2], int([1, 1], 0)],
  planGatherElements: () => [[2, 2], int([1, 1], 0)],
  planGather: () => [[2, 2], int([1, 1], 0)],
  diagnose: () => [
    { op: "ScatterND", opset: 18 },
    [f32(2, 2), int([1, 1], 0), f32(1, 2)],
    api.full("float32", [2, 2], 1),
  ],
  compareDialects: () => [{ op: "ScatterND", opset: 18 }, [f32(2, 2), int([1, 1], 0), f32(1, 2)]],
  equals: () => [f32(2), f32(2)],
  firstDifference: () => [f32(2), f32(2)],
  tensor: () => ["float32", [2], [1, 2]],
  zeros: () => ["float32", [2]],
  full: () => ["float32", [2], 1],
  printScalar: () => ["float32", 1],
  printShape: () => [[1]],
  isDType: () => ["float32"],
  isTensorError: () => [new api.TensorError("engine", ""), "engine"],
  compareVersions: () => [api.operators()[0], api.operators()[1]],
  roleOf: () => [api.operators()[0].inputs[0]],
  typesOf: () => [api.operators()[0], "T"],
  resolve: () => [{ op: "ScatterND", opset: 18 }],
};

const typed = (shape: number[]) => ({ dtype: "float32", shape }) as const;

/** A model of one node. */
const spec = (): onnx.ModelSpec => ({
  opsets: { "ai.onnx": 18 },
  inputs: { data: typed([2, 2]), updates: typed([1, 2]) },
  constants: { indices: int([1, 1], 0) },
  nodes: [{ op: "ScatterND", inputs: ["data", "indices", "updates"], outputs: ["y"] }],
  outputs: { y: null },
});
const model = (): onnx.Model => onnx.buildModel(spec());
const file = (): Uint8Array => onnx.writeModel(model());
const net = (): onnx.Model => onnx.convertModel(model(), { domain: "openvino" }).model;
const tensors = () => ({ data: f32(2, 2), updates: f32(1, 2) });

/** A runtime that is right. */
const createSession = async (bytes: Uint8Array) => ({
  run: async (feeds: object) => onnx.runModel(onnx.readModel(bytes), feeds as onnx.Tensors),
});

/** A runtime with an odd value in a place of its own. */
const oddRuntimes = (value: unknown): readonly unknown[] => [
  () => value,
  async () => value,
  async () => ({ run: value }),
  async () => ({ run: () => value }),
  async () => ({ run: async () => ({ y: value }) }),
  async () => ({ run: async () => ({ y: { ...f32(2, 2), data: value } }) }),
  async (bytes: Uint8Array) => ({ ...(await createSession(bytes)), release: value }),
  async () => Promise.reject(value),
];

/** {@link ARGUMENTS} of the functions of files and models. */
const FILE_ARGUMENTS: typeof ARGUMENTS = {
  readNpy: () => [npy.writeNpy(f32(2))],
  writeNpy: () => [f32(2)],
  readTensor: () => [onnx.writeTensor(f32(2)), {}],
  writeTensor: () => [f32(2), "name"],
  readModel: () => [file(), {}],
  readOutline: () => [{ size: 0, read: () => new Uint8Array() }, {}],
  writeModel: () => [model()],
  externalFiles: () => [model()],
  inspectModel: () => [model()],
  unsupportedOperators: () => [model()],
  convertModel: () => [model(), { opset: 13 }],
  extractNode: () => [model(), "y"],
  runModel: () => [model(), tensors()],
  runNode: () => [model(), model().graph.nodes[0], tensors()],
  nodeCall: () => [model(), model().graph.nodes[0], tensors()],
  buildModel: () => [spec()],
  constant: () => ["name", f32(2)],
  inferTypes: () => [model()],
  indexedSizes: () => [model(), {}],
  comparedValues: () => [model()],
  neededFor: () => [model(), ["y"]],
  splitModel: () => [model(), ["y"], {}],
  createExactSession: () => [file(), { createSession }],
  captureCalls: () => [file(), tensors(), { createSession }],
  verifyModel: () => [file(), tensors(), { createSession }],
  fixModel: () => [file(), tensors(), { createSession }],
  readIR: () => [openvino.writeIR(net()).xml, openvino.writeIR(net()).bin],
  writeIR: () => [net()],
};

/** A place of a function: what to do with a value in it. */
type Place = readonly [title: string, call: (value: unknown) => unknown];

/** Each argument of a function in turn, the others as they should be. */
const inArguments = (name: string, args: () => readonly unknown[]): Place[] =>
  args().map((_, position) => [
    `${name}, argument ${position}`,
    (value) => apply(name, args().with(position, value)),
  ]);

/** The options of a function as a whole, and each of them in turn. */
const inOptions = (
  name: string,
  args: () => readonly unknown[],
  names: readonly string[],
): Place[] => [
  [`${name}, options`, (value) => apply(name, [...args(), value])],
  ...names.map((option): Place => [
    `${name}, the option ${option}`,
    (value) => apply(name, [...args(), { [option]: value }]),
  ]),
];

const OPTIONS = [
  "out",
  "axis",
  "batchDims",
  "reduction",
  "duplicates",
  "includeSelf",
  "bounds",
  "negative",
  "mode",
];

/** What `tensor` and `full` make elements of a data type of. */
const inValues = (dtype: api.DType): Place[] => [
  [`tensor of ${dtype}, its values`, (value) => apply("tensor", [dtype, [2], value])],
  [
    `tensor of ${dtype}, each of its values`,
    (value) => apply("tensor", [dtype, [2], [value, value]]),
  ],
  [`tensor of ${dtype}, no values`, (value) => apply("tensor", [dtype, [2, 0], value])],
  [`tensor of ${dtype}, a bare value`, (value) => apply("tensor", [dtype, [], value])],
  [`full of ${dtype}`, (value) => apply("full", [dtype, [2], value])],
  [`${dtype} printed`, (value) => apply("printScalar", [dtype, value])],
];

/** A node, its parts, its inputs and theirs. */
function inNodes(name: "run" | "infer" | "explain" | "diagnose" | "compareDialects"): Place[] {
  const node = { op: "ScatterND", opset: 18 };
  const inputs = ARGUMENTS["scatterND"];
  const more = name === "diagnose" ? [api.full("float32", [2, 2], 1)] : [];
  const part = (key: string): Place => [
    `${name}, ${key}`,
    (value) => apply(name, [{ ...node, [key]: value }, inputs(), ...more]),
  ];
  const input = (position: number, key: string): Place => [
    `${name}, ${key} of input ${position}`,
    (value) =>
      apply(name, [
        node,
        inputs().with(position, { ...(inputs()[position] as object), [key]: value }),
        ...more,
      ]),
  ];
  return [
    ...inArguments(name, () => [node, inputs(), ...more]),
    ...["op", "opset", "domain", "attributes"].map(part),
    [
      `${name}, an attribute`,
      (reduction) => apply(name, [{ ...node, attributes: { reduction } }, inputs(), ...more]),
    ],
    ...[0, 1, 2].flatMap((position): Place[] => [
      [
        `${name}, input ${position}`,
        (value) => apply(name, [node, inputs().with(position, value), ...more]),
      ],
      ...["dtype", "shape", "data"].map((key) => input(position, key)),
    ]),
  ];
}

function inEngines(): Place[] {
  const kept = api.planScatterND([2, 2], int([1, 1], 0));
  const engine = api.createEngine({ kind: "js" });
  const method = (target: object, name: string, args: readonly unknown[]): unknown =>
    Reflect.apply(Reflect.get(target, name), target, args);
  return [
    ["createEngine, options", (value) => apply("createEngine", [value])],
    ["createEngine, kind", (kind) => apply("createEngine", [{ kind }])],
    ["createEngine, threads", (threads) => apply("createEngine", [{ kind: "js", threads }])],
    ["alloc, type", (value) => method(engine, "alloc", [value, [2]])],
    ["alloc, shape", (value) => method(engine, "alloc", ["float32", value])],
    ["an asynchronous gather, data", (value) => method(engine.async, "gatherND", [value, [[0]]])],
    [
      "an asynchronous gather, indices",
      (value) => method(engine.async, "gatherND", [f32(2, 2), value]),
    ],
    [
      "an asynchronous gather, options",
      (value) => method(engine.async, "gatherND", [f32(2, 2), [[0]], value]),
    ],
    ["a kept scatter, data", (value) => method(kept, "scatter", [value, [[1, 2]]])],
    ["a kept scatter, updates", (value) => method(kept, "scatter", [f32(2, 2), value])],
    ["a kept scatter, options", (value) => method(kept, "scatter", [f32(2, 2), [[1, 2]], value])],
    ["a kept gather, data", (value) => method(kept, "gather", [value])],
    ["a kept gather, options", (value) => method(kept, "gather", [f32(2, 2), value])],
    ["a kept gather, out", (out) => method(kept, "gather", [f32(2, 2), { out }])],
  ];
}

const OPERATORS = Object.keys(ARGUMENTS).filter((name) =>
  /^(scatter|gather|tensorS|plan)/.test(name),
);

/** An argument with one of its parts replaced. */
const inParts = (name: string, position: number, names: readonly string[]): Place[] =>
  names.map((part) => [
    `${name}, ${part} of argument ${position}`,
    (value) => {
      const args = FILE_ARGUMENTS[name]();
      const whole = args[position] as object;
      return apply(name, args.with(position, { ...whole, [part]: value }));
    },
  ]);

/** A list of the graph of a model, or a part of the model, replaced. */
const inGraphs = (name: string): Place[] => [
  ...inParts(name, 0, ["opsets", "graph", "functions"]),
  ...["inputs", "outputs", "nodes", "constants", "values"].map((part): Place => [
    `${name}, ${part} of the graph`,
    (value) => {
      const args = FILE_ARGUMENTS[name]();
      const whole = args[0] as onnx.Model;
      return apply(name, args.with(0, { ...whole, graph: { ...whole.graph, [part]: value } }));
    },
  ]),
];

const TAKE_MODELS = [
  ...["writeModel", "externalFiles", "inspectModel", "unsupportedOperators", "convertModel"],
  ...["extractNode", "runModel", "runNode", "nodeCall", "writeIR"],
  ...[
    "inferTypes",
    "indexedSizes",
    "comparedValues",
    "neededFor",
    "splitModel",
    "createExactSession",
  ],
];

const FILE_PLACES: readonly Place[] = [
  ...TAKE_MODELS.flatMap(inGraphs),
  ...Object.entries(FILE_ARGUMENTS).flatMap(([name, args]) => inArguments(name, args)),
  ...["readTensor", "readModel", "readOutline"].flatMap((name) => inParts(name, 1, ["external"])),
  ...inParts("readOutline", 0, ["size", "read"]),
  ...inParts("convertModel", 1, ["domain", "opset", "version"]),
  ...inOptions("convertModel", FILE_ARGUMENTS["convertModel"], ["force"]),
  ...["runModel", "runNode", "nodeCall"].flatMap((name) =>
    inParts(name, FILE_ARGUMENTS[name]().length - 1, ["data", "updates"]),
  ),
  ...inParts("buildModel", 0, [...Object.keys(spec()), "name", "irVersion", "producer"]),
];

const RUNTIME_PLACES: readonly Place[] = ["captureCalls", "verifyModel", "fixModel"].flatMap(
  (name) => [
    ...inParts(name, 1, ["data", "updates"]),
    ...inParts(name, 2, [
      ...["createSession", "node", "external", "iteration"],
      ...["runs", "others", "tolerance"],
    ]),
    ...oddRuntimes(null).map((_, nth): Place => [
      `${name}, part ${nth} of a runtime`,
      (value) => {
        const [bytes, feeds] = FILE_ARGUMENTS[name]();
        return apply(name, [bytes, feeds, { createSession: oddRuntimes(value)[nth] }]);
      },
    ]),
  ],
);

const EXACT_PLACES: readonly Place[] = [
  ...inParts("createExactSession", 1, ["createSession", "nodes", "external", "gpu"]),
  ...inParts("splitModel", 2, ["types"]),
  [
    "the feeds of an exact session",
    async (value) => (await onnx.createExactSession(file(), { createSession })).run(value as never),
  ],
];

const PLACES: readonly Place[] = [
  ...EXACT_PLACES,
  ...FILE_PLACES,
  ...RUNTIME_PLACES,
  ...Object.entries(ARGUMENTS).flatMap(([name, args]) => inArguments(name, args)),
  ...OPERATORS.flatMap((name) => inOptions(name, ARGUMENTS[name], OPTIONS)),
  ...Object.keys(api.DTYPES).flatMap((dtype) => inValues(dtype as api.DType)),
  ["a dimension", (value) => apply("zeros", ["int8", [value, 2]])],
  ["a dimension printed", (value) => apply("printShape", [[value, 2]])],
  ...["toArray", "toString", "dispose"].map((name): Place => [
    `${name} of a tensor`,
    (value) => Reflect.apply(Reflect.get(f32(2), name), value, []),
  ]),
  [
    "isDisposed of a tensor",
    (value) => Reflect.get(Object.getPrototypeOf(f32(2)), "isDisposed", value),
  ],
  ...(["run", "infer", "explain", "diagnose", "compareDialects"] as const).flatMap(inNodes),
  ...inOptions("run", () => [{ op: "ScatterND", opset: 18 }, ARGUMENTS["scatterND"]()], [
    "out",
    "duplicates",
    "engine",
  ]),
  ...["op", "opset", "domain"].map((part): Place => [
    `resolve, ${part}`,
    (value) => apply("resolve", [{ op: "ScatterND", opset: 18, [part]: value }]),
  ]),
  ...inEngines(),
];

for (const [turn, [title, call]] of PLACES.entries()) {
  test(title, async () => {
    const surprises: string[] = [];
    for (const [name, make] of caseList(HOSTILE_VALUES, turn)) {
      try {
        await call(make());
      } catch (error) {
        if (!api.isTensorError(error)) surprises.push(`${name}: ${String(error)}`);
      }
    }
    assert.deepEqual(surprises, []);
  });
}
