/** What the inputs of a version are for. */

import type { OperatorVersion, ParameterSchema } from "../operators/operator.ts";

export const roleOf = ({ name }: ParameterSchema): string => name;

/** The position of the input with a role, or -1. */
export const positionOf = ({ inputs }: OperatorVersion, role: string): number =>
  inputs.findIndex((input) => roleOf(input) === role);
