/** Policies: options of the plain functions beyond the specifications, and their values. */

import { printValue, TensorError, type ErrorFields } from "../errors.ts";
import type { Bounds } from "../plan/index-job.ts";
import type { Operator } from "../operators/operator.ts";

/** The chosen policies; absent if not chosen. */
export interface Policies {
  /** Treatment of an index outside its axis, by default `error`. `drop` is for scatters, `fill` for gathers. */
  readonly bounds?: Bounds | undefined;
  /**
   * Treatment of a negative index: `wrap`, the default, counts from the end of the axis; `error` throws whatever
   * `bounds` says.
   */
  readonly negative?: "wrap" | "error" | undefined;
  /**
   * Treatment of two updates of one target if the reduction is `none`: `last`, the default, keeps the last update;
   * `error` throws.
   */
  readonly duplicates?: "last" | "error" | undefined;
  /** True, the default, begins a reduction with the value of data; false with the first update of a target. */
  readonly includeSelf?: boolean | undefined;
}

type Name = keyof Policies;

const ALLOWED_BY_BOTH = { bounds: ["error", "clip"], negative: ["wrap", "error"] } as const;

/** The values of each policy, by kind of operator. */
const ALLOWED: Readonly<Record<Operator["kind"], Partial<Record<Name, readonly unknown[]>>>> = {
  scatter: {
    ...ALLOWED_BY_BOTH,
    bounds: [...ALLOWED_BY_BOTH.bounds, "drop"],
    duplicates: ["last", "error"],
    includeSelf: [true, false],
  },
  gather: { ...ALLOWED_BY_BOTH, bounds: [...ALLOWED_BY_BOTH.bounds, "fill"] },
};

/** The names of all policies; scatters have all of them. */
export const POLICY_NAMES: readonly string[] = Object.keys(ALLOWED.scatter);

/**
 * The policies among the options of a call.
 * @throws TensorError `attribute` for a policy that the operator lacks, or a value that the policy lacks
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
      const why = isSequence ? "the operator has its own rule" : "a gather has no targets";
      throw new TensorError(
        "attribute",
        `${name} is not an option here, because ${why}; leave it out`,
        fields,
      );
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
