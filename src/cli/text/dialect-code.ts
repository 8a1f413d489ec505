/** Generates a dialect's code for a call, as one line that computes `y` from `data`, `indices` and `updates`. */

import type {
  DialectId,
  NodeSpec,
  OperatorVersion,
  Reduction,
  Tensor,
} from "../../entries/index.ts";
import { resolve, roleOf } from "../../entries/operators.ts";

type Form = OperatorVersion["indexForm"];

/** Templates by the form of the indices, or one template for each form that `index` has. */
type Templates = Readonly<Partial<Record<Form, string>>> | string;

/**
 * The right sides of `y = ...` in a dialect. A template without `{batches}` supports no batch axes, and a template
 * without `{self}` supports no reduction that excludes the value of data.
 */
interface Code {
  /** Index expressions, which replace `{index}`. */
  readonly index?: Templates;
  readonly gather?: Templates;
  /** Scatters without a reduction, unless `words` has a word for it. */
  readonly scatter?: Templates;
  readonly reduce?: Templates;
  /** Reductions of `reduce`, by the names that replace `{word}`. */
  readonly words?: Readonly<Partial<Record<Reduction, string>>>;
  /** Replaces `{self}` if the reduction excludes the value of data. */
  readonly withoutSelf?: string;
}

const ONNX: Code = {
  gather: {
    tuples: 'make_node("GatherND", ["data", "indices"], ["y"], batch_dims={batches})',
    elements: 'make_node("GatherElements", ["data", "indices"], ["y"], axis={axis})',
    slices: 'make_node("Gather", ["data", "indices"], ["y"], axis={axis})',
  },
  scatter: {
    tuples: 'make_node("ScatterND", ["data", "indices", "updates"], ["y"])',
    elements: 'make_node("ScatterElements", ["data", "indices", "updates"], ["y"], axis={axis})',
    sequences:
      'make_node("TensorScatter", ["data", "updates", "indices"], ["y"], axis={axis}{mode})',
  },
  reduce: {
    tuples: 'make_node("ScatterND", ["data", "indices", "updates"], ["y"], reduction="{word}")',
    elements:
      'make_node("ScatterElements", ["data", "indices", "updates"], ["y"], axis={axis}, reduction="{word}")',
  },
  words: { add: "add", mul: "mul", max: "max", min: "min" },
};

const OPENVINO: Code = {
  gather: {
    tuples: "ops.gather_nd(data, indices, {batches})",
    elements: "ops.gather_elements(data, indices, {axis})",
    slices: "ops.gather(data, indices, {axis}, {batches})",
  },
  scatter: { slices: "ops.scatter_update(data, indices, updates, {axis})" },
  reduce: {
    tuples: 'ops.scatter_nd_update(data, indices, updates, "{word}")',
    elements: 'ops.scatter_elements_update(data, indices, updates, {axis}, "{word}"{self})',
  },
  words: {
    none: "none",
    add: "sum",
    sub: "sub",
    mul: "prod",
    max: "max",
    min: "min",
    mean: "mean",
  },
  withoutSelf: ", False",
};

const PYTHON_SLICES = "(slice(None),) * {axis} + (indices,)";

/**
 * Returns NumPy index expressions for data. `library` is the Python module name. `grids` is an expression for element
 * coordinates, with one array per axis.
 */
const pythonIndex = (library: string, grids: string): Templates => ({
  tuples: `tuple(${library}.moveaxis(indices, -1, 0))`,
  elements: `tuple(indices if k == {axis} else grid for k, grid in enumerate(${grids}))`,
  slices: PYTHON_SLICES,
});

/** NumPy names, which are also valid in MLX and JAX. */
const UFUNCS = { add: "add", sub: "subtract", mul: "multiply" } as const;
const EXTREMES = { max: "max", min: "min" } as const;

const TENSORFLOW: Code = {
  gather: {
    tuples: "tf.gather_nd(data, indices, batch_dims={batches})",
    slices: "tf.gather(data, indices, axis={axis}, batch_dims={batches})",
  },
  reduce: { tuples: "tf.tensor_scatter_nd_{word}(data, indices, updates)" },
  words: { none: "update", add: "add", sub: "sub", ...EXTREMES },
};

const TFJS: Code = {
  gather: {
    tuples: "tf.gatherND(data, indices)",
    slices: "tf.gather(data, indices, {axis}, {batches})",
  },
  scatter: { tuples: "tf.tensorScatterUpdate(data, indices, updates)" },
  reduce: { tuples: "tf.add(data, tf.scatterND(indices, updates, data.shape))" },
  words: { add: "add" },
};

const CODES: Readonly<Record<DialectId, Code>> = {
  onnx: ONNX,
  "onnxruntime-cpu": ONNX,
  "onnxruntime-webgpu": ONNX,
  openvino: OPENVINO,
  numpy: {
    index: pythonIndex("np", "np.indices(indices.shape)"),
    gather: "data[{index}]",
    scatter: "data.copy(); y[{index}] = updates",
    reduce: "data.copy(); np.{word}.at(y, {index}, updates)",
    words: { ...UFUNCS, max: "maximum", min: "minimum" },
  },
  "torch-index-put": {
    index: { tuples: "indices.unbind(-1)", slices: PYTHON_SLICES },
    gather: "data[{index}]",
    scatter: { tuples: "data.index_put({index}, updates)" },
    reduce: { tuples: "data.index_put({index}, updates, accumulate=True)" },
    words: { add: "add" },
  },
  "torch-scatter": {
    gather: { elements: "data.gather({axis}, indices)" },
    scatter: { elements: "data.scatter({axis}, indices, updates)" },
  },
  "torch-scatter-reduce": {
    reduce: { elements: 'data.scatter_reduce({axis}, indices, updates, "{word}"{self})' },
    words: { add: "sum", mul: "prod", max: "amax", min: "amin", mean: "mean" },
    withoutSelf: ", include_self=False",
  },
  "tensorflow-cpu": TENSORFLOW,
  "tensorflow-gpu": TENSORFLOW,
  jax: {
    index: pythonIndex("jnp", "jnp.indices(indices.shape)"),
    gather: "data[{index}]",
    reduce: "data.at[{index}].{word}(updates)",
    words: { none: "set", ...UFUNCS, ...EXTREMES },
  },
  "tfjs-cpu": TFJS,
  "tfjs-wasm": TFJS,
  webnn: {
    gather: {
      tuples: "builder.gatherND(data, indices)",
      elements: "builder.gatherElements(data, indices, { axis: {axis} })",
      slices: "builder.gather(data, indices, { axis: {axis} })",
    },
    scatter: {
      tuples: "builder.scatterND(data, indices, updates)",
      elements: "builder.scatterElements(data, indices, updates, { axis: {axis} })",
    },
  },
  mlx: {
    index: pythonIndex("mx", 'mx.meshgrid(*map(mx.arange, indices.shape), indexing="ij")'),
    gather: {
      tuples: "data[{index}]",
      elements: "mx.take_along_axis(data, indices, {axis})",
      slices: "mx.take(data, indices, {axis})",
    },
    scatter: "mx.array(data); y[{index}] = updates",
    reduce: "mx.array(data); y = y.at[{index}].{word}(updates)",
    words: { ...UFUNCS, max: "maximum", min: "minimum" },
  },
};

/**
 * Returns null if the dialect does not support the operator, the reduction, the batch axes, or the exclusion of data.
 * `inputs` follows the input order of the operator version.
 */
export function codeOf(
  dialect: DialectId,
  call: NodeSpec,
  inputs: readonly (Tensor | undefined)[],
): string | null {
  const { attributes, inputs: schema, indexForm: form } = resolve(call);
  const given: Readonly<Record<string, unknown>> = { ...call.attributes };
  const valueOf = (attribute: string): unknown =>
    given[attribute] ?? attributes.find((one) => one.name === attribute)?.default;
  const inputOf = (role: ReturnType<typeof roleOf>): Tensor | undefined =>
    inputs[schema.findIndex((input) => roleOf(input) === role)];
  const { index, gather, scatter, reduce, words = {}, withoutSelf = "" } = CODES[dialect];
  const named = String(valueOf("reduction") ?? "none");
  const word = words[REDUCTION_WORDS[named] ?? (named as Reduction)];
  const isGather = !schema.some((input) => roleOf(input) === "updates");
  const written = isGather ? gather : named === "none" ? scatter : undefined;
  const template = inForm(written, form) ?? (isGather || !word ? undefined : inForm(reduce, form));
  const at = inForm(index, form);
  const isWhole = named === "none" || valueOf("use_init_val") !== false;
  const batches = fromFront(Number(valueOf("batch_dims") ?? 0), inputOf("indices"));
  if (template === undefined || (at === undefined && template.includes("{index}"))) return null;
  const isPlain = isGather ? batches === 0 : isWhole;
  if (!isPlain && !template.includes(isGather ? "{batches}" : "{self}")) return null;
  const axis = Number(inputOf("axis")?.toArray() ?? valueOf("axis") ?? 0);
  const facts: Readonly<Record<string, string | undefined>> = {
    axis: String(fromFront(axis, inputOf("data"))),
    batches: String(batches),
    word,
    self: isWhole ? "" : withoutSelf,
    mode: valueOf("mode") === "circular" ? ', mode="circular"' : "",
  };
  return `y = ${template.replace("{index}", at ?? "")}`.replaceAll(
    /\{(\w+)\}/g,
    (_, name) => facts[name] ?? "",
  );
}

const inForm = (templates: Templates | undefined, form: Form): string | undefined =>
  typeof templates === "string" ? templates : templates?.[form];

/** Reductions whose documented names differ from this package's names. */
const REDUCTION_WORDS: Readonly<Record<string, Reduction | undefined>> = {
  sum: "add",
  prod: "mul",
};

/** Converts a negative axis, or a negative number of axes, to a nonnegative number. */
const fromFront = (value: number, tensor: Tensor | undefined): number =>
  value < 0 ? value + (tensor?.shape.length ?? 0) : value;
