/** Lists the library functions that are scatters and gathers. Calls of other functions are not recognized. */

import {
  elements,
  flat,
  gather,
  gatherElements,
  gatherND,
  slices,
  tuples,
  zerosLike,
  type Draft,
} from "./draft.ts";
import { broadcast, type Arr } from "./arrays.ts";

export interface Bound {
  array(name: string): Arr;
  /** Returns an integer argument; throws if the argument is not an integer, or is missing without a default. */
  number(name: string, otherwise?: number): number;
  /** Returns the text of a word or boolean argument; an empty string if the argument is missing. */
  word(name: string): string;
  has(name: string): boolean;
  /** Returns index tuples for a tuple of arrays or for a single array on the first axis. */
  index(name: string): { readonly isTuple: boolean; readonly array: Arr };
  readonly name: string;
}

export interface Form {
  readonly library: string;
  readonly names: string;
  /**
   * The names of the parameters, separated by a comma and a space. The first parameter is the array that a method is
   * called on. A bar separates alternative names.
   */
  readonly parameters: string;
  readonly isMethod: boolean;
  make(bound: Bound): Draft;
}

const WORDS: Readonly<Record<string, string | undefined>> = {
  update: "none",
  add: "add",
  sum: "add",
  subtract: "sub",
  sub: "sub",
  multiply: "mul",
  mul: "mul",
  prod: "mul",
  maximum: "max",
  max: "max",
  amax: "max",
  minimum: "min",
  min: "min",
  amin: "min",
  mean: "mean",
};

/** Returns the reduction with this library name; `none` for an empty name. */
const reductionOf = (word: string): string => (word === "" ? "none" : (WORDS[word] ?? word));

const rowsOrTuples = (bound: Bound, [data, index, updates]: string[], reduction: string): Draft => {
  const { isTuple, array } = bound.index(index);
  const [target, values] = [bound.array(data), bound.array(updates)];
  return isTuple
    ? tuples(target, array, values, reduction)
    : slices(target, array, values, 0, reduction);
};

function segments(bound: Bound): Draft {
  const [data, ids] = [bound.array("data"), bound.array("segment_ids")];
  const most = Math.max(-1, ...ids.values.map(Number));
  const count = bound.has("num_segments") ? bound.number("num_segments") : most + 1;
  const target = zerosLike(data, [Math.max(0, count), ...data.shape.slice(1)]);
  return slices(target, ids, data, 0, "add");
}

const formsOf =
  (library: string, isMethod: boolean) =>
  (names: string, parameters: string, make: Form["make"]): Form => ({
    ...{ library, names, parameters, isMethod, make },
  });

const torch = formsOf("torch", true);
const numpy = formsOf("numpy", false);
const tf = formsOf("tf", false);

/** PyTorch's scatters of single elements. */
const scattered = (bound: Bound, reduction: string, isFresh = false): Draft =>
  elements(bound.array("input"), bound.array("index"), bound.array("src"), {
    ...{ axis: bound.number("dim"), reduction, isFresh },
  });

const tensorIndexed = (bound: Bound, updates: string, reduction: string): Draft => {
  const data = bound.array("input");
  const axis = bound.number("dim");
  const positive = axis < 0 ? axis + data.shape.length : axis;
  return slices(data, bound.array("index"), bound.array(updates), positive, reduction);
};

export const FORMS: readonly Form[] = [
  torch("scatter", "input, dim, index, src|value, reduce", (b) =>
    scattered(b, reductionOf(b.word("reduce"))),
  ),
  torch("scatter_add", "input, dim, index, src", (b) => scattered(b, "add")),
  torch("scatter_reduce", "input, dim, index, src, reduce, include_self", (b) =>
    scattered(b, reductionOf(b.word("reduce")), /^false$/i.test(b.word("include_self"))),
  ),
  torch("gather", "input, dim, index, sparse_grad", (b) =>
    gatherElements(b.array("input"), b.array("index"), b.number("dim")),
  ),
  torch("take_along_dim", "input, indices, dim", (b) =>
    gatherElements(b.array("input"), b.array("indices"), b.number("dim")),
  ),
  torch("index_select", "input, dim, index", (b) =>
    gather(b.array("input"), b.array("index"), b.number("dim")),
  ),
  torch("index_add index_copy", "input, dim, index, source|tensor, alpha", (b) =>
    tensorIndexed(b, "source", b.name === "index_add" ? "add" : "none"),
  ),
  torch("index_fill", "input, dim, index, value", (b) => tensorIndexed(b, "value", "none")),
  torch("index_put", "input, indices, values, accumulate", (b) =>
    rowsOrTuples(
      b,
      ["input", "indices", "values"],
      /^true$/i.test(b.word("accumulate")) ? "add" : "none",
    ),
  ),
  numpy("put_along_axis", "arr, indices, values, axis, mode, inplace", (b) => {
    const [data, index, values] = [b.array("arr"), b.array("indices"), b.array("values")];
    return elements(data, index, broadcast(values, index.shape), { axis: b.number("axis") });
  }),
  numpy("take_along_axis", "arr, indices, axis, mode", (b) =>
    gatherElements(b.array("arr"), b.array("indices"), b.number("axis")),
  ),
  formsOf("numpy", true)("take", "a, indices, axis, out, mode", (b) =>
    b.has("axis")
      ? gather(b.array("a"), b.array("indices"), b.number("axis"))
      : {
          ...gather(flat(b.array("a")), b.array("indices"), 0),
          remarks: ["Without an axis, take flattens data first."],
        },
  ),
  numpy("add.at subtract.at multiply.at maximum.at minimum.at", "a, indices, b", (b) =>
    rowsOrTuples(b, ["a", "indices", "b"], reductionOf(b.name.split(".")[0])),
  ),
  tf(
    "tensor_scatter_nd_update tensor_scatter_nd_add tensor_scatter_nd_sub tensor_scatter_nd_max tensor_scatter_nd_min",
    "tensor, indices, updates, name",
    (b) => {
      const reduction = reductionOf(b.name.replace(/^.*_/, ""));
      return tuples(b.array("tensor"), b.array("indices"), b.array("updates"), reduction);
    },
  ),
  tf("scatter_nd", "indices, updates, shape, name", (b) => {
    const shape = b.array("shape");
    const updates = b.array("updates");
    const target = zerosLike(updates, shape.values.map(Number));
    return tuples(target, b.array("indices"), updates, "add");
  }),
  tf("gather", "params, indices, validate_indices, axis, batch_dims, name", (b) => {
    const batchDims = b.number("batch_dims", 0);
    return gather(b.array("params"), b.array("indices"), b.number("axis", batchDims), batchDims);
  }),
  tf("gather_nd", "params, indices, batch_dims, name", (b) =>
    gatherND(b.array("params"), b.array("indices"), b.number("batch_dims", 0)),
  ),
  tf(
    "math.unsorted_segment_sum math.segment_sum",
    "data, segment_ids, num_segments, name",
    segments,
  ),
  formsOf("jax", false)(
    "ops.segment_sum",
    "data, segment_ids, num_segments, indices_are_sorted",
    segments,
  ),
];

/** Returns a call's table row: a library function is found by the end of its path, a method by its name. */
export function formOf(library: string | null, path: string): { form: Form; name: string } | null {
  const last = path.split(".");
  const ends = [last.slice(-2).join("."), last.slice(-1)[0]].map((one) =>
    one.replace(/(?<=\w)_$/, ""),
  );
  for (const name of ends) {
    for (const form of FORMS) {
      const isThere =
        library === null
          ? form.isMethod
          : form.library === library || (library === "jax" && form.library === "numpy");
      if (isThere && form.names.split(" ").includes(name)) return { form, name };
    }
  }
  return null;
}
