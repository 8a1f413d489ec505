/**
 * Creates the nodes with which ONNX's schemas define a function operator. The records cover definitions that contain a
 * scatter or gather, and definitions of operators that a conversion to an older opset replaces. Attention is not
 * recorded: its definition gathers only sizes, and depends on too many properties of the node.
 */

import { DTYPES, type DType } from "../../core/tensor/dtype.ts";
import { tensor } from "../../core/tensor/tensor.ts";
import type { TensorType } from "../../core/operators/operator.ts";
import { dtypeOfNumber } from "./element-type.ts";
import {
  bodyAttribute,
  constant,
  isReference,
  type Attribute,
  type Graph,
  type ModelNode,
} from "./model.ts";
import { BODIES } from "./standard-bodies.ts";

/**
 * A recorded attribute. The value `@0` stands for the first input's data type, and `@name` stands for an attribute of
 * the node.
 */
type Recorded =
  | readonly ["int", number | "@0"]
  | readonly ["ints", readonly number[]]
  | readonly ["float", number]
  | readonly ["string", string]
  | readonly ["reference", string]
  | readonly ["tensor", number | "@0", readonly number[], readonly (number | string)[]]
  | readonly ["graph", readonly string[], readonly Line[]];

/**
 * A recorded node: output names separated by spaces, operator, input names separated by commas, attributes, and feature
 * values under which the body contains the node.
 */
type Line = readonly [
  outputs: string,
  op: string,
  inputs: string,
  attributes?: Readonly<Record<string, Recorded>>,
  needs?: readonly (readonly [feature: number, value: unknown])[],
];

/**
 * A property of the defined node that changes its body. A feature tells whether an input, output or attribute is
 * present, which value an attribute has, or whether an input has a certain rank or is float32.
 */
type Feature =
  | readonly ["given" | "output" | "float", number]
  | readonly ["rank", number, ...ranks: number[]]
  | readonly ["set" | "positive", string]
  | readonly ["is", string, absent: number | string, ...values: (number | string)[]];

interface Body {
  readonly op: string;
  /** Operator versions with this body, oldest first. */
  readonly versions: readonly number[];
  readonly inputs: readonly string[];
  readonly outputs: readonly string[];
  readonly defaults: Readonly<Record<string, Recorded>>;
  /** The minimum number of inputs. */
  readonly required: number;
  readonly features: readonly Feature[];
  readonly lines: readonly Line[];
}

/** The body of a node, as a graph that can use values of the node's graph. */
export interface StandardBody {
  /** The opset of the body's nodes. */
  readonly opset: number;
  readonly graph: Graph;
}

export const hasStandardBody = ({ domain, op }: ModelNode): boolean =>
  domain === "ai.onnx" && Object.hasOwn(BODIES, op);

/**
 * Returns the standard body of a node. The result is null if the body is not recorded, or if it depends on unknown
 * types or attributes. The callback `typeOf` gives a value's type. The callback `rename` gives a value's name in the
 * body, for a name that begins with the node's output.
 */
export function standardBody(
  node: ModelNode,
  opset: number | null,
  typeOf: (name: string) => TensorType | null,
  rename: (name: string) => string = (name) => name,
): StandardBody | null {
  if (opset === null || !hasStandardBody(node)) return null;
  const bodies = BODIES[node.op].map((record) => JSON.parse(record) as Body);
  const since = bodies.flatMap(({ versions }) => versions).findLast((version) => version <= opset);
  const body = bodies.find(({ versions }) => versions.some((version) => version === since));
  if (body === undefined || since === undefined) return null;
  const facts = body.features.map((feature) => factOf(feature, node, typeOf));
  const isWhole = body.inputs.slice(0, body.required).every((_, at) => node.inputs[at]);
  if (facts.includes(null) || !isWhole) return null;
  const dtype = typeOf(node.inputs[0] ?? "")?.dtype ?? null;
  const expansion = new Expansion({ node, body, facts, dtype, rename });
  const nodes = expansion.nodes(body.lines);
  if (expansion.isUnknown) return null;
  const outputs = node.outputs.filter((name) => name !== "").map((name) => ({ name, type: null }));
  return { opset: since, graph: { name: "", inputs: [], outputs, nodes, constants: [] } };
}

/** Returns a feature's value; null if the value is unknown, or if no body was recorded for the value. */
function factOf(
  feature: Feature,
  { inputs, outputs, attributes }: ModelNode,
  typeOf: (name: string) => TensorType | null,
): boolean | number | string | null {
  const [kind, key] = feature;
  if (kind === "given") return Boolean(inputs[key]);
  if (kind === "output") return Boolean(outputs[key]);
  if (kind === "rank" || kind === "float") {
    const type = typeOf(inputs[key] ?? "");
    if (kind === "float") return type && type.dtype === "float32";
    const [, , ...ranks] = feature;
    return ranks.find((rank) => rank === type?.shape?.length) ?? null;
  }
  const attribute = Object.hasOwn(attributes, key) ? attributes[key] : undefined;
  if (attribute !== undefined && isReference(attribute)) return null;
  if (kind === "set") return attribute !== undefined;
  if (kind === "positive") return Number(attribute?.value ?? 0) > 0;
  const [, , absent, ...values] = feature;
  const { value = absent } = attribute ?? {};
  const plain = typeof value === "string" ? value : Number(value);
  return values.find((one) => one === plain) ?? null;
}

/** A node with its body, the values of the body's features, and the data type of the first input. */
interface Expanded {
  readonly node: ModelNode;
  readonly body: Body;
  readonly facts: readonly unknown[];
  readonly dtype: DType | null;
  readonly rename: (name: string) => string;
}

class Expansion {
  /** True if the body depends on an unknown data type, or on an attribute that a function's caller sets. */
  isUnknown = false;
  readonly #of: Expanded;
  readonly #names = new Map<string, string>([["", ""]]);

  constructor(expanded: Expanded) {
    this.#of = expanded;
    const { node, body } = expanded;
    for (const [at, name] of body.inputs.entries()) this.#names.set(name, node.inputs[at] ?? "");
    for (const [at, name] of body.outputs.entries())
      if ((node.outputs[at] ?? "") !== "") this.#names.set(name, node.outputs[at]);
  }

  nodes(lines: readonly Line[]): ModelNode[] {
    return lines
      .filter(([, , , , needs = []]) =>
        needs.every(([feature, value]) => this.#of.facts[feature] === value),
      )
      .map(([outputs, op, inputs, attributes = {}]) => {
        const names = outputs.split(" ").map((name) => this.#nameOf(name));
        return {
          name: names[0],
          op,
          domain: "ai.onnx",
          inputs: inputs === "" ? [] : inputs.split(",").map((name) => this.#nameOf(name)),
          outputs: names,
          attributes: Object.fromEntries(
            Object.entries(attributes).flatMap(([name, one]) => {
              const made = this.#attribute(one);
              return made === null ? [] : [[name, made]];
            }),
          ),
        };
      });
  }

  #nameOf(name: string): string {
    const known = this.#names.get(name);
    if (known !== undefined) return known;
    const { node, rename } = this.#of;
    const { op, outputs } = node;
    const made = rename(`${outputs.find((one) => one !== "") ?? op}/${name}`);
    this.#names.set(name, made);
    return made;
  }

  #attribute(recorded: Recorded): Attribute | null {
    switch (recorded[0]) {
      case "reference":
        return this.#given(recorded[1]);
      case "int":
        return { type: "int", value: this.#number(recorded[1]) };
      case "tensor":
        return this.#tensor(recorded[1], recorded[2], recorded[3]);
      case "graph": {
        const [, names, lines] = recorded;
        const outputs = names.map((name) => ({ name: this.#nameOf(name), type: null }));
        const nodes = this.nodes(lines);
        return bodyAttribute({ name: "body", inputs: [], outputs, nodes, constants: [] });
      }
      default: {
        const [type, value] = recorded;
        return { type, value } as Attribute;
      }
    }
  }

  #given(name: string): Attribute | null {
    const { node, body } = this.#of;
    if (Object.hasOwn(node.attributes, name)) return node.attributes[name];
    const { [name]: standard } = body.defaults;
    return standard === undefined ? null : this.#attribute(standard);
  }

  #number(recorded: number | "@0"): number {
    if (recorded !== "@0") return recorded;
    const { dtype } = this.#of;
    if (dtype === null) this.isUnknown = true;
    return DTYPES[dtype ?? "float32"].onnx.number;
  }

  #tensor(
    number: number | "@0",
    shape: readonly number[],
    values: readonly (number | string)[],
  ): Attribute {
    const dtype = dtypeOfNumber(this.#number(number)) ?? "float32";
    const given = values.map((one) => (typeof one === "string" ? this.#slot(one.slice(1)) : one));
    const elements = dtype === "int64" ? given.map(BigInt) : given.map(Number);
    return { type: "tensor", value: constant("", tensor(dtype, [...shape], elements)) };
  }

  /** Returns the number in the named attribute, or 0 if it is absent. The text `a*a` means a product. */
  #slot(names: string): bigint {
    const factors = names.split("*").map((name) => {
      const { type, value } = this.#given(name) ?? { type: "int", value: 0n };
      if (type === "int" && Number.isInteger(Number(value))) return BigInt(value);
      this.isUnknown = true;
      return 0n;
    });
    const product = factors.reduce((one, factor) => one * factor);
    if (BigInt.asIntN(64, product) === product) return product;
    this.isUnknown = true;
    return 0n;
  }
}
