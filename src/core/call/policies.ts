/** Policies, which are options of the plain functions that the specifications do not have, and their allowed values. */

import { TensorError, type ErrorContext } from "../errors.ts";
import { wrongOption } from "../foreign.ts";
import type { Bounds } from "../plan/indices.ts";
import type { Operator } from "../operators/operator.ts";

/** Policies that a caller chose; a policy that was not chosen is absent. */
export interface Policies {
  /**
   * Treatment of an index outside its axis: `error`, the default, or `clip`; also `drop` in scatters and `fill` in
   * gathers.
   */
  readonly bounds?: Bounds | undefined;
  /**
   * Treatment of a negative index: `wrap`, the default, counts from the end of the axis; `error` throws, regardless of
   * `bounds`.
   */
  readonly negative?: "wrap" | "error" | undefined;
  /**
   * Treatment of repeated targets if the reduction is `none`: `last`, the default, keeps the last update; `error`
   * throws.
   */
  readonly duplicates?: "last" | "error" | undefined;
  /**
   * Start of a reduction: with the value in data if true (the default), or with the first update of each target if
   * false.
   */
  readonly includeSelf?: boolean | undefined;
}

type Name = keyof Policies;

const ALLOWED_BY_BOTH = { bounds: ["error", "clip"], negative: ["wrap", "error"] } as const;

/** Allowed values of each policy, by operator kind. */
const ALLOWED: Readonly<
  Record<Operator["kind"], Partial<Record<Name, readonly (string | boolean)[]>>>
> = {
  scatter: {
    ...ALLOWED_BY_BOTH,
    bounds: [...ALLOWED_BY_BOTH.bounds, "drop"],
    duplicates: ["last", "error"],
    includeSelf: [true, false],
  },
  gather: { ...ALLOWED_BY_BOTH, bounds: [...ALLOWED_BY_BOTH.bounds, "fill"] },
};

const NAMES = Object.keys(ALLOWED.scatter) as readonly Name[];

/** Names of the options of an operator's plain function, except its attributes. */
export const optionNames = ({ kind, versions: [{ indexForm }] }: Operator): readonly string[] =>
  indexForm === "sequences" ? ["out"] : [...Object.keys(ALLOWED[kind]), "out"];

/**
 * Reads the policies from the options of a call.
 * @throws TensorError `attribute` for a policy that the operator does not have, or a value that the policy does not
 *   allow
 */
export function policiesOf(
  { kind, versions: [{ indexForm }] }: Operator,
  options: Readonly<Record<string, unknown>>,
  fields: ErrorContext,
): Policies {
  const isSequence = indexForm === "sequences";
  const policies: Record<string, unknown> = {};
  for (const name of NAMES) {
    const given = options[name];
    if (given === undefined) continue;
    const words = isSequence ? undefined : ALLOWED[kind][name];
    if (words === undefined) {
      const why = isSequence ? "the operator has its own rule" : "a gather has no targets";
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
