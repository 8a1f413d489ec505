/** What the plain functions do beyond the specifications, chosen by options: which of them there are, and their words. */

import { printValue, TensorError, type ErrorFields } from "../errors.ts";
import type { Bounds } from "../plan/index-job.ts";
import type { Operator } from "../operators/operator.ts";

/** What was chosen; absent where nothing was. */
export interface Policies {
  /** What becomes of an index outside its axis: an error by default. `drop` is for scatters, `fill` for gathers. */
  readonly bounds?: Bounds | undefined;
  /** Whether a negative index counts from the end of its axis, the default, or is an error whatever the bounds. */
  readonly negative?: "wrap" | "error" | undefined;
  /** Whether two updates of one target are an error where the reduction is `none`; by default the last one wins. */
  readonly duplicates?: "last" | "error" | undefined;
  /** Whether a reduction begins with the value of data, the default, or with the first update of a target. */
  readonly includeSelf?: boolean | undefined;
}

type Name = keyof Policies;

const ALLOWED_BY_BOTH = { bounds: ["error", "clip"], negative: ["wrap", "error"] } as const;

/** The values of each policy, by what it is for. */
const ALLOWED: Readonly<Record<Operator["kind"], Partial<Record<Name, readonly unknown[]>>>> = {
  scatter: {
    ...ALLOWED_BY_BOTH,
    bounds: [...ALLOWED_BY_BOTH.bounds, "drop"],
    duplicates: ["last", "error"],
    includeSelf: [true, false],
  },
  gather: { ...ALLOWED_BY_BOTH, bounds: [...ALLOWED_BY_BOTH.bounds, "fill"] },
};

/** Scatters have all of them. */
export const POLICY_NAMES: readonly string[] = Object.keys(ALLOWED.scatter);

/**
 * The policies among the options of a call.
 * @throws TensorError `attribute` for a policy that the operator does not have, or a word that the policy does not
 */
export function policiesOf(
  { kind, versions: [{ indexForm }] }: Operator,
  options: Readonly<Record<string, unknown>>,
  fields: ErrorFields,
): Policies {
  const isSequence = indexForm === "sequences";
  const policies: Record<string, unknown> = {};
  for (const name of POLICY_NAMES as readonly Name[]) {
    const given = options[name];
    if (given === undefined) continue;
    const words = isSequence ? undefined : ALLOWED[kind][name];
    if (words === undefined) {
      const why = isSequence ? "its positions have rules of their own" : "a gather has no targets";
      throw new TensorError("attribute", `${name} is not an option here: ${why}`, fields);
    }
    if (!words.includes(given)) {
      const must = words.map((word) => JSON.stringify(word)).join(", ");
      const sentence = `${name} must be one of ${must}, got ${printValue(given)}`;
      throw new TensorError("attribute", sentence, fields);
    }
    policies[name] = given;
  }
  return policies;
}
