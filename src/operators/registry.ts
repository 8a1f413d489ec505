/** All operators there are, and how a node finds its version. A new operator is one line here. */

import { printValue, TensorError } from "../errors.ts";
import { gatherElements } from "./gather-elements.ts";
import { gatherND } from "./gather-nd.ts";
import { gather } from "./gather.ts";
import { openvinoGatherElements } from "./openvino-gather-elements.ts";
import { openvinoGatherND } from "./openvino-gather-nd.ts";
import { openvinoGather } from "./openvino-gather.ts";
import type { Domain, Operator, OperatorVersion } from "./operator.ts";
import { scatterElementsUpdate } from "./scatter-elements-update.ts";
import { scatterElements } from "./scatter-elements.ts";
import { scatterNDUpdate } from "./scatter-nd-update.ts";
import { scatterND } from "./scatter-nd.ts";
import { scatterUpdate } from "./scatter-update.ts";
import { scatter } from "./scatter.ts";
import { tensorScatter } from "./tensor-scatter.ts";

const OPERATORS: readonly Operator[] = [
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
];

// Rows are handed out; nobody may change them for everybody else.
for (const { versions } of OPERATORS) versions.forEach(freeze);

function freeze(value: unknown): void {
  if (typeof value !== "object" || value === null || Object.isFrozen(value)) return;
  Object.freeze(value);
  Object.values(value).forEach(freeze);
}

/** What names a version: an operator at an opset of its domain. `""` and no domain mean ai.onnx. */
export interface OperatorId {
  readonly domain?: string | undefined;
  readonly op: string;
  /** The opset of the model; for openvino that or the operator's own version number. */
  readonly opset: number;
}

/** Every version there is, operator by operator, oldest first. */
export const operators = (): readonly OperatorVersion[] =>
  OPERATORS.flatMap(({ versions }) => versions);

/**
 * The version of an operator that is in force at an opset: the greatest not above it.
 * @throws TensorError `unknown-operator` for an operator, a domain or an opset without one.
 */
export const resolve = (id: OperatorId): OperatorVersion => lookUp(id).version;

/** {@link resolve}, null where there is no such operator, domain or version. */
export function findVersion({ domain, op, opset }: OperatorId): OperatorVersion | null {
  const home = domain === undefined || domain === "" ? "ai.onnx" : domain;
  const operator = OPERATORS.find(
    ({ versions: [{ name, domain: its }] }) => name === op && its === home,
  );
  return operator?.versions.findLast(({ sinceVersion }) => sinceVersion <= opset) ?? null;
}

/** Whether an operator has versions before those known here. */
export const hasOlderVersions = ({ domain, op }: OperatorId): boolean =>
  OPERATORS.some(
    ({ hasOlder, versions: [{ name, domain: its }] }) =>
      hasOlder === true && name === op && its === domain,
  );

/** {@link resolve}, with the operator that the version is of. */
export function lookUp(id: OperatorId): { operator: Operator; version: OperatorVersion } {
  if (typeof id !== "object" || id === null) {
    throw new TensorError(
      "unknown-operator",
      `a node must be an object with op and opset, got ${printValue(id)}`,
    );
  }
  const { domain, op, opset } = id;
  const home = normalizeDomain(domain);
  const fields = { op: typeof op === "string" ? op : printValue(op) };
  const operator = OPERATORS.find(
    ({ versions: [{ name, domain: its }] }) => name === op && its === home,
  );
  if (operator === undefined) {
    throw new TensorError(
      "unknown-operator",
      `the domain ${home} has no such operator here${hint(fields.op)}`,
      fields,
    );
  }
  if (!Number.isSafeInteger(opset) || opset < 1) {
    throw new TensorError(
      "unknown-operator",
      `the opset must be a positive integer, got ${printValue(opset)}`,
      fields,
    );
  }
  const version = operator.versions.findLast(({ sinceVersion }) => sinceVersion <= opset);
  if (version === undefined) {
    const [{ sinceVersion }] = operator.versions;
    const sentence = operator.hasOlder
      ? `its versions before ${sinceVersion}, as of opset ${opset} of ${home}, are not known here`
      : `opset ${opset} of ${home} does not have it yet; it came with version ${sinceVersion}`;
    throw new TensorError("unknown-operator", sentence, { ...fields, got: opset });
  }
  return { operator, version };
}

function normalizeDomain(domain: unknown): Domain {
  if (domain === undefined || domain === "" || domain === "ai.onnx") return "ai.onnx";
  if (domain === "openvino") return domain;
  throw new TensorError(
    "unknown-operator",
    `there is no domain ${printValue(domain)}; there are ai.onnx and openvino`,
  );
}

/** The operator that was probably meant. */
function hint(op: string): string {
  const plain = op.toLowerCase();
  const near = OPERATORS.map(({ versions }) => versions[0]).find(
    ({ name }) => name.toLowerCase() === plain,
  );
  return near === undefined ? "" : `; did you mean ${near.name} of ${near.domain}?`;
}
