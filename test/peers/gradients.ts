/**
 * Compares the gradients of every operator and reduction with torch's autograd, `jax.vjp` and `tf.GradientTape`. Values
 * are small whole numbers: their sums and products are equal in every type and order, they tie often, and a mean divides
 * them only once. Therefore the comparison is exact, except for the sign of a zero, which differs in products with 0,
 * and in JAX in max and min.
 */

import { run, vjp } from "../../src/entries/index.ts";
import { codeOf } from "../../src/cli/text/dialect-code.ts";
import { cellsOf, differingCells } from "../../src/insight/diagnose/cells.ts";
import { roleOf, type OperatorVersion } from "../../src/core/operators/operator.ts";
import { DTYPES, type DType } from "../../src/core/tensor/dtype.ts";
import { reader } from "../../src/core/tensor/scalar.ts";
import { product, sameShape } from "../../src/core/tensor/shape.ts";
import { Tensor, tensor } from "../../src/core/tensor/tensor.ts";
import { randomFrom, seedOf, type Random } from "../support/random.ts";
import { nodeCase, reductionsOf, typesOf, type NodeCase } from "./cases.ts";
import {
  JAX,
  newestVersions,
  openPeer,
  requestOf,
  TENSORFLOW,
  TORCH,
  withInt64,
  type LinesPeer,
} from "./lines.ts";
import type { Outputs } from "./operators.ts";
import { isError, type Answer } from "./peer.ts";
import { fromWire } from "./tensors.ts";
import type { Accepted, Part, Tally } from "./tally.ts";

/** A dialect's line, another line with the same meaning, and the calls for which the other line is also run. */
type Other = readonly [line: RegExp, other: string, when?: (call: Call, axis: number) => boolean];

const isList = ({ inputs: [, indices] }: Call): boolean => indices.shape.length === 1;
const isColumn = ({ inputs: [, { shape }] }: Call): boolean => shape.length === 2 && shape[1] === 1;
/** True if data and indices differ only along the axis: these functions broadcast other axes. */
const isAlong = ({ inputs: [data, indices] }: Call, axis: number): boolean =>
  data.shape.every((dim, d) => d === axis || dim === indices.shape[d]);

const isDistinct = ({ hasRepeats }: Call): boolean => !hasRepeats;

interface Row extends LinesPeer {
  readonly peer: string;
  /** Draws for each operator, type and reduction. JAX compiles each new shape. */
  readonly draws: number;
  readonly negative: boolean;
  /** True if the gradient of operands that tie is multiplied by the rounded 1 / n, instead of divided by n. */
  readonly isRounded?: true;
  readonly others: readonly Other[];
}

const ROWS: readonly Row[] = [
  {
    ...{ ...TORCH, peer: "torch", draws: 24, negative: false },
    others: [
      [/^y = data\[.* \* (\d).*\]$/, "y = data.index_select($1, indices)", isList],
      [/^y = data.gather\((\d), .*$/, "y = torch.take_along_dim(data, indices, $1)", isAlong],
      [/^y = data.scatter_reduce\((.*), "sum"\)$/, "y = data.scatter_add($1)"],
      [/^y.*put\(.*True\)$/, "y = data.index_add(0, indices[:, 0], updates)", isColumn],
      [/^y.*put\(.*updates\)$/, "y = data.index_copy(0, indices[:, 0], updates)", isColumn],
    ],
  },
  {
    ...{ ...JAX, peer: "jax", draws: 3, negative: true, isRounded: true },
    others: [
      [/^y = data\[\(.* \* (\d).*\]$/, "y = jnp.take(data, indices, axis=$1)"],
      [/^y = data\[.*k == (\d).*\]$/, "y = jnp.take_along_axis(data, indices, $1)", isAlong],
      [/^(.*)\.multiply\(updates\)$/, "$1.multiply(updates, unique_indices=True)", isDistinct],
    ],
  },
  {
    ...{ ...TENSORFLOW, peer: "tensorflow", draws: 24, negative: false },
    others: [
      [
        /^.*scatter_nd_add.*$/,
        "y = data + tf.scatter_nd(indices, updates, tf.shape(data, tf.int64))",
      ],
    ],
  },
];

const TUPLES = "tuple(jnp.moveaxis(indices, -0, 0))";
const ELEMENTS =
  "tuple(indices if k == 0 else grid for k, grid in enumerate(jnp.indices(indices.shape)))";

const IN_TORCH = { peer: "torch", version: "2.15.0" };
const IN_JAX = { peer: "jax", version: "0.10.2" };

const ACCEPTED: readonly Accepted[] = [
  {
    ...IN_TORCH,
    facts: { word: ["differs"], kind: ["nan"], reduction: ["max", "min"] },
    reason:
      "NaN is not equal to itself, so all operands of a maximum that is NaN have gradient NaN",
  },
  {
    ...IN_TORCH,
    facts: { word: ["differs"], kind: ["replaced"] },
    reason: "a value that include_self=False replaced counts among the operands that tie",
  },
  {
    ...IN_TORCH,
    facts: {
      ...{ word: ["refused"], dtype: ["complex64", "complex128"] },
      line: ["sum", "prod"].map((one) => `y = data.scatter_reduce(0, indices, updates, "${one}")`),
    },
    reason: "scatter_reduce has no gradients of complex numbers",
  },
  {
    ...IN_JAX,
    facts: { word: ["differs"], kind: ["nan"], reduction: ["max", "min"] },
    reason: "NaN is not equal to itself, so no operand of a maximum that is NaN has a gradient",
  },
  {
    ...IN_JAX,
    facts: {
      word: ["refused"],
      line: [TUPLES, ELEMENTS].map((index) => `y = data.at[${index}].multiply(updates)`),
    },
    reason: "the gradient of multiply is only implemented for unique_indices=True",
  },
  {
    ...IN_JAX,
    facts: { word: ["differs"], dtype: ["complex64", "complex128"], reduction: ["mul"] },
    reason: "gradients of complex numbers are the conjugates",
  },
  {
    ...{ peer: "tensorflow", version: "2.21.0" },
    facts: { word: ["differs"], kind: ["nan"], reduction: ["max", "min"] },
    reason: "NaN is not equal to itself, and a maximum ignores some",
  },
];

const FLOATS = /^(b?float(16|32|64)|complex)/;

/** Kinds of values: whole numbers, also infinities and -0, also NaN, or values of data that are replaced. */
type Kind = "whole" | "infinite" | "nan" | "replaced";

/** The values of a kind, each as often as the others; whole numbers for other kinds. */
const VALUES: Readonly<Partial<Record<Kind, readonly number[]>>> = {
  infinite: [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY, -0, 0, 1],
  nan: [Number.NaN, Number.POSITIVE_INFINITY, -0, 0, 1],
};
const WHOLE = [-2, -1, 0, 1, 2];

/** A multiple of all numbers up to this many operands, which an even division among them leaves whole. */
const OPERANDS = 8;
const MULTIPLE = 840;

const isComparison = (reduction: string): boolean => reduction === "max" || reduction === "min";

/** Kinds for a call. OpenVINO's own comparison of NaN and zeros has no counterpart in a framework. */
const kindsOf = ({ version, node }: NodeCase, reduction: string): readonly Kind[] => {
  if (!isComparison(reduction)) return ["whole"];
  if (version.domain === "ai.onnx") return ["whole", "whole", "infinite", "nan"];
  return node.attributes?.["use_init_val"] === false ? ["whole", "whole", "replaced"] : ["whole"];
};

interface Call extends NodeCase {
  readonly reduction: string;
  readonly kind: Kind;
  readonly hasRepeats: boolean;
  readonly gradient: Tensor;
}

function filled({ dtype, shape }: Pick<Tensor, "dtype" | "shape">, value: () => number): Tensor {
  const length = product(shape) * (DTYPES[dtype].family === "complex" ? 2 : 1);
  return tensor(dtype, shape, Array.from({ length }, value)) as Tensor;
}

/** True if two updates have one target: of updates that all differ, fewer than all are in the output. */
function isRepeating({ version, node, inputs }: NodeCase): boolean {
  const at = version.inputs.findIndex((input) => roleOf(input) === "updates");
  if (at === -1) return false;
  const attributes = { ...node.attributes };
  Reflect.deleteProperty(attributes, "reduction");
  let count = 0;
  const numbered = filled({ dtype: "float64", shape: inputs[at].shape }, () => ++count);
  const data = filled({ dtype: "float64", shape: inputs[0].shape }, () => 0);
  const [output] = run({ ...node, attributes }, inputs.with(0, data).with(at, numbered));
  return new Set((output.data as Float64Array).filter((value) => value !== 0)).size < count;
}

/** Returns a node with few updates. Half of the nodes have distinct targets, if 30 draws find them. */
function drawNode(version: OperatorVersion, dtype: DType, reduction: string, random: Random) {
  const wantsRepeats = random(2) === 0;
  const draw = (): NodeCase => withInt64(nodeCase(version, dtype, reduction, false, random));
  const isWanted = (one: NodeCase): boolean =>
    one.inputs[1].size < OPERANDS && isRepeating(one) === wantsRepeats;
  let one = draw();
  for (let attempt = 0; attempt < 30 && !isWanted(one); attempt++) one = draw();
  return one;
}

function callOf(version: OperatorVersion, dtype: DType, reduction: string, random: Random): Call {
  const one = drawNode(version, dtype, reduction, random);
  const kinds = kindsOf(one, reduction);
  const { [random(kinds.length)]: kind } = kinds;
  const list = VALUES[kind] ?? WHOLE;
  // Replaced values that tie with an update are a kind of their own; in other kinds they differ from all updates.
  const isApart = one.node.attributes?.["use_init_val"] === false && kind !== "replaced";
  const inputs = one.inputs.map((input, at) => {
    const role = roleOf(version.inputs[at]);
    if (role !== "data" && role !== "updates") return input;
    const more = role === "data" && isApart ? 0.25 : 0;
    return filled(input, () => list[random(list.length)] + more);
  });
  const [{ shape }] = run(one.node, inputs);
  const factor = isComparison(reduction) || reduction === "mean" ? MULTIPLE : 1;
  const gradient = filled({ dtype, shape }, () => factor * WHOLE[random(WHOLE.length)]);
  return { ...one, inputs, reduction, kind, gradient, hasRepeats: isRepeating(one) };
}

/** The lines of a framework for a call. */
function linesOf(row: Row, call: Call): readonly string[] {
  const lines = row.dialects.flatMap((id) => codeOf(id, call.node, call.inputs) ?? []);
  const others = row.others.flatMap(([line, other, when]) =>
    lines
      .filter((one) => line.test(one) && when?.(call, Number(line.exec(one)?.[1])) !== false)
      .map((one) => one.replace(line, other)),
  );
  return [...lines, ...others];
}

const positive = ({ dtype, shape, size, data }: Tensor): Tensor => {
  const isHalf = DTYPES[dtype].family === "half";
  const own = (data as Float64Array).map((one) => (isHalf ? (one === 0x8000 ? 0 : one) : one + 0));
  return new Tensor(dtype, shape, size, own);
};

const isEqual = (a: Tensor, b: Tensor): boolean =>
  a.dtype === b.dtype &&
  sameShape(a.shape, b.shape) &&
  differingCells(cellsOf(positive(a)), cellsOf(positive(b))).length === 0;

/** True if values differ by a few units in the last place. */
function isNear(a: Tensor, b: Tensor): boolean {
  const [left, right] = [a, b].map(({ dtype, data }) => reader(dtype, data));
  const digits = { float16: 10, bfloat16: 7, float32: 23 }[a.dtype as string] ?? 52;
  return Array.from({ length: a.size }, (_, p) => [Number(left(p)), Number(right(p))]).every(
    ([one, other]) => Math.abs(one - other) <= Math.abs(one) * 2 ** (2 - digits),
  );
}

const printAll = (all: readonly Tensor[]): string =>
  all.map((one) => one.toString().replaceAll("\n", " ")).join("; ");

function compare(row: Row, call: Call, line: string, answer: Answer<Outputs>, tally: Tally): void {
  const own = vjp(call.node, call.inputs, call.gradient).filter((one) => one !== null);
  const theirs = isError(answer) ? [] : answer.outputs.map(fromWire);
  const isSame = row.isRounded === true && isComparison(call.reduction) ? isNear : isEqual;
  if (theirs.length === own.length && own.every((one, at) => isSame(one, theirs[at]))) {
    tally.agree(row.peer);
    return;
  }
  const { dtype, reduction, kind, node, inputs, hasRepeats } = call;
  tally.differ({
    peer: row.peer,
    facts: {
      ...{ word: isError(answer) ? "refused" : "differs", line: line.replaceAll(/\d/g, "0") },
      ...{ dtype, reduction, kind, repeats: String(hasRepeats) },
    },
    what: `${JSON.stringify(node)} ${line} of ${printAll(inputs)}, gradient ${printAll([call.gradient])}`,
    expected: printAll(own),
    got: isError(answer) ? answer.error : printAll(theirs),
  });
}

/**
 * Returns true if the frameworks define the result. They define neither which of several updates remains, nor the greater
 * of two complex numbers.
 */
const isDefined = ({ reduction, hasRepeats, dtype }: Call): boolean =>
  reduction === "none" ? !hasRepeats : !isComparison(reduction) || !dtype.startsWith("complex");

async function runRow(row: Row, tally: Tally, factor: number): Promise<void> {
  const peer = openPeer(row);
  if (typeof peer === "string") return tally.skip(peer);
  const random = randomFrom(seedOf(row.peer));
  for (const newest of newestVersions()) {
    const version = { ...newest, negativeIndices: newest.negativeIndices && row.negative };
    for (const dtype of typesOf(version, "T").filter((one) => FLOATS.test(one))) {
      for (const reduction of reductionsOf(version)) {
        for (let draw = 0; draw < Math.round(row.draws * factor); draw++) {
          const call = callOf(version, dtype, reduction, random);
          if (!isDefined(call)) continue;
          for (const line of linesOf(row, call)) {
            // oxlint-disable-next-line no-await-in-loop
            const answer = await peer.ask(requestOf(call, line, call.gradient));
            compare(row, call, line, answer, tally);
          }
        }
      }
    }
  }
  tally.note(`${row.peer}: ${JSON.stringify(peer.versions)}`);
  await peer.close();
}

export const gradients: Part = {
  name: "gradients",
  what: "gradients of all operators, reductions and types, with ties, zeros and repeats, exact except for the sign of a zero",
  accepted: ACCEPTED,
  async run(tally, factor) {
    // oxlint-disable-next-line no-await-in-loop
    for (const row of ROWS) await runRow(row, tally, factor);
  },
};
