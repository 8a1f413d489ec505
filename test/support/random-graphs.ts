/**
 * Random models of several nodes: scatters and gathers anywhere, in the bodies of If, Loop and Scan and in functions,
 * between nodes of other operators. Bodies use values of the graphs around them, hide some, and share names.
 */

import { tensor, type Tensor } from "../../src/core/tensor/tensor.ts";
import { writeTensor } from "../../src/entries/onnx.ts";
import { bytes, file, int, text, type Bytes } from "./onnx-encoder.ts";
import { attribute, ATTRIBUTE, dim, FUNCTION, GRAPH, MODEL, NODE } from "./onnx-parts.ts";
import { nodeMessage, opset, tensorType, valueInfo } from "./onnx-parts.ts";
import type { Random } from "./random.ts";

/** The kind of a value. Lists and matrices have axes of 4; indices are in -4 to 3. */
type Kind = "list" | "matrix" | "indices" | "flag" | "number" | "sequence" | "optional" | "other";

interface Named {
  readonly name: string;
  readonly kind: Kind;
}

const [FLOAT, INT64, BOOL] = [1, 7, 9];

const FOUR = [dim(4)];

const TYPES: Partial<Record<Kind, Bytes>> = {
  list: tensorType(FLOAT, ...FOUR),
  matrix: tensorType(FLOAT, ...FOUR, ...FOUR),
  indices: tensorType(INT64, ...FOUR),
  flag: tensorType(BOOL),
  number: tensorType(INT64),
};

/** The kinds that inputs and constants can have. */
const TENSORS = ["list", "matrix", "indices", "flag"] as const;

const CARRIED = ["list", "matrix", "indices"] as const;

const DOMAIN = "local";

export interface RandomGraph {
  readonly bytes: Uint8Array;
  readonly feeds: Readonly<Record<string, Tensor>>;
  /** The operators of all its nodes. */
  readonly ops: ReadonlySet<string>;
}

/** @param size the approximate number of nodes in the model's own graph */
export function randomGraph(random: Random, size: number): RandomGraph {
  const ops = new Set<string>();
  const functions: FunctionText[] = [];
  for (let n = random(3); n > 0; n--) functions.push(functionText({ random, ops, functions }, n));
  const graph = new GraphMaker({ random, ops, functions }, null);
  const feeds: [string, Tensor][] = [];
  for (const kind of [...CARRIED, graph.pick(TENSORS), graph.pick(TENSORS), "flag"] as const) {
    const name = graph.input(kind);
    const hasDefault = random(4) === 0;
    if (hasDefault) graph.addConstant(name, graph.tensor(kind));
    if (!hasDefault || random(2) === 0) feeds.push([name, graph.tensor(kind)]);
  }
  graph.grow(size);
  const message = file(
    int(MODEL.irVersion, 8),
    bytes(MODEL.graph, graph.message(graph.results(1 + random(4)))),
    opset(18),
    opset(1, DOMAIN),
    ...functions.map((one) => one.bytes),
  );
  return { bytes: message, feeds: Object.fromEntries(feeds), ops };
}

interface FunctionText {
  readonly name: string;
  readonly inputs: readonly Kind[];
  readonly outputs: readonly Kind[];
  readonly bytes: Bytes;
}

interface Context {
  readonly random: Random;
  readonly ops: Set<string>;
  /** The functions that nodes may call. */
  readonly functions: readonly FunctionText[];
}

function functionText(context: Context, nth: number): FunctionText {
  const own = { ...context, functions: [...context.functions] };
  const graph = new GraphMaker(own, null, true);
  const inputs = [graph.pick(CARRIED), graph.pick(CARRIED)];
  const names = inputs.map((kind) => graph.input(kind));
  graph.grow(1 + context.random(4));
  const results = graph.results(1 + context.random(2));
  const message = [
    ...text(FUNCTION.name, `F${nth}`),
    ...text(FUNCTION.domain, DOMAIN),
    ...names.flatMap((name) => text(FUNCTION.input, name)),
    ...results.flatMap(({ name }) => text(FUNCTION.output, name)),
    ...graph.nodes.flatMap((one) => bytes(FUNCTION.node, one)),
    ...opset(18, undefined, FUNCTION.opsetImport),
    ...opset(1, DOMAIN, FUNCTION.opsetImport),
  ];
  const kinds = results.map(({ kind }) => kind);
  return { name: `F${nth}`, inputs, outputs: kinds, bytes: bytes(MODEL.functions, message) };
}

class GraphMaker {
  readonly nodes: Bytes[] = [];
  readonly #context: Context;
  readonly #outer: GraphMaker | null;
  readonly #depth: number;
  /** Functions have no constants of their own, so nodes make them. */
  readonly #isFunction: boolean;
  readonly #inputs: Named[] = [];
  readonly #own: Named[] = [];
  readonly #constants: Bytes[] = [];
  #count = 0;

  constructor(context: Context, outer: GraphMaker | null, isFunction = false) {
    this.#context = context;
    this.#outer = outer;
    this.#depth = outer === null ? 0 : outer.#depth + 1;
    this.#isFunction = isFunction || (outer !== null && outer.#isFunction);
  }

  random(below: number): number {
    return this.#context.random(below);
  }

  pick<T>(list: readonly T[]): T {
    return list[this.random(list.length)];
  }

  tensor(kind: Kind): Tensor {
    const floats = (size: number): number[] =>
      Array.from({ length: size }, () => (this.random(129) - 64) / 16);
    switch (kind) {
      case "list":
        return tensor("float32", [4], floats(4));
      case "matrix":
        return tensor("float32", [4, 4], floats(16));
      case "indices":
        return tensor(
          "int64",
          [4],
          Array.from({ length: 4 }, () => this.random(8) - 4),
        );
      case "number":
        return tensor("int64", [], this.random(4));
      default:
        return tensor("bool", [], this.random(2) === 1);
    }
  }

  /** Bodies of the same depth share names. */
  #add(kind: Kind, name = `${"abcdefgh"[this.#depth]}${this.#count++}`): string {
    this.#own.push({ name, kind });
    return name;
  }

  /** An input; inputs of bodies sometimes hide a value of the graph around. */
  input(kind: Kind): string {
    const hidden = this.#outer?.visible() ?? [];
    const isHiding = hidden.length > 0 && this.random(6) === 0;
    const other = isHiding ? this.pick(hidden).name : undefined;
    const name = this.#add(kind, this.#own.some((one) => one.name === other) ? undefined : other);
    this.#inputs.push({ name, kind });
    return name;
  }

  addConstant(name: string, value: Tensor): void {
    this.#constants.push(bytes(GRAPH.initializer, [...writeTensor(value, name)]));
  }

  constant(value: Tensor, kind: Kind = "other"): string {
    if (this.#isFunction || this.random(3) === 0) {
      const made = bytes(ATTRIBUTE.t, [...writeTensor(value)]);
      return this.node("Constant", [], kind, attribute("value", "TENSOR", made));
    }
    const name = this.#add(kind);
    this.addConstant(name, value);
    return name;
  }

  ints(...values: number[]): string {
    return this.constant(tensor("int64", [values.length], values));
  }

  /** The values that a node here can use. */
  visible(): readonly Named[] {
    const own = new Set(this.#own.map(({ name }) => name));
    const outer = this.#outer?.visible() ?? [];
    return [...outer.filter(({ name }) => !own.has(name)), ...this.#own];
  }

  /** The name of a value of this kind, created if none exists. */
  some(kind: Kind): string {
    const all = this.visible().filter((one) => one.kind === kind);
    if (all.length > 0 && this.random(8) > 0) return this.pick(all.slice(-6)).name;
    if (kind === "sequence") return this.node("SequenceConstruct", this.lists(2), kind);
    if (kind === "optional") return this.node("Optional", this.lists(1), kind);
    return this.constant(this.tensor(kind), kind);
  }

  lists = (count: number): string[] => Array.from({ length: count }, () => this.some("list"));

  /** Adds a node. @returns its first output */
  node(
    op: string,
    inputs: readonly string[],
    kinds: Kind | readonly Kind[],
    ...attributes: readonly Bytes[]
  ): string {
    const all = typeof kinds === "string" ? [kinds] : kinds;
    const outputs = all.map((kind) => this.#add(kind));
    this.#context.ops.add(op);
    const domain = /^F\d/.test(op) ? text(NODE.domain, DOMAIN) : [];
    const isNamed = this.random(2) === 0;
    this.nodes.push(
      nodeMessage(
        op,
        ...inputs.map((one) => text(NODE.input, one)),
        ...outputs.map((one) => text(NODE.output, one)),
        isNamed ? text(NODE.name, `n${this.#count++}`) : [],
        domain,
        ...attributes,
      ),
    );
    return outputs[0];
  }

  grow(count: number): void {
    for (let n = 0; n < count; n++) this.#grow();
  }

  #grow(): void {
    const isDeep = this.#depth >= 3;
    const kind = this.random(isDeep ? 12 : 17);
    if (kind < 3) this.#plain();
    else if (kind < 8) this.#scatter();
    else if (kind < 11) this.#gather();
    else if (kind === 11) this.#other();
    else if (kind === 12) this.#choice();
    else if (kind === 13) this.#loop();
    else if (kind === 14) this.#scan();
    else this.#call();
  }

  #plain(): void {
    const kind = this.pick(["list", "matrix"] as const);
    const op = this.pick(["Relu", "Neg", "Tanh", "Add", "Sub", "Max", "Identity"]);
    const isOfTwo = ["Add", "Sub", "Max"].includes(op);
    this.node(op, isOfTwo ? [this.some(kind), this.some("list")] : [this.some(kind)], kind);
  }

  #scatter(): void {
    const kind = this.pick(["list", "matrix"] as const);
    const words = ["none", "none", "add", "add", "mul", "max", "min"];
    const word = this.pick(words);
    const reduction =
      word === "none" && this.random(2) === 0 ? [] : [textAttribute("reduction", word)];
    const [data, indices] = [this.some(kind), this.some("indices")];
    if (this.random(2) === 0) {
      const tuples = this.node("Reshape", [indices, this.ints(4, 1)], "other");
      this.node("ScatterND", [data, tuples, this.some(kind)], kind, ...reduction);
    } else if (kind === "list") {
      this.node("ScatterElements", [data, indices, this.some(kind)], kind, ...reduction);
    } else {
      const row = this.node("Unsqueeze", [indices, this.ints(0)], "other");
      const updates = this.node("Unsqueeze", [this.some("list"), this.ints(0)], "other");
      const axis = intAttribute("axis", this.random(4) - 2);
      this.node("ScatterElements", [data, row, updates], kind, axis, ...reduction);
    }
  }

  #gather(): void {
    const indices = this.some("indices");
    switch (this.random(6)) {
      case 0:
        this.node(
          "Gather",
          [this.some("matrix"), indices],
          "matrix",
          intAttribute("axis", this.random(4) - 2),
        );
        break;
      case 1:
        this.node("Gather", [this.some("indices"), indices], "indices");
        break;
      case 2:
        this.node("GatherElements", [this.some("list"), indices], "list");
        break;
      case 3: {
        const tuples = this.node("Reshape", [indices, this.ints(4, 1)], "other");
        this.node("GatherND", [this.some("matrix"), tuples], "matrix");
        break;
      }
      case 4: {
        const three = this.constant(tensor("int64", [], 3), "number");
        const number = this.node("Min", [this.some("number"), three], "number");
        this.node("Gather", [this.some("matrix"), number], "list");
        break;
      }
      default:
        this.node("Gather", [this.some("list"), indices], "list");
    }
  }

  #other(): void {
    switch (this.random(7)) {
      case 0:
        this.node("TopK", [this.some("list"), this.ints(4)], ["list", "indices"]);
        break;
      case 1:
        this.node("SequenceInsert", [this.some("sequence"), this.some("list")], "sequence");
        break;
      case 2: {
        const at = this.constant(tensor("int64", [], -1));
        this.node("SequenceAt", [this.some("sequence"), at], "list");
        break;
      }
      case 3:
        this.node("OptionalGetElement", [this.some("optional")], "list");
        break;
      case 4: {
        const sum = this.node(
          "ReduceSum",
          [this.some("list")],
          "other",
          intAttribute("keepdims", 0),
        );
        this.node("Less", [sum, this.constant(tensor("float32", [], 0))], "flag");
        break;
      }
      case 5:
        this.node(
          "ReduceSum",
          [this.some("matrix"), this.ints(0)],
          "list",
          intAttribute("keepdims", 0),
        );
        break;
      default:
        this.node("Cast", [this.some("list")], "list", intAttribute("to", FLOAT));
    }
  }

  #body(): GraphMaker {
    return new GraphMaker(this.#context, this);
  }

  #growBody(body: GraphMaker): void {
    body.grow(this.random(4));
  }

  /** Values of these kinds from nodes of this graph, because outputs may not be values of another graph. */
  #ends(kinds: readonly Kind[]): Named[] {
    const used = new Set(this.#inputs.map(({ name }) => name));
    return kinds.map((kind) => {
      const own = this.#own.filter((one) => one.kind === kind && !used.has(one.name));
      const isMade = own.length === 0 || this.random(3) === 0;
      const name = isMade ? this.node("Identity", [this.some(kind)], kind) : this.pick(own).name;
      used.add(name);
      return { name, kind };
    });
  }

  #isInput = ({ name }: Named): boolean => this.#inputs.some((one) => one.name === name);

  /** Some values of the graph as outputs of different names. */
  results(count: number): Named[] {
    const tensors = this.#own.filter(
      (one) => one.kind !== "sequence" && one.kind !== "optional" && !this.#isInput(one),
    );
    const chosen = new Map<string, Named>();
    const last = this.#isFunction
      ? tensors.filter(({ kind }) => CARRIED.includes(kind as "list"))
      : tensors;
    for (let n = 0; n < count && last.length > 0; n++) {
      const one = this.pick(last.slice(-8));
      chosen.set(one.name, one);
    }
    return chosen.size > 0 ? [...chosen.values()] : this.#ends(["list"]);
  }

  /** The graph as a message. Types that ONNX Runtime does not need are included at random. */
  message(outputs: readonly Named[]): Bytes {
    const info = ({ name, kind }: Named, isTyped: boolean): Bytes => {
      const type = TYPES[kind];
      return valueInfo(name, ...(isTyped && type !== undefined ? [type] : []));
    };
    const isMain = this.#depth === 0;
    // ONNX Runtime requires the types of the number of iterations and of the condition.
    const isLoop = ({ kind }: Named): boolean => kind === "number" || kind === "flag";
    return [
      ...this.nodes.flatMap((one) => bytes(GRAPH.node, one)),
      ...text(GRAPH.name, `graph ${this.#depth}`),
      ...this.#constants.flat(),
      ...this.#inputs.flatMap((one) =>
        bytes(GRAPH.input, info(one, isMain || isLoop(one) || this.random(2) === 0)),
      ),
      ...outputs.flatMap((one) => bytes(GRAPH.output, info(one, this.random(2) === 0))),
    ];
  }

  #choice(): void {
    const kinds = this.#kinds([...CARRIED, "sequence"], 1);
    const branches = ["then_branch", "else_branch"].map((name) => {
      const body = this.#body();
      this.#growBody(body);
      return graphAttribute(name, body.message(body.#ends(kinds)));
    });
    this.node("If", [this.some("flag")], kinds, ...branches);
  }

  #kinds(of: readonly Kind[], least: number): Kind[] {
    return Array.from({ length: least + this.random(3) }, () => this.pick(of));
  }

  #loop(): void {
    const states = this.#kinds([...CARRIED, "flag"], 0);
    const collected = this.#kinds(["list", "matrix"], states.length === 0 ? 1 : 0);
    const [most, going] = this.pick([
      [this.constant(this.tensor("number")), ""],
      [this.constant(tensor("int64", [1], [2])), this.some("flag")],
      [this.constant(tensor("int64", [], 3)), this.constant(tensor("bool", [], true))],
    ] as const);
    const given = states.map((kind) => this.some(kind));
    const body = this.#body();
    const number = body.input("number");
    const condition = body.input("flag");
    for (const kind of states) body.input(kind);
    this.#growBody(body);
    const isEndless = this.random(2) === 0;
    const on = isEndless
      ? body.node("Identity", [condition], "flag")
      : body.node("Less", [number, body.constant(tensor("int64", [], this.random(4)))], "flag");
    const ends = [{ name: on, kind: "flag" } as const, ...body.#ends([...states, ...collected])];
    const made = [...states, ...collected.map((): Kind => "other")];
    const inside = graphAttribute("body", body.message(ends));
    const first = this.node("Loop", [most, going, ...given], made, inside);
    if (first !== "") this.#sums(collected, made.length);
  }

  /** Sums of the iterations' outputs, so that other nodes can use them. */
  #sums(collected: readonly Kind[], count: number): void {
    const made = this.#own.slice(-count).slice(count - collected.length);
    for (const [nth, kind] of collected.entries()) {
      const axis = this.ints(0);
      this.node("ReduceSum", [made[nth].name, axis], kind, intAttribute("keepdims", 0));
    }
  }

  #scan(): void {
    const states = this.#kinds(CARRIED, 0);
    const scanned = 1 + this.random(2);
    const collected = 1 + this.random(2);
    const given = [
      ...states.map((kind) => this.some(kind)),
      ...Array.from({ length: scanned }, () => this.some("matrix")),
    ];
    const body = this.#body();
    for (const kind of states) body.input(kind);
    for (let n = 0; n < scanned; n++) body.input("list");
    this.#growBody(body);
    const slices = Array.from({ length: collected }, (): Kind => "list");
    const ends = body.#ends([...states, ...slices]);
    const list = (name: string, count: number, from: readonly number[]): Bytes =>
      this.random(2) === 0
        ? []
        : attribute(
            name,
            "INTS",
            Array.from({ length: count }, () => int(ATTRIBUTE.ints, this.pick(from))).flat(),
          );
    this.node(
      "Scan",
      given,
      [...states, ...slices.map((): Kind => "matrix")],
      graphAttribute("body", body.message(ends)),
      intAttribute("num_scan_inputs", scanned),
      list("scan_input_axes", scanned, [0, 1, -1]),
      list("scan_input_directions", scanned, [0, 1]),
      list("scan_output_axes", collected, [0, 1, -1]),
      list("scan_output_directions", collected, [0, 1]),
    );
  }

  #call(): void {
    const { functions } = this.#context;
    if (functions.length === 0) return this.#scatter();
    const { name, inputs, outputs } = this.pick(functions);
    this.node(
      name,
      inputs.map((kind) => this.some(kind)),
      outputs,
    );
  }
}

const intAttribute = (name: string, value: number): Bytes =>
  attribute(name, "INT", int(ATTRIBUTE.i, value));

const textAttribute = (name: string, value: string): Bytes =>
  attribute(name, "STRING", text(ATTRIBUTE.s, value));

const graphAttribute = (name: string, graph: Bytes): Bytes =>
  attribute(name, "GRAPH", bytes(ATTRIBUTE.g, graph));
