/** What to write in a dialect for a call: a line that makes `y` of `data`, `indices` and `updates`. */

import { resolve, roleOf, type DialectId, type NodeSpec, type Tensor } from "../index.ts";

/**
 * Lines by what indices are: tuples, one for each element, slices along an axis. A hole stands where the dialect has no
 * such operator. `$r` is the word for the reduction, `$i` the index, `$a` the axis, `$b` the number of batch axes, and
 * `$s` what leaves data out of a reduction.
 */
interface Lines {
  readonly at?: readonly string[];
  readonly scatter: readonly string[];
  readonly gather: readonly string[];
  /** Of reductions. */
  readonly words: Readonly<Record<string, string>>;
  readonly self?: string;
}

const tuple = (np: string): string => `tuple(${np}.moveaxis(indices, -1, 0))`;
const SLICES = "(slice(None),) * $a + (indices,)";
const elements = (grids: string): string =>
  `tuple(indices if k == $a else grid for k, grid in enumerate(${grids}))`;
const all = (line: string): string[] => [line, line, line];

const SCATTERED = '["data", "indices", "updates"]';
const GATHERED = '["data", "indices"]';
const node = (op: string, inputs: string, more = ""): string =>
  `make_node("${op}", ${inputs}, ["y"]${more})`;

const ONNX: Lines = {
  scatter: [
    node("ScatterND", SCATTERED, "$r"),
    node("ScatterElements", SCATTERED, ", axis=$a$r"),
    "",
    node("TensorScatter", SCATTERED, ", axis=$a"),
  ],
  gather: [
    node("GatherND", GATHERED, ", batch_dims=$b"),
    node("GatherElements", GATHERED, ", axis=$a"),
    node("Gather", GATHERED, ", axis=$a"),
  ],
  words: Object.fromEntries(
    ["none", "add", "mul", "max", "min"].map((word) => [
      word,
      word === "none" ? "" : `, reduction="${word}"`,
    ]),
  ),
};

const TENSORFLOW: Lines = {
  scatter: ["tf.tensor_scatter_nd_$r(data, indices, updates)"],
  gather: [
    "tf.gather_nd(data, indices, batch_dims=$b)",
    "",
    "tf.gather(data, indices, axis=$a, batch_dims=$b)",
  ],
  words: { none: "update", add: "add", sub: "sub", max: "max", min: "min" },
};

const TFJS: Lines = {
  scatter: ["$r"],
  gather: ["tf.gatherND(data, indices)", "", "tf.gather(data, indices, $a, $b)"],
  words: {
    none: "tf.tensorScatterUpdate(data, indices, updates)",
    add: "tf.add(data, tf.scatterND(indices, updates, data.shape))",
  },
};

const UFUNCS = { add: "add", sub: "subtract", mul: "multiply", max: "maximum", min: "minimum" };
const ufuncs = (call: (name: string) => string): Record<string, string> =>
  Object.fromEntries(Object.entries(UFUNCS).map(([word, name]) => [word, call(name)]));

const LINES: Readonly<Record<DialectId, Lines>> = {
  onnx: ONNX,
  "onnxruntime-cpu": ONNX,
  "onnxruntime-webgpu": ONNX,
  openvino: {
    scatter: [
      'ops.scatter_nd_update(data, indices, updates, "$r")',
      'ops.scatter_elements_update(data, indices, updates, $a, "$r"$s)',
      "ops.scatter_update(data, indices, updates, $a)",
    ],
    gather: [
      "ops.gather_nd(data, indices, $b)",
      "ops.gather_elements(data, indices, $a)",
      "ops.gather(data, indices, $a, $b)",
    ],
    words: {
      ...{ none: "none", add: "sum", sub: "sub", mul: "prod" },
      ...{ max: "max", min: "min", mean: "mean" },
    },
    self: ", False",
  },
  numpy: {
    at: [tuple("np"), elements("np.indices(indices.shape)"), SLICES],
    scatter: all("data.copy(); $r"),
    gather: all("data[$i]"),
    words: { none: "y[$i] = updates", ...ufuncs((name) => `np.${name}.at(y, $i, updates)`) },
  },
  "torch-index-put": {
    at: ["indices.unbind(-1)", "", SLICES],
    scatter: ["data.index_put($i, updates$r)"],
    gather: ["data[$i]", "", "data[$i]"],
    words: { none: "", add: ", accumulate=True" },
  },
  "torch-scatter": {
    scatter: ["", "data.scatter($a, indices, updates)"],
    gather: ["", "data.gather($a, indices)"],
    words: { none: "" },
  },
  "torch-scatter-reduce": {
    scatter: ["", 'data.scatter_reduce($a, indices, updates, "$r"$s)'],
    gather: [],
    words: { add: "sum", mul: "prod", max: "amax", min: "amin", mean: "mean" },
    self: ", include_self=False",
  },
  "tensorflow-cpu": TENSORFLOW,
  "tensorflow-gpu": TENSORFLOW,
  jax: {
    at: [tuple("jnp"), elements("jnp.indices(indices.shape)"), SLICES],
    scatter: all("data.at[$i].$r(updates)"),
    gather: all("data[$i]"),
    words: { none: "set", add: "add", sub: "subtract", mul: "multiply", max: "max", min: "min" },
  },
  "tfjs-cpu": TFJS,
  "tfjs-wasm": TFJS,
  webnn: {
    scatter: [
      "builder.scatterND(data, indices, updates)",
      "builder.scatterElements(data, indices, updates, { axis: $a })",
    ],
    gather: [
      "builder.gatherND(data, indices)",
      "builder.gatherElements(data, indices, { axis: $a })",
      "builder.gather(data, indices, { axis: $a })",
    ],
    words: { none: "" },
  },
  mlx: {
    at: [
      tuple("mx"),
      elements('mx.meshgrid(*map(mx.arange, indices.shape), indexing="ij")'),
      SLICES,
    ],
    scatter: all("mx.array(data); $r"),
    gather: ["data[$i]", "mx.take_along_axis(data, indices, $a)", "mx.take(data, indices, $a)"],
    words: { none: "y[$i] = updates", ...ufuncs((name) => `y = y.at[$i].${name}(updates)`) },
  },
};

/** The one word for a reduction in all versions. */
const REDUCTIONS: Readonly<Record<string, string>> = { sum: "add", prod: "mul" };

/** Null where the dialect lacks the operator, the reduction, batch axes or a reduction without data's value. */
export function codeOf(
  dialect: DialectId,
  call: NodeSpec,
  inputs: readonly (Tensor | undefined)[],
): string | null {
  const version = resolve(call);
  const { name, attributes, inputs: schema } = version;
  const settings: Readonly<Record<string, unknown>> = { ...call.attributes };
  const valueOf = (attribute: string): unknown =>
    settings[attribute] ?? attributes.find((one) => one.name === attribute)?.default;
  const { at, scatter, gather, words, self = "" } = LINES[dialect];
  const form =
    name === "TensorScatter"
      ? 3
      : name.includes("ND")
        ? 0
        : /Elements|^Scatter$/.test(name)
          ? 1
          : 2;
  const isScatter = schema.some((input) => roleOf(input) === "updates");
  const given = String(valueOf("reduction") ?? "none");
  const reduction = isScatter ? (REDUCTIONS[given] ?? given) : "none";
  const line = (isScatter ? scatter : gather)[form] ?? "";
  const word = isScatter ? words[reduction] : "";
  if (line === "" || word === undefined) return null;
  const axisInput = inputs[schema.findIndex((input) => roleOf(input) === "axis")];
  const axis = Number(axisInput?.toArray() ?? valueOf("axis") ?? 0);
  const rank = inputs[0]?.shape.length ?? 0;
  const batchDims = Number(valueOf("batch_dims") ?? 0);
  const leavesOut = reduction !== "none" && valueOf("use_init_val") === false;
  const lacks =
    (reduction !== "none" && !line.includes("$r")) ||
    (leavesOut && !line.includes("$s")) ||
    (batchDims !== 0 && !line.includes("$b"));
  if (lacks) return null;
  const filled = line
    .replace("$r", word)
    .replace("$i", at?.[form] ?? "")
    .replace("$a", String(axis < 0 ? axis + rank : axis))
    .replace("$b", String(batchDims < 0 ? batchDims + (inputs[1]?.shape.length ?? 0) : batchDims))
    .replace("$s", leavesOut ? self : "");
  return `y = ${filled}`;
}
