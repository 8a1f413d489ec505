/** A call of an operator before tensors are known: its version, its attributes as settings, and the policies. */

import type { ErrorFields } from "../errors.ts";
import type { Operator, OperatorCall, OperatorVersion } from "../operators/operator.ts";
import { lookUp, partsOf, type OperatorId } from "../operators/registry.ts";
import { settingsOf, type Attributes } from "../operators/settings.ts";
import { signatureOf, type Signature } from "../operators/signature.ts";
import { objectOf } from "../tensor/options.ts";

/** A node of a model: an operator at an opset, and its attributes. */
export interface NodeSpec extends OperatorId {
  /** With the names and words of the version's document, such as `batch_dims` or `prod`. */
  readonly attributes?: Attributes | undefined;
}

/** A call of an operator's version, with everything decided except the tensors. */
export interface Call extends OperatorCall {
  readonly operator: Operator;
  /** Of the version. */
  readonly signature: Signature;
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
  return { operator, version, signature: signatureOf(version), settings, fields };
}

/** The fields of every error of a call of this version. */
export const fieldsOf = ({ name, sinceVersion }: OperatorVersion): ErrorFields => ({
  op: name,
  opset: sinceVersion,
});

/** The version behind the plain function of an operator that has one. */
export function plainVersionOf({ plain, versions }: Operator): OperatorVersion {
  if (plain !== undefined) return plain;
  throw new Error(`${versions[0].name} of ${versions[0].domain} has no plain function`);
}

/** The inputs of a plain function's call, and its options, which come after them. */
export function splitArguments(
  operator: Operator,
  args: readonly unknown[],
): [inputs: readonly unknown[], options: unknown] {
  const { length } = plainVersionOf(operator).inputs;
  return [args.slice(0, length), args[length]];
}
