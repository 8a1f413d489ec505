/**
 * Draws calls by number: any operator, version, data type, reduction, policy, gradient and destination of the result,
 * and one call in four spoiled so that it is refused. A number always gives the same call. The tensors of a call are
 * made again for the package that is recorded.
 */

import fc from "fast-check";
import { roleOf } from "../../build/src/core/operators/operator.js";
import { operators } from "../../build/src/core/operators/registry.js";
import { typesOf } from "../../build/src/core/operators/rows.js";
import { DTYPE_NAMES, reductionsOf } from "../../build/src/core/tensor/dtype.js";
import { tensor } from "../../build/src/core/tensor/tensor.js";
import * as cases from "../../build/test/support/random-calls.js";
import { randomFrom, randomTensor } from "../../build/test/support/random.js";
import { spoiled } from "./spoil.js";

/**
 * @typedef {import("../../build/src/core/tensor/tensor.js").Tensor} Tensor
 * @typedef {(below: number) => number} Random
 *
 * A call of the package. Inputs are in the order of the function or of the node.
 * @typedef {object} Call
 * @property {"function" | "node" | "plan"} by the function of an engine, `run`, or a kept plan
 * @property {string} name of the function
 * @property {object} node for `run`
 * @property {(Tensor | undefined)[]} inputs
 * @property {Record<string, unknown>} options of the function
 * @property {Tensor | null} gradient of the output, if gradients are computed
 * @property {Record<string, unknown>} chosen options of gradients
 * @property {{ dtype: string, shape: readonly number[] }} out the type of `out`, if it is not data
 * @property {"new" | "out" | "in place"} result
 * @property {boolean} isAsync
 * @property {boolean} isResident true if the engine allocates the tensors
 * @property {Record<number, "list" | "disposed" | "null">} given the inputs that are not living tensors
 */

const SEED = 20261126;

/** A number of updates at which some thresholds stand. */
const MANY = [600, 650, 700, 750, 800, 850];

const SHAPES = fc.sample(cases.arbitraryShape, { seed: SEED, numRuns: 5000 });

const pick = (list, random) => list[random(list.length)];

/** Small shapes, or rows of few elements and several hundred updates, around the thresholds of engines. */
function shapesOf(number, random) {
  const shapes = SHAPES[number % SHAPES.length];
  if (number % 6 !== 0) return shapes;
  const rows = pick([1, 7, 63, 64, 65, 130], random);
  const row = pick([1, 2, 3, 4, 5, 8, 9, 16, 31, 33], random);
  const lead = pick(MANY, random) + random(5) - 2;
  const isFlat = random(3) === 0;
  return { ...shapes, dims: isFlat ? [rows * row] : [rows, row], lead: [lead], pick: random(4) };
}

/** The cases by the operators that they fit. */
const MAKERS = {
  scatterND: { make: cases.scatterNDCase, names: ["ScatterND", "ScatterNDUpdate"], scatters: true },
  scatterElements: {
    make: cases.scatterElementsCase,
    names: ["ScatterElements", "Scatter", "ScatterElementsUpdate"],
    scatters: true,
  },
  gatherND: { make: cases.gatherNDCase, names: ["GatherND"] },
  gatherElements: { make: cases.gatherElementsCase, names: ["GatherElements"] },
  gather: { make: cases.gatherCase, names: ["Gather", "ScatterUpdate"] },
  tensorScatter: { make: cases.tensorScatterCase, names: ["TensorScatter"] },
};

const FLOATS = new Set(["float16", "bfloat16", "float32", "float64", "complex64", "complex128"]);

/** @returns {Call} */
export function drawCall(number) {
  const random = randomFrom(SEED + 7919 * number);
  const name = pick(Object.keys(MAKERS), random);
  const hasGradient = random(4) === 0;
  const isNode = random(3) === 0;
  const version = isNode ? pick(versionsOf(MAKERS[name].names), random) : null;
  const known = version === null || random(8) === 0 ? DTYPE_NAMES : dataTypes(version);
  const types = hasGradient && random(8) > 0 ? known.filter((one) => FLOATS.has(one)) : known;
  const one = caseOf(name, pick(types.length === 0 ? known : types, random), number, random);
  const call = version === null ? functionCall(name, one, random) : nodeCall(version, one, random);
  const made = hasGradient ? withGradient(call, one, random) : call;
  return random(4) === 0 ? spoiled(made, random) : made;
}

const versionsOf = (names) => operators().filter(({ name }) => names.includes(name));

const dataTypes = (version) => typesOf(version, version.inputs[0].type);

function caseOf(name, dtype, number, random) {
  const { make, scatters } = MAKERS[name];
  const shapes = shapesOf(number, random);
  const indexType = pick(["int32", "int64"], random);
  if (name === "tensorScatter") return make(dtype, shapes);
  if (scatters !== true) return make(dtype, indexType, shapes);
  return make(dtype, pick(reductionsOf(dtype), random), indexType, shapes);
}

const common = ({ inputs, expected }, random) => ({
  inputs,
  gradient: null,
  chosen: {},
  out: { dtype: expected.dtype, shape: expected.shape },
  isAsync: random(6) === 0,
  isResident: random(3) === 0,
  given: {},
});

/** The call of a plain function, or of a kept plan where no policy speaks against it. */
function functionCall(name, one, random) {
  const isScatter = name.includes("catter");
  const policies = {
    ...(random(12) === 0 && { negative: pick(["error", "wrap"], random) }),
    ...(isScatter && random(8) === 0 && { duplicates: pick(["error", "last"], random) }),
  };
  const { bounds, includeSelf } = one.attributes;
  const canPlan = bounds === undefined && includeSelf === undefined && name !== "tensorScatter";
  const isPlan = canPlan && random(3) === 0;
  const options = { ...one.attributes, ...(!isPlan && name !== "tensorScatter" && policies) };
  return {
    ...common(one, random),
    by: isPlan ? "plan" : "function",
    name,
    options,
    result: pick(isScatter ? ["new", "out", "in place"] : ["new", "out"], random),
    given: random(8) === 0 ? { 1: "list" } : {},
  };
}

/** The call of a version of an operator by its node. */
function nodeCall(version, one, random) {
  const { attributes } = one;
  const [data, second, third] = one.inputs;
  const isSequence = version.indexForm === "sequences";
  const isOfSlices = version.name === "ScatterUpdate";
  const places = isSequence ? third : second;
  const dims = [...data.shape.slice(0, attributes.axis), ...second.shape];
  const slices = [...dims, ...data.shape.slice(attributes.axis).slice(1)];
  const updates = isOfSlices
    ? randomTensor(data.dtype, slices, random)
    : isSequence
      ? second
      : third;
  const isLegal = version.negativeIndices || random(3) === 0;
  const roles = {
    data,
    indices: isLegal ? places : fromFront(places, one),
    updates,
    axis: tensor("int64", [], attributes.axis ?? 0),
  };
  const values = {
    axis: attributes.axis,
    batch_dims: attributes.batchDims,
    mode: attributes.mode,
    reduction: wordOf(version, attributes.reduction),
    use_init_val: attributes.includeSelf,
  };
  const own = version.attributes.filter(({ name }) => values[name] !== undefined);
  return {
    ...common(one, random),
    by: "node",
    node: {
      op: version.name,
      domain: version.domain,
      opset: version.opset ?? version.sinceVersion,
      attributes: Object.fromEntries(own.map(({ name }) => [name, values[name]])),
    },
    inputs: version.inputs.map((input) => roles[roleOf(input)]),
    options: {},
    result: "new",
  };
}

/** The reduction as the version calls it, or as it does not, so that the call is refused. */
function wordOf({ attributes }, reduction) {
  const words = attributes.find(({ name }) => name === "reduction")?.values ?? [];
  return words.includes(reduction)
    ? reduction
    : ({ add: "sum", mul: "prod" }[reduction] ?? reduction);
}

/** Indices counted from the front, for versions that have no negative ones. */
function fromFront(indices, { dimOf }) {
  if (indices === undefined || dimOf === undefined) return indices;
  const values = Array.from(indices.data, (value, p) => {
    const index = Number(value);
    return index < 0 ? Math.max(0, index + dimOf(p)) : index;
  });
  return tensor(indices.dtype, indices.shape, values);
}

/** The same call, backwards. */
function withGradient(call, { expected }, random) {
  const isScatter = call.name === undefined || call.name.includes("catter");
  return {
    ...call,
    gradient: randomTensor(expected.dtype, expected.shape, random),
    chosen: {
      ...(random(2) === 0 && { ties: pick(["even", "first", "last", "all"], random) }),
      ...(isScatter && random(3) === 0 && { argnums: pick([[0], [0, 1], [2], [1]], random) }),
    },
    given: {},
  };
}

/** A call in one line. */
export function titleOf({ by, name, node, inputs, options, gradient, chosen, result, ...call }) {
  const types = inputs.map((one) =>
    one === undefined ? "-" : `${one.dtype}[${one.shape.join()}]`,
  );
  const words = [
    call.isAsync && "async",
    call.isResident && "resident",
    result !== "new" && result,
  ];
  const asked = gradient === null ? "" : ` gradient ${JSON.stringify(chosen)}`;
  const what = by === "node" ? JSON.stringify(node) : `${by} ${name} ${JSON.stringify(options)}`;
  const given = JSON.stringify(call.given);
  return `${what} of ${types.join(" ")}${asked} ${words.filter(Boolean).join(" ")} ${given}`;
}
