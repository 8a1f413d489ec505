/**
 * Lists the library functions that are scatters and gathers, and binds their arguments. Calls of other functions are
 * not recognized.
 */

import type { Argument, Call, Value } from "../literals.ts";
import { broadcast, filledWith, type Arr } from "./arrays.ts";
import {
  elements,
  gather,
  gatherElements,
  gatherND,
  slices,
  tuples,
  withRemark,
  type Draft,
  type Writes,
} from "./draft.ts";
import type { Names } from "./names.ts";
import { reductionNamed, subscript } from "./subscript.ts";

/** Drafts `np.take`, which flattens data if there is no axis. */
function take(given: Bound): Draft {
  if (given.has("axis")) return gather(given);
  const { data, indices } = given;
  const flat = { ...data, shape: [data.values.length] };
  const remarks = ["Without an axis, take flattens data first."];
  return { ...gather({ data: flat, indices, axis: 0 }), remarks };
}

/** Drafts a sum of updates whose targets have the same segment number. */
function segments(given: Bound): Draft {
  const { updates, indices } = given;
  const most = Math.max(-1, ...indices.values.map(Number));
  const count = given.has("num_segments") ? given.number("num_segments") : most + 1;
  const data = filledWith(updates, [Math.max(0, count), ...updates.shape.slice(1)], "0");
  return slices({ data, indices, updates, axis: 0, reduction: "add" });
}

/** Drafts `F.embedding`, a gather of rows. */
const embedding = ({ data, indices }: Bound): Draft => gather({ data, indices, axis: 0 });

/** Drafts a scatter by one array of indices, or by a tuple of arrays, one for each axis. */
const indexed = (given: Bound): Draft | null =>
  subscript(given.names, {
    of: given.value("data"),
    items: [given.value("indices")],
    start: given.call.start,
    updates: given.value("updates"),
    reduction: given.reduction,
  });

/** Drafts `np.put_along_axis`, which broadcasts updates. */
const put = ({ data, indices, updates, axis, reduction }: Bound): Draft =>
  elements({ data, indices, updates: broadcast(updates, indices.shape), axis, reduction });

function intoZeros(given: Bound): Draft {
  const { indices, updates } = given;
  const data = filledWith(updates, given.array("shape").values.map(Number), "0");
  return tuples({ data, indices, updates, reduction: "add" });
}

/** Drafts `tf.gather`, whose axis is by default the first behind the batches. */
function gatherBatches(given: Bound): Draft {
  const { data, indices, batchDims } = given;
  return gather({ data, indices, axis: given.has("axis") ? given.axis : batchDims, batchDims });
}

/**
 * The library, names and parameters of functions. A parameter may have several names, separated by a bar, and has a role
 * after a colon, unless the role is its name. The first parameter is the array that a method is called on. The last entry
 * says what the library does with a negative index, as measured with torch 2.15, TensorFlow 2.21 and JAX 0.10: counts it
 * from the end, leaves it out, or refuses it.
 */
type Form = readonly [
  library: string,
  names: string,
  parameters: string,
  draft: (given: Bound) => Draft | null,
  negative: "counted" | "left out" | "refused",
];

// prettier-ignore
const FORMS: readonly Form[] = [
  ["torch", "scatter", "input:data, dim:axis, index:indices, src|value:updates, reduce", elements, "refused"],
  ["torch", "scatter_add", "input:data, dim:axis, index:indices, src:updates", elements, "refused"],
  ["torch", "scatter_reduce", "input:data, dim:axis, index:indices, src:updates, reduce, include_self", elements, "refused"],
  ["torch", "gather", "input:data, dim:axis, index:indices, sparse_grad", gatherElements, "refused"],
  ["torch", "take_along_dim", "input:data, indices, dim:axis", gatherElements, "counted"],
  ["torch", "index_select", "input:data, dim:axis, index:indices", gather, "refused"],
  ["torch", "F.embedding functional.embedding", "input:indices, weight:data, padding_idx, sparse", embedding, "refused"],
  ["torch", "index_add index_copy", "input:data, dim:axis, index:indices, source|tensor:updates, alpha", slices, "refused"],
  ["torch", "index_fill", "input:data, dim:axis, index:indices, value:updates", slices, "counted"],
  ["torch", "index_put", "input:data, indices, values:updates, accumulate", indexed, "counted"],
  ["numpy", "put_along_axis", "arr:data, indices, values:updates, axis, mode, inplace", put, "counted"],
  ["numpy", "take_along_axis", "arr:data, indices, axis, mode", gatherElements, "counted"],
  ["numpy", "take", "a:data, indices, axis, out, mode", take, "counted"],
  ["numpy", "add.at subtract.at multiply.at maximum.at minimum.at", "a:data, indices, b:updates", indexed, "counted"],
  ["tf", "tensor_scatter_nd_update tensor_scatter_nd_add tensor_scatter_nd_sub", "tensor:data, indices, updates, name", tuples, "refused"],
  ["tf", "tensor_scatter_nd_max tensor_scatter_nd_min", "tensor:data, indices, updates, name", tuples, "refused"],
  ["tf", "scatter_nd", "indices, updates, shape, name", intoZeros, "refused"],
  ["tf", "gather", "params:data, indices, validate_indices, axis, batch_dims, name", gatherBatches, "refused"],
  ["tf", "gather_nd", "params:data, indices, batch_dims, name", gatherND, "refused"],
  ["tf", "math.unsorted_segment_sum", "data:updates, segment_ids:indices, num_segments, name", segments, "left out"],
  ["tf", "math.segment_sum", "data:updates, segment_ids:indices, name", segments, "refused"],
  ["jax", "ops.segment_sum", "data:updates, segment_ids:indices, num_segments, indices_are_sorted", segments, "left out"],
];

const DIFFERENCES: Readonly<Record<Exclude<Form[4], "counted">, string>> = {
  refused: "The library refuses a negative index here; ONNX counts it from the end.",
  "left out": "The library leaves out a negative segment; the page counts it from the end.",
};

/** Adds what the page and the library do in different ways. */
function withDifferences(draft: Draft, negative: Form[4], given: Bound): Draft | null {
  const isNegative = draft.inputs.indices?.values.some((index) => index.startsWith("-")) === true;
  const compared =
    isNegative && negative !== "counted" ? withRemark(draft, DIFFERENCES[negative]) : draft;
  const mode = given.word("mode");
  return mode === "" || mode === "raise" ? compared : withRemark(compared, modeRemark(mode));
}

export const modeRemark = (mode: string): string =>
  `The mode ${mode} is not applied: an index out of range is reported, and a negative one counts from the end.`;

const isMethod = ([library, names]: Form): boolean => library === "torch" || names === "take";

/**
 * Drafts a call of a library; null for a function that is not listed. A function is found by the end of its path, and a
 * method, whose library is null, by its name.
 */
export function libraryCall(
  names: Names,
  call: Call,
  library: string | null,
  given: readonly Argument[],
): Draft | null {
  // JAX has NumPy's functions.
  const libraries = library === "jax" ? ["jax", "numpy"] : [library];
  const forms = FORMS.filter((form) =>
    library === null ? isMethod(form) : libraries.includes(form[0]),
  );
  const path = call.name.replace(/(?<=\w)_$/, "").split(".");
  for (const name of [path.slice(-2).join("."), path[path.length - 1]]) {
    const found = forms.find(([, all]) => all.split(" ").includes(name));
    if (found === undefined) continue;
    const [, , parameters, draft, negative] = found;
    const bound = new Bound(names, call, name, parameters, given);
    const drafted = draft(bound);
    return drafted && withDifferences(drafted, negative, bound);
  }
  return null;
}

/** A call's arguments by the roles of its parameters. Reading an argument that is missing throws. */
class Bound implements Writes {
  readonly names: Names;
  readonly call: Call;
  /** The function's name in the list. */
  readonly name: string;
  readonly parameters: readonly { readonly own: readonly string[]; readonly role: string }[];
  readonly values = new Map<string, Value>();

  /** Throws if the call has an argument without a parameter. */
  constructor(
    names: Names,
    call: Call,
    name: string,
    parameters: string,
    given: readonly Argument[],
  ) {
    this.names = names;
    this.call = call;
    this.name = name;
    this.parameters = parameters.split(", ").map((one) => {
      const [own, role] = one.split(":");
      return { own: own.split("|"), role: role ?? own };
    });
    let position = 0;
    for (const { name: keyword, value } of given) {
      const parameter =
        keyword === null
          ? this.parameters[position++]
          : this.parameters.find(({ own }) => own.includes(keyword));
      if (parameter === undefined || this.values.has(parameter.role)) {
        const title = keyword === null ? `${position}` : keyword;
        throw names.wrong(`${name} has no parameter for the argument ${title}`, value.start);
      }
      this.values.set(parameter.role, value);
    }
    if (this.values.has("alpha") && this.word("alpha") !== "1") {
      const sentence = "alpha is not supported here: multiply the source by alpha";
      throw names.wrong(sentence, this.value("alpha").start);
    }
  }

  get data(): Arr {
    return this.array("data");
  }

  get indices(): Arr {
    return this.array("indices");
  }

  get updates(): Arr {
    return this.array("updates");
  }

  get axis(): number {
    return this.number("axis");
  }

  get batchDims(): number {
    return this.has("batch_dims") ? this.number("batch_dims") : 0;
  }

  /** The reduction that an argument or a part of the function's name says. */
  get reduction(): string {
    const said = /^true$/i.test(this.word("accumulate")) ? "add" : this.word("reduce");
    if (said !== "") return reductionNamed(said) ?? said;
    return (
      this.name
        .split(/[._]/)
        .map(reductionNamed)
        .find((one) => one !== null) ?? "none"
    );
  }

  get isFresh(): boolean {
    return /^false$/i.test(this.word("include_self"));
  }

  has(role: string): boolean {
    return this.values.has(role) && this.word(role) !== "None";
  }

  /** Returns the text of a word or boolean argument; an empty string if the argument is missing. */
  word(role: string): string {
    const value = this.values.get(role);
    return value?.kind === "word" ? value.text : "";
  }

  value(role: string): Value {
    const value = this.values.get(role);
    if (value !== undefined) return value;
    throw this.names.wrong(`${this.name} needs the argument ${this.title(role)}`, this.call.start);
  }

  /** Returns the library's name for a parameter. */
  title = (role: string): string =>
    this.parameters.find((one) => one.role === role)?.own[0] ?? role;

  array = (role: string): Arr => this.names.array(this.value(role));

  number = (role: string): number => this.names.integer(this.value(role), this.title(role));
}
