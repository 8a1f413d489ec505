/** A call of an operator before it has tensors: which version, and its attributes as settings. */

import { settingsOf, type Attributes } from "../operators/settings.ts";
import type { Operator, OperatorCall, OperatorVersion } from "../operators/operator.ts";
import { lookUp, type OperatorId } from "../operators/registry.ts";
import { objectOf } from "./options.ts";

/** A node of a model: an operator at an opset, and the attributes that it is called with. */
export interface NodeSpec extends OperatorId {
  /** By the names and words of the version's document, such as `batch_dims` or `prod`. */
  readonly attributes?: Attributes | undefined;
}

/** One call of one operator's version, with everything decided but the tensors. */
export interface Call extends OperatorCall {
  readonly operator: Operator;
}

export function callOf(node: NodeSpec): Call {
  const { operator, version } = lookUp(node);
  const fields = { op: version.name, opset: version.sinceVersion };
  const { attributes: given = {} } = node;
  const attributes = objectOf("attributes", given, fields);
  const settings = settingsOf(version, operator.versions, attributes, fields);
  return { operator, version, settings, fields };
}

/** The version behind the plain function of an operator that has one. */
export function plainOf({ plain, versions }: Operator): OperatorVersion {
  if (plain !== undefined) return plain;
  throw new Error(`${versions[0].name} of ${versions[0].domain} has no plain function`);
}
