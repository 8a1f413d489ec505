/**
 * What is called: a node of a model or a plain function, resolved to an operator version with parsed options.
 *
 * A call of a plain function in a loop usually has the same options, data types and shapes as the previous call, and
 * checking them takes many times as long as comparing them. The last calls and the forms of their tensors are therefore
 * stored with the exact values that were checked; a call with equal values is not checked again. Tensors and their
 * elements are never stored.
 */

import { TensorError, type ErrorContext } from "../errors.ts";
import { checkNames, isArray, objectOf, printValue, wrongOption } from "../foreign.ts";
import { CALLS } from "../limits.ts";
import {
  NEWEST_OPSETS,
  type Inputs,
  type Operator,
  type OperatorCall,
  type OperatorVersion,
  type PlanShapes,
} from "../operators/operator.ts";
import { lookUp, partsOf, type OperatorId } from "../operators/registry.ts";
import { reductionOf, settingsOf, type Attributes } from "../operators/settings.ts";
import { signatureOf, type Signature } from "../operators/signature.ts";
import type { Bounds, Planner } from "../plan/indices.ts";
import type { DType, Step } from "../tensor/dtype.ts";
import { Tensor } from "../tensor/tensor.ts";

/** A model node: an operator at an opset, and its attributes. */
export interface NodeSpec extends OperatorId {
  /** Attributes with the names and values that the version's specification uses, such as `batch_dims` or `prod`. */
  readonly attributes?: Attributes | undefined;
}

/**
 * Policies, which are options of the plain functions that the specifications do not have. `ScatterChoices` and
 * `GatherChoices` in `typed-shape.ts` describe each; a policy that was not chosen is absent.
 */
export interface Policies {
  readonly bounds?: Bounds | undefined;
  readonly negative?: "wrap" | "error" | undefined;
  readonly duplicates?: "last" | "error" | undefined;
  readonly includeSelf?: boolean | undefined;
}

/** A call of one operator version, complete except for its tensors. */
export interface Call extends OperatorCall {
  readonly operator: Operator;
  /** The signature of the operator version. */
  readonly signature: Signature;
  readonly policies: Policies;
}

/** A call of known data types and shapes, after all checks that do not need the values of tensors. */
export interface Form {
  readonly call: Call;
  /** Positions of the inputs by role; -1 for a role without an input. */
  readonly positions: Signature["positions"];
  /** Shape of the output. */
  readonly shape: readonly number[];
  readonly size: number;
  /** Name of the input that a scatter may write to; null for a gather. */
  readonly inPlace: string | null;
  readonly shapes: PlanShapes;
  readonly planner: Planner;
  /** Indices to use if the call omits them. */
  readonly defaultIndices: Tensor | undefined;
  readonly refusesRepeats: boolean;
  /** Step of a scatter that performs the same step for every update; null for other calls. */
  readonly step: Step | null;
}

const NODE_PARTS = ["domain", "op", "opset", "attributes"] as const;

/** Common wrong keys of a node, each with the right key. */
const MEANT_PARTS = {
  name: "op",
  type: "op",
  op_type: "op",
  version: "opset",
  axis: "attributes: { … }",
  reduction: "attributes: { … }",
} as const;

/** Names that people give as options of a node's call, and the parts of the node that have their values. */
export const MEANT_OPTIONS = {
  attributes: "node.attributes",
  axis: "node.attributes.axis",
  batchDims: "node.attributes.batch_dims",
  batch_dims: "node.attributes.batch_dims",
  reduction: "node.attributes.reduction",
} as const;

/**
 * Reads a node from outside the package, each of its parts once.
 * @throws TensorError `unknown-operator`, `attribute` for an unknown key
 */
export function nodeFrom(node: NodeSpec): NodeSpec {
  const own = partsOf(node, NODE_PARTS);
  checkNames("key of a node", node, NODE_PARTS, {}, MEANT_PARTS);
  return own;
}

/**
 * Resolves a node's operator version and parses its attributes.
 * @param node a node that `nodeFrom` returned
 * @throws TensorError `unknown-operator`, `attribute`, `reduction`
 */
export function callOf(node: NodeSpec): Call {
  const { operator, version } = lookUp(node);
  const fields = fieldsOf(version);
  const { attributes: given = {} } = node;
  const attributes = objectOf("attributes", given, fields);
  const settings = settingsOf(version, operator.versions, attributes, fields);
  return { operator, version, signature: signatureOf(version), settings, fields, policies: {} };
}

/**
 * Reads and resolves a node of a model. Callers that run a node many times should do so once, because parsing takes
 * half the time of a small call.
 */
export const readCall = (node: NodeSpec): Call => callOf(nodeFrom(node));

/**
 * Reads a node that a caller runs, whose opset must be known; nodes of models may have a newer opset.
 * @throws TensorError the errors of `nodeFrom` and `callOf`
 */
export function callOfKnown(node: NodeSpec): Call {
  const own = nodeFrom(node);
  const { opset } = own;
  const call = callOf(own);
  const { name: op, domain } = call.version;
  const { [domain]: newest } = NEWEST_OPSETS;
  if (opset <= newest) return call;
  const sentence = `opset ${opset} of ${domain} is unknown; the newest known opset is ${newest}`;
  const facts = { op, key: "opset", got: opset, expected: newest };
  throw new TensorError("unknown-operator", sentence, facts);
}

/** Returns the fields that every error in a call of this version has. */
export const fieldsOf = ({ name, sinceVersion }: OperatorVersion): ErrorContext => ({
  op: name,
  opset: sinceVersion,
});

/** Returns the version that an operator's plain function runs. */
export function plainVersionOf({ plain, versions }: Operator): OperatorVersion {
  if (plain !== undefined) return plain;
  throw new Error(`${versions[0].name} of ${versions[0].domain} has no plain function`);
}

/** Splits the arguments of a plain function into its inputs and the options that follow them. */
export function splitArguments(
  operator: Operator,
  args: readonly unknown[],
): [inputs: readonly unknown[], options: unknown] {
  const { length } = plainVersionOf(operator).inputs;
  return [args.slice(0, length), args[length]];
}

type Name = keyof Policies;
type Words = readonly (string | boolean)[];

/** Allowed values of each policy, by operator kind. */
const ALLOWED: Readonly<Record<Name, Partial<Record<Operator["kind"], Words>>>> = {
  bounds: { scatter: ["error", "clip", "drop"], gather: ["error", "clip", "fill"] },
  negative: { scatter: ["wrap", "error"], gather: ["wrap", "error"] },
  duplicates: { scatter: ["last", "error"] },
  includeSelf: { scatter: [true, false] },
};

const NAMES = Object.keys(ALLOWED) as readonly Name[];

/** Returns the allowed values of a policy of an operator; undefined if the operator does not have the policy. */
const wordsOf = ({ kind, versions: [{ indexForm }] }: Operator, name: Name): Words | undefined =>
  indexForm === "sequences" ? undefined : ALLOWED[name][kind];

/**
 * Reads the policies from the options of a call.
 * @throws TensorError `attribute` for a policy that the operator does not have, or a value that the policy does not
 *   allow
 */
export function policiesOf(
  operator: Operator,
  options: Readonly<Record<string, unknown>>,
  fields: ErrorContext,
): Policies {
  const policies: Record<string, unknown> = {};
  for (const name of NAMES) {
    const given = options[name];
    if (given === undefined) continue;
    const words = wordsOf(operator, name);
    if (words === undefined) {
      const isScatter = operator.kind === "scatter";
      const why = isScatter ? "the operator has its own rule" : "a gather has no targets";
      const sentence = `${name} is not an option here: ${why}`;
      throw new TensorError("attribute", sentence, { ...fields, key: name });
    }
    if (!words.some((word) => word === given)) {
      const must = words.map((word) => JSON.stringify(word)).join(", ");
      throw wrongOption(name, `one of ${must}`, given, { ...fields, allowed: words });
    }
    policies[name] = given;
  }
  return policies;
}

type Options = Readonly<Record<string, unknown>>;

const NO_OPTIONS: Options = Object.freeze({});

/**
 * Reads the options of a plain function, each once.
 * @throws TensorError `attribute` for a value that is not an object of options
 */
export function plainOptions(operator: Operator, options: unknown): Options {
  if (options === undefined) return NO_OPTIONS;
  const { fields } = recentCalls(operator);
  const isObject = typeof options === "object" && options !== null;
  return isObject && !Tensor.isTensor(options) && !isArray(options)
    ? objectOf("options", options, fields)
    : refuseOptions(operator, options, fields);
}

/**
 * Refuses a value instead of options, such as `"add"` or another input.
 * @throws TensorError `attribute`, with an object that has the value if an attribute takes it
 */
function refuseOptions(operator: Operator, options: unknown, fields: ErrorContext): never {
  const { attributes, inputs } = plainVersionOf(operator);
  const type = Number.isInteger(options) ? "int" : "string";
  const attribute = attributes.find((one) => one.type === type);
  const { name = "bounds", values = ["error", "clip"] } = attribute ?? {};
  const word = typeof options === "string" ? (reductionOf(options) ?? options) : "";
  const example = attribute?.type === "int" ? options : values.includes(word) ? word : values[1];
  const must = `options must be an object after ${inputs.map((one) => one.name).join(", ")}`;
  const got = Tensor.isTensor(options) ? "a tensor" : printValue(options);
  const sentence = `${must}, such as { ${name}: ${printValue(example)} }, got ${got}`;
  throw new TensorError("attribute", sentence, { ...fields, key: "options", got });
}

/** The last calls of a plain function, oldest first, and the error fields to use before a call is parsed. */
interface RecentCalls {
  readonly fields: ErrorContext;
  readonly calls: PlainCall[];
}

/**
 * A call of a plain function, with the options that it was parsed from except `out`, and the forms of the tensors that
 * were passed.
 */
export interface PlainCall extends Call {
  readonly names: readonly string[];
  readonly values: readonly unknown[];
  readonly forms: RecentForm[];
}

/** A form, and the data types and dimensions of its tensors; undefined for omitted inputs. */
export interface RecentForm {
  readonly form: Form;
  readonly dtypes: Inputs<DType>;
  readonly dims: Inputs<readonly number[]>;
}

const RECENT = new WeakMap<Operator, RecentCalls>();

function recentCalls(operator: Operator): RecentCalls {
  const known = RECENT.get(operator);
  if (known !== undefined) return known;
  const recent = { fields: { op: plainVersionOf(operator).name }, calls: [] };
  RECENT.set(operator, recent);
  return recent;
}

/**
 * Returns the call of a plain function, from the recent calls or from new checks.
 * @param options attributes with camelCase names, `out` and the policies
 * @throws TensorError `attribute`, `reduction`
 */
export function plainCallOf(operator: Operator, options: Options): PlainCall {
  const { calls, fields } = RECENT.get(operator) ?? recentCalls(operator);
  for (let c = 0; c < calls.length; c++) if (areSame(options, calls[c])) return calls[c];
  const version = plainVersionOf(operator);
  const { out: _, ...rest } = options;
  const policies = policiesOf(operator, rest, fields);
  const others = [...NAMES.filter((name) => wordsOf(operator, name)), "out"];
  const settings = settingsOf(version, [version], rest, fields, others);
  const call: PlainCall = {
    ...{ operator, version, signature: signatureOf(version), policies, fields },
    settings: { ...settings, includeSelf: policies.includeSelf ?? true },
    ...{ names: Object.keys(rest), values: Object.values(rest), forms: [] },
  };
  keep(calls, call);
  return call;
}

/**
 * Returns true if all options except `out` equal the options of a recent call. Comparing values is enough, because
 * accepted options never contain objects, which could have changed.
 */
function areSame(given: Options, { names, values }: PlainCall): boolean {
  let count = 0;
  for (const name in given) {
    if (name === "out") continue;
    if (name !== names[count] || given[name] !== values[count]) return false;
    count++;
  }
  return count === names.length;
}

/** Appends an entry to a list of recent entries, and removes the oldest entry if the list is full. */
export function keep<T>(list: T[], one: T): void {
  if (CALLS.kept === 0) return;
  if (list.length >= CALLS.kept) list.shift();
  list.push(one);
}
