/**
 * Values that no caller should pass, and that some caller does: each call either works or throws a TensorError. The
 * tests of the functions examine the results of calls that work.
 *
 * A value from outside goes through one of the readers of `src`. Each reader gets all values, through the first place
 * below that uses it. Every place of every function gets a few values, which show that it has a reader.
 */

import assert from "node:assert/strict";
import { test } from "node:test";
import * as api from "../../src/entries/index.ts";
import * as npy from "../../src/entries/npy.ts";
import * as onnx from "../../src/entries/onnx.ts";
import * as openvino from "../../src/entries/openvino.ts";
import * as operators from "../../src/entries/operators.ts";
import { HAS_ALL } from "../support/cases.ts";
import { HOSTILE_VALUES } from "../support/hostile-values.ts";
import { setLimits } from "../support/limits.ts";
import { randomFrom } from "../support/random.ts";

const FUNCTIONS: object = { ...openvino, ...onnx, ...npy, ...operators, ...api };

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

/** The readers, by the names of their functions or of what they read. */
type Reader =
  | "asTensor"
  | "byteSource"
  | "checkNode"
  | "createEngine"
  | "countFrom"
  | "createSession"
  | "dtype"
  | "executorOf"
  | "indexFrom"
  | "isTensorError"
  | "listFrom"
  | "memoryOf"
  | "modelFrom"
  | "name"
  | "NPY"
  | "ONNX"
  | "optionsOf"
  | "partsOf"
  | "printShape"
  | "readInputs"
  | "recordFrom"
  | "roleOf"
  | "rowFrom"
  | "settingsOf"
  | "shapeOf"
  | "targetFrom"
  | "XML"
  | `${"elements" | "printScalar"} of ${api.DType}`
  | `part ${number} of a runtime`;

/** A function's arguments that work, so that each can be replaced by one that may not, and the reader of each. */
type Arguments = readonly [args: () => readonly unknown[], ...readers: Reader[]];

const ARGUMENTS: Readonly<Record<string, Arguments>> = {
  scatterND: [() => [f32(2, 2), int([1, 1], 0), f32(1, 2)], "asTensor", "asTensor", "asTensor"],
  scatterElements: [
    () => [f32(2, 2), int([1, 1], 0), f32(1, 1)],
    "asTensor",
    "asTensor",
    "asTensor",
  ],
  scatter: [() => [f32(2, 2), int([1, 1], 0), f32(1, 1)], "asTensor", "asTensor", "asTensor"],
  gatherND: [() => [f32(2, 2), int([1, 1], 0)], "asTensor", "asTensor"],
  gatherElements: [() => [f32(2, 2), int([1, 1], 0)], "asTensor", "asTensor"],
  gather: [() => [f32(2, 2), int([1, 1], 0)], "asTensor", "asTensor"],
  tensorScatter: [
    () => [f32(1, 2, 2), f32(1, 1, 2), int([1], 0)],
    "asTensor",
    "asTensor",
    "asTensor",
  ],
  planScatterND: [() => [[2, 2], int([1, 1], 0)], "shapeOf", "asTensor"],
  planScatterElements: [() => [[2, 2], int([1, 1], 0)], "shapeOf", "asTensor"],
  planGatherND: [() => [[2, 2], int([1, 1], 0)], "shapeOf", "asTensor"],
  planGatherElements: [() => [[2, 2], int([1, 1], 0)], "shapeOf", "asTensor"],
  planGather: [() => [[2, 2], int([1, 1], 0)], "shapeOf", "asTensor"],
  diagnose: [
    () => [
      { op: "ScatterND", opset: 18 },
      [f32(2, 2), int([1, 1], 0), f32(1, 2)],
      api.full("float32", [2, 2], 1),
    ],
    "partsOf",
    "readInputs",
    "asTensor",
  ],
  compareDialects: [
    () => [{ op: "ScatterND", opset: 18 }, [f32(2, 2), int([1, 1], 0), f32(1, 2)]],
    "partsOf",
    "readInputs",
  ],
  equals: [() => [f32(2), f32(2)], "asTensor", "asTensor"],
  firstDifference: [() => [f32(2), f32(2)], "asTensor", "asTensor"],
  tensor: [() => ["float32", [2], [1, 2]], "dtype", "shapeOf", "elements of float32"],
  zeros: [() => ["float32", [2]], "dtype", "shapeOf"],
  full: [() => ["float32", [2], 1], "dtype", "shapeOf", "elements of float32"],
  printScalar: [() => ["float32", 1], "dtype", "printScalar of float32"],
  printShape: [() => [[1]], "printShape"],
  isDType: [() => ["float32"], "dtype"],
  isTensorError: [
    () => [new api.TensorError("engine", ""), "engine"],
    "isTensorError",
    "isTensorError",
  ],
  compareVersions: [() => [api.operators()[0], api.operators()[1]], "rowFrom", "rowFrom"],
  roleOf: [() => [api.operators()[0].inputs[0]], "roleOf"],
  typesOf: [() => [api.operators()[0], "T"], "rowFrom", "name"],
  resolve: [() => [{ op: "ScatterND", opset: 18 }], "partsOf"],
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
  readNpy: [() => [npy.writeNpy(f32(2))], "NPY"],
  writeNpy: [() => [f32(2)], "asTensor"],
  readTensor: [() => [onnx.writeTensor(f32(2)), {}], "ONNX", "optionsOf"],
  writeTensor: [() => [f32(2), "name"], "asTensor", "name"],
  readModel: [() => [file(), {}], "ONNX", "optionsOf"],
  readOutline: [() => [{ size: 0, read: () => new Uint8Array() }, {}], "byteSource", "optionsOf"],
  writeModel: [() => [model()], "modelFrom"],
  externalFiles: [() => [model()], "modelFrom"],
  inspectModel: [() => [model()], "modelFrom"],
  unsupportedOperators: [() => [model()], "modelFrom"],
  convertModel: [() => [model(), { opset: 13 }], "modelFrom", "targetFrom"],
  extractNode: [() => [model(), "y"], "modelFrom", "name"],
  runModel: [() => [model(), tensors()], "modelFrom", "recordFrom"],
  runNode: [
    () => [model(), model().graph.nodes[0], tensors()],
    "indexFrom",
    "checkNode",
    "recordFrom",
  ],
  nodeCall: [
    () => [model(), model().graph.nodes[0], tensors()],
    "indexFrom",
    "checkNode",
    "recordFrom",
  ],
  buildModel: [() => [spec()], "recordFrom"],
  constant: [() => ["name", f32(2)], "name", "asTensor"],
  inferTypes: [() => [model()], "modelFrom"],
  indexedSizes: [() => [model(), {}], "modelFrom", "recordFrom"],
  comparedValues: [() => [model()], "modelFrom"],
  neededFor: [() => [model(), ["y"]], "modelFrom", "listFrom"],
  splitModel: [() => [model(), ["y"], {}], "modelFrom", "listFrom", "recordFrom"],
  createExactSession: [() => [file(), { createSession }], "modelFrom", "optionsOf"],
  captureCalls: [() => [file(), tensors(), { createSession }], "ONNX", "recordFrom", "optionsOf"],
  verifyModel: [() => [file(), tensors(), { createSession }], "ONNX", "recordFrom", "optionsOf"],
  fixModel: [() => [file(), tensors(), { createSession }], "ONNX", "recordFrom", "optionsOf"],
  readIR: [() => [openvino.writeIR(net()).xml, openvino.writeIR(net()).bin], "XML", "byteSource"],
  writeIR: [() => [net()], "modelFrom"],
};

/** A place of a function, its reader, and a call with a value in it. */
type Place = readonly [title: string, reader: Reader, call: (value: unknown) => unknown];

/** Each argument of a function in turn, the others as they should be. */
const inArguments = (name: string, [args, ...readers]: Arguments): Place[] =>
  readers.map((reader, position) => [
    `${name}, argument ${position}`,
    reader,
    (value) => apply(name, args().with(position, value)),
  ]);

/** The options of a function as a whole, and each of them in turn. */
const inOptions = (name: string, [args]: Arguments, names: readonly string[]): Place[] => [
  [`${name}, options`, "optionsOf", (value) => apply(name, [...args(), value])],
  ...names.map((option): Place => [
    `${name}, the option ${option}`,
    READERS_OF_OPTIONS[option] ?? "settingsOf",
    (value) => apply(name, [...args(), { [option]: value }]),
  ]),
];

const READERS_OF_OPTIONS: Readonly<Record<string, Reader>> = {
  out: "asTensor",
  engine: "executorOf",
};

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

/** Elements of a data type for `tensor` and `full`, and to be printed. */
function inValues(dtype: api.DType): Place[] {
  const elements: Reader = `elements of ${dtype}`;
  const inTensor = (shape: number[], made: (value: unknown) => unknown): Place => [
    `tensor of ${dtype}, shape [${shape}]`,
    elements,
    (value) => apply("tensor", [dtype, shape, made(value)]),
  ];
  return [
    inTensor([2], (value) => [value, value]),
    inTensor([2], (value) => value),
    inTensor([2, 0], (value) => value),
    inTensor([], (value) => value),
    [`full of ${dtype}`, elements, (value) => apply("full", [dtype, [2], value])],
    [
      `printScalar of ${dtype}`,
      `printScalar of ${dtype}`,
      (value) => apply("printScalar", [dtype, value]),
    ],
  ];
}

/** A node, its parts, its inputs and theirs. */
function inNodes(name: "run" | "infer" | "explain" | "diagnose" | "compareDialects"): Place[] {
  const node = { op: "ScatterND", opset: 18 };
  const [inputs] = ARGUMENTS["scatterND"];
  const more = name === "diagnose" ? [api.full("float32", [2, 2], 1)] : [];
  const part = (key: string): Place => [
    `${name}, ${key}`,
    key === "attributes" ? "optionsOf" : "partsOf",
    (value) => apply(name, [{ ...node, [key]: value }, inputs(), ...more]),
  ];
  const input = (position: number, key: string): Place => [
    `${name}, ${key} of input ${position}`,
    "asTensor",
    (value) =>
      apply(name, [
        node,
        inputs().with(position, { ...(inputs()[position] as object), [key]: value }),
        ...more,
      ]),
  ];
  return [
    ...inArguments(name, [() => [node, inputs()], "partsOf", "readInputs"]),
    ...["op", "opset", "domain", "attributes"].map(part),
    [
      `${name}, an attribute`,
      "settingsOf",
      (reduction) => apply(name, [{ ...node, attributes: { reduction } }, inputs(), ...more]),
    ],
    ...[0, 1, 2].flatMap((position): Place[] => [
      [
        `${name}, input ${position}`,
        "asTensor",
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
  const made = (target: object, name: string, position: number, args: readonly unknown[]) =>
    ((value) => method(target, name, args.with(position, value))) satisfies Place[2];
  const data = f32(2, 2);
  return [
    ["createEngine, options", "optionsOf", (value) => apply("createEngine", [value])],
    ["createEngine, kind", "createEngine", (kind) => apply("createEngine", [{ kind }])],
    [
      "createEngine, threads",
      "createEngine",
      (threads) => apply("createEngine", [{ kind: "js", threads }]),
    ],
    ["alloc, type", "dtype", made(engine, "alloc", 0, ["", [2]])],
    ["alloc, shape", "shapeOf", made(engine, "alloc", 1, ["float32", []])],
    ["async gatherND, data", "asTensor", made(engine.async, "gatherND", 0, [data, [[0]]])],
    ["async gatherND, indices", "asTensor", made(engine.async, "gatherND", 1, [data, [[0]]])],
    ["async gatherND, options", "optionsOf", made(engine.async, "gatherND", 2, [data, [[0]], {}])],
    ["plan.scatter, data", "asTensor", made(kept, "scatter", 0, [data, [[1, 2]]])],
    ["plan.scatter, updates", "asTensor", made(kept, "scatter", 1, [data, [[1, 2]]])],
    ["plan.scatter, options", "optionsOf", made(kept, "scatter", 2, [data, [[1, 2]], {}])],
    ["plan.gather, data", "asTensor", made(kept, "gather", 0, [data])],
    ["plan.gather, options", "optionsOf", made(kept, "gather", 1, [data, {}])],
    ["plan.gather, out", "asTensor", (out) => method(kept, "gather", [data, { out }])],
  ];
}

const OPERATORS = Object.keys(ARGUMENTS).filter((name) =>
  /^(scatter|gather|tensorS|plan)/.test(name),
);

/** An argument with one of its parts replaced. */
const inParts = (
  name: string,
  position: number,
  names: readonly string[],
  reader: Reader,
): Place[] =>
  names.map((part) => [
    `${name}, ${part} of argument ${position}`,
    reader,
    (value) => {
      const args = FILE_ARGUMENTS[name][0]();
      const whole = args[position] as object;
      return apply(name, args.with(position, { ...whole, [part]: value }));
    },
  ]);

/** A list of the graph of a model, or a part of the model, replaced. */
const inGraphs = (name: string): Place[] => [
  ...inParts(name, 0, ["opsets", "graph", "functions"], "modelFrom"),
  ...["inputs", "outputs", "nodes", "constants", "values"].map((part): Place => [
    `${name}, ${part} of the graph`,
    "listFrom",
    (value) => {
      const args = FILE_ARGUMENTS[name][0]();
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
  ...["readTensor", "readModel", "readOutline"].flatMap((name) =>
    inParts(name, 1, ["external"], "optionsOf"),
  ),
  ...inParts("readOutline", 0, ["size", "read"], "byteSource"),
  ...inParts("convertModel", 1, ["domain", "opset", "version"], "targetFrom"),
  ...inOptions("convertModel", FILE_ARGUMENTS["convertModel"], ["force"]),
  ...["runModel", "runNode", "nodeCall"].flatMap((name) =>
    inParts(name, FILE_ARGUMENTS[name].length - 2, ["data", "updates"], "asTensor"),
  ),
  ...inParts(
    "buildModel",
    0,
    [...Object.keys(spec()), "name", "irVersion", "producer"],
    "recordFrom",
  ),
];

const RUNTIME_PLACES: readonly Place[] = ["captureCalls", "verifyModel", "fixModel"].flatMap(
  (name) => [
    ...inParts(name, 1, ["data", "updates"], "asTensor"),
    ...inParts(name, 2, ["createSession", "external"], "createSession"),
    ...inParts(name, 2, ["node", "iteration", "runs", "others", "tolerance"], "countFrom"),
    ...oddRuntimes(null).map((_, nth): Place => [
      `${name}, part ${nth} of a runtime`,
      `part ${nth} of a runtime`,
      (value) => {
        const [bytes, feeds] = FILE_ARGUMENTS[name][0]();
        return apply(name, [bytes, feeds, { createSession: oddRuntimes(value)[nth] }]);
      },
    ]),
  ],
);

const EXACT_PLACES: readonly Place[] = [
  ...inParts("createExactSession", 1, ["createSession", "external", "gpu"], "createSession"),
  ...inParts("createExactSession", 1, ["nodes"], "listFrom"),
  ...inParts("splitModel", 2, ["types"], "recordFrom"),
  [
    "run of an exact session, feeds",
    "recordFrom",
    async (value) => (await onnx.createExactSession(file(), { createSession })).run(value as never),
  ],
];

const PLACES: readonly Place[] = [
  ...Object.entries(ARGUMENTS).flatMap(([name, args]) => inArguments(name, args)),
  ...OPERATORS.flatMap((name) => inOptions(name, ARGUMENTS[name], OPTIONS)),
  ...Object.keys(api.DTYPES).flatMap((dtype) => inValues(dtype as api.DType)),
  ["zeros, a dimension", "shapeOf", (value) => apply("zeros", ["int8", [value, 2]])],
  ["printShape, a dimension", "printShape", (value) => apply("printShape", [[value, 2]])],
  ...["toArray", "toString", "dispose"].map((name): Place => [
    `${name} of a tensor`,
    "memoryOf",
    (value) => Reflect.apply(Reflect.get(f32(2), name), value, []),
  ]),
  [
    "isDisposed of a tensor",
    "memoryOf",
    (value) => Reflect.get(Object.getPrototypeOf(f32(2)), "isDisposed", value),
  ],
  ...(["run", "infer", "explain", "diagnose", "compareDialects"] as const).flatMap(inNodes),
  ...inOptions(
    "run",
    [() => [{ op: "ScatterND", opset: 18 }, ARGUMENTS["scatterND"][0]()]],
    ["out", "duplicates", "engine"],
  ),
  ...["op", "opset", "domain"].map((part): Place => [
    `resolve, ${part}`,
    "partsOf",
    (value) => apply("resolve", [{ op: "ScatterND", opset: 18, [part]: value }]),
  ]),
  ...inEngines(),
  ...FILE_PLACES,
  ...RUNTIME_PLACES,
  ...EXACT_PLACES,
];

/** Values of places whose reader gets all of them elsewhere: two that show a place without a reader, and a drawn one. */
const FEW = HOSTILE_VALUES.filter(([title]) => /^(object null|a Proxy that throws)$/.test(title));
const random = randomFrom(717);

/** Returns the values of a place after which a call neither works nor throws a TensorError. */
async function surprisesIn([title, , call]: Place, values: typeof HOSTILE_VALUES) {
  const surprises: string[] = [];
  // Calls that measure a runtime measure it once.
  const restore = setLimits({ FIX: { runs: 1, nodeTime: 0, modelTime: 0 }, VERIFY: { reruns: 1 } });
  for (const [name, make] of values) {
    try {
      await call(make());
    } catch (error) {
      if (!api.isTensorError(error)) surprises.push(`${title}: ${name}: ${String(error)}`);
    }
  }
  restore();
  return surprises;
}

const FIRST = new Map(PLACES.toReversed().map((place) => [place[1], place]));

for (const [reader, place] of FIRST) {
  test(`${reader} reads any value: ${place[0]}`, async () => {
    assert.deepEqual(await surprisesIn(place, HOSTILE_VALUES), []);
  });
}

const functions = new Set(PLACES.map(([title]) => title.split(",")[0]));

for (const name of functions) {
  test(`${name} reads each of its places`, async () => {
    const surprises: string[] = [];
    for (const place of PLACES.filter(([title]) => title.split(",")[0] === name)) {
      const drawn = HOSTILE_VALUES[random(HOSTILE_VALUES.length)];
      const values = HAS_ALL ? HOSTILE_VALUES : [...FEW, drawn];
      surprises.push(...(await surprisesIn(place, values)));
    }
    assert.deepEqual(surprises, []);
  });
}
