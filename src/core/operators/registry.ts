/**
 * The list of all operators, which has a line for each operator, the operator that each plain function runs, and the
 * lookup of a node's version.
 */

import { factOf, printValue, readForeign, nearestName, wrongValue } from "../foreign.ts";
import { TensorError, type ErrorContext } from "../errors.ts";
import {
  gatherElements,
  openvinoGatherElements,
  scatter,
  scatterElements,
  scatterElementsUpdate,
} from "./elements.ts";
import { gather, openvinoGather, scatterUpdate } from "./slices.ts";
import { gatherND, openvinoGatherND, scatterND, scatterNDUpdate } from "./tuples.ts";
import type { Domain, Operator, OperatorVersion } from "./operator.ts";
import { tensorScatter } from "./sequences.ts";

const OPERATORS: readonly Operator[] = /* @__PURE__ */ frozen([
  scatterND,
  scatterElements,
  gatherND,
  gatherElements,
  gather,
  scatter,
  tensorScatter,
  scatterNDUpdate,
  scatterElementsUpdate,
  scatterUpdate,
  openvinoGather,
  openvinoGatherND,
  openvinoGatherElements,
]);

/** Name of a plain function. The union is written out, because declarations would otherwise name the operators. */
export type FunctionName =
  | "scatterND"
  | "scatterElements"
  | "scatter"
  | "tensorScatter"
  | "gatherND"
  | "gatherElements"
  | "gather";

export const FUNCTIONS: Readonly<Record<FunctionName, Operator>> = {
  scatterND,
  scatterElements,
  scatter,
  tensorScatter,
  gatherND,
  gatherElements,
  gather,
};

/** Operators whose indices can be compiled to a kept plan, by function name. */
export const PLAN_FUNCTIONS = {
  planScatterND: scatterND,
  planScatterElements: scatterElements,
  planGatherND: gatherND,
  planGatherElements: gatherElements,
  planGather: gather,
} as const satisfies Readonly<Record<string, Operator>>;

/** Calls `make` for each operator in a table, and returns the results under the same names. */
export function forEach<N extends string, F>(
  table: Readonly<Record<N, Operator>>,
  make: (operator: Operator) => F,
): Record<N, F> {
  const entries = Object.entries<Operator>(table).map(([name, operator]) => [name, make(operator)]);
  return Object.fromEntries(entries);
}

/**
 * Freezes the rows of operators. Rows are frozen, because callers receive them, and a change to a row would affect all
 * calls.
 */
function frozen(operators: readonly Operator[]): readonly Operator[] {
  for (const { versions } of operators) versions.forEach(freeze);
  return operators;
}

function freeze(value: unknown): void {
  if (typeof value !== "object" || value === null || Object.isFrozen(value)) return;
  Object.freeze(value);
  Object.values(value).forEach(freeze);
}

/** Returns the operators that pass a test, in list order. */
export const findOperators = (test: (operator: Operator) => boolean): readonly Operator[] =>
  OPERATORS.filter(test);

/** Identifies an operator version: an operator at an opset of its domain. An absent or empty domain means ai.onnx. */
export interface OperatorId {
  readonly domain?: string | undefined;
  readonly op: string;
  /** Opset of the model. For openvino, the operator's own version number is also accepted. */
  readonly opset: number;
}

const VERSIONS = /* @__PURE__ */ Object.freeze(
  /* @__PURE__ */ OPERATORS.flatMap(({ versions }) => versions),
);

/**
 * Returns all operator versions, operator by operator, oldest first.
 *
 * @example
 * ```ts
 * const versions = operators().filter(({ name, domain }) => name === "GatherND" && domain === "ai.onnx");
 * versions.map(({ sinceVersion }) => sinceVersion); // [11, 12, 13]
 * ```
 */
export const operators = (): readonly OperatorVersion[] => VERSIONS;

/**
 * Returns the operator version that applies at an opset: the version with the greatest `sinceVersion` that is not above
 * the opset. Returns null for an operator or domain that is not in this registry, or an opset before the operator's
 * first version.
 */
export function findVersion({ domain, op, opset }: OperatorId): OperatorVersion | null {
  const operator = findOperator(domain, op);
  return operator === undefined ? null : versionAt(operator, opset);
}

/**
 * Returns the operator version that applies at an opset, and throws if none does.
 *
 * @param id the operator, the opset and the domain
 * @throws TensorError `unknown-operator` if no version applies for this operator, domain and opset
 *
 * @example
 * ```ts
 * resolve({ op: "ScatterND", opset: 17 }).sinceVersion; // 16
 * ```
 */
export const resolve = (id: OperatorId): OperatorVersion =>
  lookUp(partsOf(id, ["domain", "op", "opset"])).version;

/**
 * Reads the named parts of a node from outside the package, each once. The caller must check the values.
 * @throws TensorError `unknown-operator` if the node is not an object or cannot be read
 */
export function partsOf<N extends OperatorId, K extends keyof N>(
  node: N,
  names: readonly K[],
): Pick<N, K> {
  const must = 'a node must be an object such as { op: "ScatterND", opset: 18 }';
  if (typeof node !== "object" || node === null) {
    throw wrongValue("unknown-operator", must, node, { key: "node" });
  }
  const read = (): Pick<N, K> => {
    const parts: Partial<N> = {};
    for (const name of names) parts[name] = node[name];
    return parts as Pick<N, K>;
  };
  return readForeign(read, "unknown-operator", `${must} that can be read`, "node");
}

/** Returns true if any version of an operator is in this registry. */
export const isOperator = ({ domain, op }: Pick<OperatorId, "domain" | "op">): boolean =>
  findOperator(domain, op) !== undefined;

/** Resolves an id, whose parts have been read, to an operator and its version. */
export function lookUp({ domain, op, opset }: OperatorId): {
  operator: Operator;
  version: OperatorVersion;
} {
  const home = normalizeDomain(domain);
  if (home === null) throw unknownDomain(domain);
  const fields = { op: typeof op === "string" ? op : printValue(op) };
  const operator = findOperator(home, op);
  if (operator === undefined) {
    const near = nearestOperator(fields.op, home);
    const hint = near === undefined ? "" : `; did you mean ${near.name} of ${near.domain}?`;
    throw new TensorError("unknown-operator", `unknown operator of ${home}${hint}`, {
      ...fields,
      key: "op",
      got: factOf(op),
      nearest: near?.name,
    });
  }
  if (!Number.isSafeInteger(opset) || opset < 1) throw wrongOpset(opset, fields);
  const version = versionAt(operator, opset);
  if (version === null) {
    const [{ sinceVersion }] = operator.versions;
    const sentence = `opset ${opset} of ${home} does not have this operator yet; opset ${sinceVersion} introduced it`;
    throw new TensorError("unknown-operator", sentence, {
      ...fields,
      key: "opset",
      got: opset,
      expected: sinceVersion,
    });
  }
  return { operator, version };
}

/** Creates the error for an unknown domain. */
export const unknownDomain = (domain: unknown): TensorError =>
  new TensorError(
    "unknown-operator",
    `the domain must be ai.onnx or openvino, got ${printValue(domain)}`,
    { key: "domain", got: factOf(domain), allowed: ["ai.onnx", "openvino"] },
  );

/** Creates the error for an opset that is not a positive integer. */
export const wrongOpset = (opset: unknown, fields?: ErrorContext): TensorError =>
  wrongValue("unknown-operator", "the opset must be a positive integer, such as 18", opset, {
    ...fields,
    key: "opset",
  });

/** Finds an operator by its first version, because all versions of an operator share its name and domain. */
function findOperator(domain: string | undefined, op: string): Operator | undefined {
  const home = normalizeDomain(domain);
  return OPERATORS.find(({ versions: [first] }) => first.name === op && first.domain === home);
}

const versionAt = ({ versions }: Operator, opset: number): OperatorVersion | null =>
  versions.findLast(({ sinceVersion }) => sinceVersion <= opset) ?? null;

/** Returns ai.onnx for an absent or empty domain; returns null for a domain that is neither ai.onnx nor openvino. */
function normalizeDomain(domain: unknown): Domain | null {
  if (domain === undefined || domain === "" || domain === "ai.onnx") return "ai.onnx";
  return domain === "openvino" ? domain : null;
}

/** Returns the first version of an operator with a similar name, preferably in the same domain. */
function nearestOperator(op: string, domain: Domain): OperatorVersion | undefined {
  const firsts = OPERATORS.map(({ versions }) => versions[0]);
  const name = nearestName(
    op,
    firsts.map((one) => one.name),
  );
  const named = firsts.filter((one) => one.name === name);
  return named.find((one) => one.domain === domain) ?? named[0];
}
