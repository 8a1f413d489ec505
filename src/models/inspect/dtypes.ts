/**
 * Checks the data types of a node's inputs against its version, one by one. Unchecked inputs get data types that the
 * version accepts, so that each finding is about the checked input.
 */

import type { DType, Reduction } from "../../core/tensor/dtype.ts";
import type { ErrorContext } from "../../core/errors.ts";
import { checkDTypes, signatureOf, typesIn } from "../../core/operators/signature.ts";
import {
  roleOf,
  type OperatorVersion,
  type ParameterSchema,
} from "../../core/operators/operator.ts";
import { findingOf, type Finding, type FindingId } from "./findings.ts";

/**
 * Returns the findings about input data types. All versions of the operator are given as `siblings`. The list `dtypes`
 * follows the version's inputs, with null for an unknown or omitted input.
 */
export function inspectDTypes(
  version: OperatorVersion,
  siblings: readonly OperatorVersion[],
  dtypes: readonly (DType | null)[],
  reduction: Reduction,
  fields: ErrorContext,
): Finding[] {
  const { inputs } = version;
  const findings: Finding[] = [];
  const check = (id: FindingId, known: ReadonlyMap<string, DType>, word: Reduction): boolean => {
    const types = inputs.map((input) => ({
      dtype: known.get(input.name) ?? fittingType(version, input, known),
    }));
    try {
      checkDTypes(signatureOf(version), siblings, types, word, fields);
      return true;
    } catch (error) {
      findings.push(findingOf(id, error));
      return false;
    }
  };
  /** The first accepted data type per type constraint, which later inputs must match. */
  const firsts = new Map<string, readonly [string, DType]>();
  for (const [position, input] of inputs.entries()) {
    const dtype = dtypes[position];
    if (dtype === null) continue;
    const isValue = roleOf(input) === "data" || roleOf(input) === "updates";
    const id = isValue ? "data-type-not-taken" : "index-type-not-taken";
    const own = [input.name, dtype] as const;
    if (!check(id, new Map([own]), "none")) continue;
    const first = firsts.get(input.type);
    if (first === undefined) firsts.set(input.type, own);
    else check("data-types-differ", new Map([first, own]), "none");
    if (roleOf(input) === "data") check("reduction-undefined", new Map([own]), reduction);
  }
  return findings;
}

/**
 * Returns a data type that the version accepts for an input. A known input with the same type constraint determines the
 * data type if the version accepts it; otherwise any accepted data type is returned.
 */
function fittingType(
  version: OperatorVersion,
  { type }: ParameterSchema,
  known: ReadonlyMap<string, DType>,
): DType {
  const sibling = version.inputs.find((other) => other.type === type && known.has(other.name));
  const dtype = sibling && known.get(sibling.name);
  const types = typesIn(version, type);
  return dtype !== undefined && types.includes(dtype) ? dtype : (types[0] as DType);
}
