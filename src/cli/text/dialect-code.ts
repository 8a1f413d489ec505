/** Generates a dialect's code for a call, as one line that computes `y` from `data`, `indices` and `updates`. */

import {
  REDUCTIONS,
  type DialectId,
  type NodeSpec,
  type OperatorVersion,
  type Reduction,
  type Tensor,
} from "../../entries/index.ts";
import { resolve, roleOf } from "../../entries/operators.ts";

/** Properties of a scatter that determine its code. */
interface Scatter {
  readonly kind: "scatter";
  readonly form: OperatorVersion["indexForm"];
  /** The nonnegative axis number. */
  readonly axis: number;
  readonly reduction: Reduction;
  /** True if the reduction includes the value of data. */
  readonly includeSelf: boolean;
  /** True if positions beyond the end of a sequence wrap to the beginning. */
  readonly isCircular: boolean;
}

interface Gather {
  readonly kind: "gather";
  readonly form: OperatorVersion["indexForm"];
  /** The nonnegative axis number. */
  readonly axis: number;
  readonly batchDims: number;
}

/** Generates the right side of `y = ...`; null if the dialect has no equivalent code. */
type Code = (call: Scatter | Gather) => string | null;

/** Reduction names in the dialect. */
type ReductionWords = Readonly<Partial<Record<Reduction, string>>>;

/** Returns null if the call has batch axes or excludes the value of data, because the dialect supports neither. */
const plain =
  (code: Code): Code =>
  (call) =>
    (call.kind === "gather" ? call.batchDims === 0 : call.includeSelf) ? code(call) : null;

/** The names of TensorScatter's inputs, in order. */
const SEQUENCE_INPUTS: readonly string[] = ["data", "updates", "indices"];

const onnx: Code = (call) => {
  const { form, axis } = call;
  const node = (op: string, attributes: string): string => {
    const names = form === "sequences" ? SEQUENCE_INPUTS : ["data", "indices", "updates"];
    const inputs = names.slice(0, call.kind === "scatter" ? 3 : 2).map((name) => `"${name}"`);
    return `make_node("${op}", [${inputs.join(", ")}], ["y"]${attributes})`;
  };
  if (call.kind === "gather") {
    if (form === "tuples") return node("GatherND", `, batch_dims=${call.batchDims}`);
    if (call.batchDims !== 0) return null;
    return node(form === "elements" ? "GatherElements" : "Gather", `, axis=${axis}`);
  }
  const { reduction, includeSelf } = call;
  if (reduction === "sub" || reduction === "mean" || !includeSelf) return null;
  const reduced = reduction === "none" ? "" : `, reduction="${reduction}"`;
  if (form === "tuples") return node("ScatterND", reduced);
  if (form === "elements") return node("ScatterElements", `, axis=${axis}${reduced}`);
  const mode = call.isCircular ? ', mode="circular"' : "";
  return form === "sequences" ? node("TensorScatter", `, axis=${axis}${mode}`) : null;
};

const OPENVINO_WORDS: Readonly<Record<Reduction, string>> = {
  none: "none",
  add: "sum",
  sub: "sub",
  mul: "prod",
  max: "max",
  min: "min",
  mean: "mean",
};

const openvino: Code = (call) => {
  const { form, axis } = call;
  if (call.kind === "gather") {
    if (form === "tuples") return `ops.gather_nd(data, indices, ${call.batchDims})`;
    if (form === "slices") return `ops.gather(data, indices, ${axis}, ${call.batchDims})`;
    return call.batchDims === 0 ? `ops.gather_elements(data, indices, ${axis})` : null;
  }
  const { reduction, includeSelf } = call;
  const word = `"${OPENVINO_WORDS[reduction]}"`;
  if (form === "elements") {
    const self = includeSelf ? "" : ", False";
    return `ops.scatter_elements_update(data, indices, updates, ${axis}, ${word}${self})`;
  }
  if (!includeSelf) return null;
  if (form === "tuples") return `ops.scatter_nd_update(data, indices, updates, ${word})`;
  return form === "slices" && reduction === "none"
    ? `ops.scatter_update(data, indices, updates, ${axis})`
    : null;
};

/**
 * Returns a NumPy index expression for data. `library` is the Python module name. `grids` is an expression for element
 * coordinates, with one array per axis.
 */
function pythonIndex({ form, axis }: Scatter | Gather, library: string, grids: string): string {
  if (form === "tuples") return `tuple(${library}.moveaxis(indices, -1, 0))`;
  if (form === "slices") return pythonSlices(axis);
  return `tuple(indices if k == ${axis} else grid for k, grid in enumerate(${grids}))`;
}

const pythonSlices = (axis: number): string => `(slice(None),) * ${axis} + (indices,)`;

/** NumPy names, which are also valid in MLX. */
const UFUNCS: ReductionWords = {
  add: "add",
  sub: "subtract",
  mul: "multiply",
  max: "maximum",
  min: "minimum",
};

const numpy: Code = plain((call) => {
  if (call.form === "sequences") return null;
  const index = pythonIndex(call, "np", "np.indices(indices.shape)");
  if (call.kind === "gather") return `data[${index}]`;
  if (call.reduction === "none") return `data.copy(); y[${index}] = updates`;
  const ufunc = UFUNCS[call.reduction];
  return ufunc === undefined ? null : `data.copy(); np.${ufunc}.at(y, ${index}, updates)`;
});

const torchIndexPut: Code = plain((call) => {
  const { kind, form, axis } = call;
  if (form !== "tuples" && !(form === "slices" && kind === "gather")) return null;
  const index = form === "tuples" ? "indices.unbind(-1)" : pythonSlices(axis);
  if (call.kind === "gather") return `data[${index}]`;
  if (call.reduction === "none") return `data.index_put(${index}, updates)`;
  return call.reduction === "add" ? `data.index_put(${index}, updates, accumulate=True)` : null;
});

const torchScatter: Code = plain((call) => {
  if (call.form !== "elements") return null;
  if (call.kind === "gather") return `data.gather(${call.axis}, indices)`;
  return call.reduction === "none" ? `data.scatter(${call.axis}, indices, updates)` : null;
});

const TORCH_WORDS: ReductionWords = {
  add: "sum",
  mul: "prod",
  max: "amax",
  min: "amin",
  mean: "mean",
};

const torchScatterReduce: Code = (call) => {
  if (call.kind === "gather" || call.form !== "elements") return null;
  const word = TORCH_WORDS[call.reduction];
  if (word === undefined) return null;
  const self = call.includeSelf ? "" : ", include_self=False";
  return `data.scatter_reduce(${call.axis}, indices, updates, "${word}"${self})`;
};

const TENSORFLOW_WORDS: ReductionWords = {
  none: "update",
  add: "add",
  sub: "sub",
  max: "max",
  min: "min",
};

const tensorflow: Code = (call) => {
  if (call.kind === "gather") {
    const { form, axis, batchDims } = call;
    if (form === "tuples") return `tf.gather_nd(data, indices, batch_dims=${batchDims})`;
    if (form !== "slices") return null;
    return `tf.gather(data, indices, axis=${axis}, batch_dims=${batchDims})`;
  }
  const word = TENSORFLOW_WORDS[call.reduction];
  return call.form === "tuples" && word !== undefined && call.includeSelf
    ? `tf.tensor_scatter_nd_${word}(data, indices, updates)`
    : null;
};

const JAX_WORDS: ReductionWords = {
  none: "set",
  add: "add",
  sub: "subtract",
  mul: "multiply",
  max: "max",
  min: "min",
};

const jax: Code = plain((call) => {
  if (call.form === "sequences") return null;
  const index = pythonIndex(call, "jnp", "jnp.indices(indices.shape)");
  if (call.kind === "gather") return `data[${index}]`;
  const word = JAX_WORDS[call.reduction];
  return word === undefined ? null : `data.at[${index}].${word}(updates)`;
});

const tfjs: Code = (call) => {
  if (call.kind === "gather") {
    const { form, axis, batchDims } = call;
    if (form === "slices") return `tf.gather(data, indices, ${axis}, ${batchDims})`;
    return form === "tuples" && batchDims === 0 ? "tf.gatherND(data, indices)" : null;
  }
  if (call.form !== "tuples") return null;
  if (call.reduction === "none") return "tf.tensorScatterUpdate(data, indices, updates)";
  return call.reduction === "add" && call.includeSelf
    ? "tf.add(data, tf.scatterND(indices, updates, data.shape))"
    : null;
};

const webnn: Code = plain((call) => {
  const { form, axis } = call;
  if (call.kind === "gather") {
    if (form === "tuples") return "builder.gatherND(data, indices)";
    const name = form === "elements" ? "gatherElements" : "gather";
    return `builder.${name}(data, indices, { axis: ${axis} })`;
  }
  if (call.reduction !== "none") return null;
  if (form === "tuples") return "builder.scatterND(data, indices, updates)";
  return form === "elements"
    ? `builder.scatterElements(data, indices, updates, { axis: ${axis} })`
    : null;
});

const mlx: Code = plain((call) => {
  const { form, axis } = call;
  if (form === "sequences") return null;
  const grids = 'mx.meshgrid(*map(mx.arange, indices.shape), indexing="ij")';
  const index = pythonIndex(call, "mx", grids);
  if (call.kind === "gather") {
    if (form === "tuples") return `data[${index}]`;
    return `mx.${form === "elements" ? "take_along_axis" : "take"}(data, indices, ${axis})`;
  }
  if (call.reduction === "none") return `mx.array(data); y[${index}] = updates`;
  const ufunc = UFUNCS[call.reduction];
  return ufunc === undefined ? null : `mx.array(data); y = y.at[${index}].${ufunc}(updates)`;
});

const CODES: Readonly<Record<DialectId, Code>> = {
  onnx,
  "onnxruntime-cpu": onnx,
  "onnxruntime-webgpu": onnx,
  openvino,
  numpy,
  "torch-index-put": torchIndexPut,
  "torch-scatter": torchScatter,
  "torch-scatter-reduce": torchScatterReduce,
  "tensorflow-cpu": tensorflow,
  "tensorflow-gpu": tensorflow,
  jax,
  "tfjs-cpu": tfjs,
  "tfjs-wasm": tfjs,
  webnn,
  mlx,
};

/**
 * Returns null if the dialect does not support the operator, the reduction, the batch axes, or the exclusion of data.
 */
export function codeOf(
  dialect: DialectId,
  call: NodeSpec,
  inputs: readonly (Tensor | undefined)[],
): string | null {
  const described = describe(call, inputs);
  const code = described === null ? null : CODES[dialect](described);
  return code === null ? null : `y = ${code}`;
}

/** Reductions whose documented names differ from this package's names. */
const REDUCTION_WORDS: Readonly<Record<string, Reduction | undefined>> = {
  sum: "add",
  prod: "mul",
};

/** Converts a negative axis, or a negative number of axes, to a nonnegative number. */
const fromFront = (value: number, rank = 0): number => (value < 0 ? value + rank : value);

/**
 * Returns the properties that determine the code. Returns null for a reduction that no operator version supports.
 * `inputs` follows the input order of the operator version.
 */
function describe(
  call: NodeSpec,
  inputs: readonly (Tensor | undefined)[],
): Scatter | Gather | null {
  const { attributes, inputs: schema, indexForm: form } = resolve(call);
  const given: Readonly<Record<string, unknown>> = { ...call.attributes };
  const valueOf = (attribute: string): unknown =>
    given[attribute] ?? attributes.find((one) => one.name === attribute)?.default;
  const inputOf = (role: ReturnType<typeof roleOf>): Tensor | undefined =>
    inputs[schema.findIndex((input) => roleOf(input) === role)];
  const axis = fromFront(
    Number(inputOf("axis")?.toArray() ?? valueOf("axis") ?? 0),
    inputOf("data")?.shape.length,
  );
  if (!schema.some((input) => roleOf(input) === "updates")) {
    const batchDims = Number(valueOf("batch_dims") ?? 0);
    return {
      kind: "gather",
      form,
      axis,
      batchDims: fromFront(batchDims, inputOf("indices")?.shape.length),
    };
  }
  const word = String(valueOf("reduction") ?? "none");
  const reduction = REDUCTIONS.find((one) => one === word) ?? REDUCTION_WORDS[word] ?? null;
  if (reduction === null) return null;
  const includeSelf = reduction === "none" || valueOf("use_init_val") !== false;
  const isCircular = valueOf("mode") === "circular";
  return { kind: "scatter", form, axis, reduction, includeSelf, isCircular };
}
