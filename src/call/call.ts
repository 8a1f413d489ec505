/** A call of an operator before it has tensors: which version, its attributes as settings, and the policies. */

import type { ErrorFields } from "../errors.ts";
import type { Operator, OperatorCall, OperatorVersion } from "../operators/operator.ts";
import { lookUp, partsOf, type OperatorId } from "../operators/registry.ts";
import { settingsOf, type Attributes } from "../operators/settings.ts";
import { objectOf } from "../tensor/options.ts";
import { POLICY_NAMES, policiesOf, type Policies } from "./policies.ts";

/** A node of a model: an operator at an opset, and the attributes that it is called with. */
export interface NodeSpec extends OperatorId {
  /** By the names and words of the version's document, such as `batch_dims` or `prod`. */
  readonly attributes?: Attributes | undefined;
}

/** One call of one operator's version, with everything decided but the tensors. */
export interface Call extends OperatorCall {
  readonly operator: Operator;
}

const NODE_PARTS = ["domain", "op", "opset", "attributes"] as const;

/**
 * A node from outside the package, each part of which is read once.
 * @throws TensorError `unknown-operator`
 */
export const nodeFrom = (node: NodeSpec): NodeSpec => partsOf(node, NODE_PARTS);

/**
 * @param node that was read by {@link nodeFrom}
 * @throws TensorError `unknown-operator`, `attribute`, `reduction`
 */
export function callOf(node: NodeSpec): Call {
  const { operator, version } = lookUp(node);
  const fields = fieldsOf(version);
  const { attributes: given = {} } = node;
  const attributes = objectOf("attributes", given, fields);
  const settings = settingsOf(version, operator.versions, attributes, fields);
  return { operator, version, settings, fields };
}

/** What every error of a call of this version says. */
export const fieldsOf = ({ name, sinceVersion }: OperatorVersion): ErrorFields => ({
  op: name,
  opset: sinceVersion,
});

/** A call of a plain function, and what its options ask for beyond the attributes. */
export interface PlainCall extends Call {
  readonly policies: Policies;
}

/** The options of a plain function but `out`, in their order, and the call that they make. */
interface KnownOptions {
  readonly names: readonly string[];
  readonly values: readonly unknown[];
  readonly call: PlainCall;
}

const NO_OPTIONS: Readonly<Record<string, unknown>> = Object.freeze({});

/**
 * The last options of each plain function. Most callers give the same words again and again, and checking them takes ten
 * times as long as comparing them.
 */
const LAST_OPTIONS = new WeakMap<Operator, KnownOptions>();

/** Reads and checks the options of a plain function, each once. */
export class PlainOptions {
  readonly call: PlainCall;
  /** As it was given. */
  readonly out: unknown;

  /**
   * @param options attributes in JavaScript's spelling, `out` and the policies
   * @throws TensorError `attribute`, `reduction`
   */
  constructor(operator: Operator, options: unknown) {
    const given =
      options === undefined
        ? NO_OPTIONS
        : objectOf("options", options, { op: plainVersionOf(operator).name });
    this.out = given["out"];
    const known = LAST_OPTIONS.get(operator);
    this.call =
      known !== undefined && areKnown(given, known) ? known.call : plainCallOf(operator, given);
  }
}

/** Whether options have the names and values of others, both without `out`. A value that is an object is never known. */
function areKnown(
  given: Readonly<Record<string, unknown>>,
  { names, values }: KnownOptions,
): boolean {
  let count = 0;
  for (const name of Object.keys(given)) {
    if (name === "out") continue;
    if (count === names.length || name !== names[count] || given[name] !== values[count])
      return false;
    count++;
  }
  return count === names.length;
}

function plainCallOf(operator: Operator, options: Readonly<Record<string, unknown>>): PlainCall {
  const version = plainVersionOf(operator);
  const fields: ErrorFields = { op: version.name };
  const { out: _, ...given } = options;
  const policies = policiesOf(operator, given, fields);
  const settings = settingsOf(version, [version], given, fields, POLICY_NAMES);
  const { includeSelf = true } = policies;
  const call = { operator, version, settings: { ...settings, includeSelf }, fields, policies };
  LAST_OPTIONS.set(operator, { names: Object.keys(given), values: Object.values(given), call });
  return call;
}

/** The version behind the plain function of an operator that has one. */
export function plainVersionOf({ plain, versions }: Operator): OperatorVersion {
  if (plain !== undefined) return plain;
  throw new Error(`${versions[0].name} of ${versions[0].domain} has no plain function`);
}
