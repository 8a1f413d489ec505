/**
 * An operator call before its tensors are known: the version, the settings parsed from attributes, and the policies.
 */

import { TensorError, type ErrorContext } from "../errors.ts";
import {
  NEWEST_OPSETS,
  type Operator,
  type OperatorCall,
  type OperatorVersion,
} from "../operators/operator.ts";
import { lookUp, partsOf, type OperatorId } from "../operators/registry.ts";
import { settingsOf, type Attributes } from "../operators/settings.ts";
import { signatureOf, type Signature } from "../operators/signature.ts";
import { checkNames, objectOf } from "../foreign.ts";

/** A model node: an operator at an opset, and its attributes. */
export interface NodeSpec extends OperatorId {
  /** Attributes with the names and values that the version's specification uses, such as `batch_dims` or `prod`. */
  readonly attributes?: Attributes | undefined;
}

/** A call of one operator version, complete except for its tensors. */
export interface Call extends OperatorCall {
  readonly operator: Operator;
  /** The signature of the operator version. */
  readonly signature: Signature;
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
  return { operator, version, signature: signatureOf(version), settings, fields };
}

/**
 * Reads a node that a caller runs, whose opset must be known; nodes of models may have a newer opset.
 * @throws TensorError the errors of `nodeFrom` and `callOf`
 */
export function callOfKnown(node: NodeSpec): Call {
  const own = nodeFrom(node);
  const call = callOf(own);
  const { name: op, domain } = call.version;
  const { [domain]: newest } = NEWEST_OPSETS;
  if (own.opset <= newest) return call;
  const sentence = `opset ${own.opset} of ${domain} is unknown; the newest known opset is ${newest}`;
  const facts = { op, key: "opset", got: own.opset, expected: newest };
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
