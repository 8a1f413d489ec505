/** Exports a state as a PyTorch program. */

import type { DType } from "ndscatter";
import type { State } from "../values/state.ts";
import type { CallFacts } from "./call-facts.ts";
import {
  along,
  printPythonList,
  pythonProgram,
  pythonShape,
  wrapped,
  type Library,
  type Lines,
} from "./python.ts";

/** Returns Python code that prints the output, or only comments if PyTorch cannot express the call. */
export const asPyTorch = (state: State): string => pythonProgram(state, PYTORCH);

/** Checks whether sums and products are rounded, so that their order matters. */
const isRounded = (dtype: DType): boolean => /^(?:b?float|complex)/.test(dtype);

const isOpenOrder = ({ hasRepeats, reduction, data }: CallFacts): boolean =>
  hasRepeats && ["add", "mul", "sub", "mean"].includes(reduction) && isRounded(data.dtype);

/** The reason why an output is undefined: several updates of one target without a reduction. */
const OPEN: Lines = {
  no:
    "PyTorch does not define which update wins if several have the same target,\n" +
    "# so a PyTorch program may give another output.\n" +
    "# Omit the earlier updates of each target, or use a reduction.",
};

const KNOWN: ReadonlySet<DType> = new Set([
  ...(["bool", "float16", "bfloat16", "float32", "float64", "complex64", "complex128"] as const),
  ...(["int8", "int16", "int32", "int64", "uint8"] as const),
]);

/** Reduction names for `scatter_reduce`. */
const WORDS = { add: "sum", mul: "prod", max: "amax", min: "amin", mean: "mean" } as const;

/** Applies updates at `at`, which selects elements of data by advanced indexing. */
function apply(facts: CallFacts): Lines {
  const { names, reduction, isFresh, hasRepeats, data } = facts;
  const { output, updates } = names;
  const copy = `${output} = ${names.data}.clone()`;
  if (reduction === "none") return hasRepeats ? OPEN : [copy, `${output}[at] = ${updates}`];
  const { dtype } = data;
  const isSum = reduction === "add" || reduction === "sub";
  if (dtype === "bool") return { no: "PyTorch cannot reduce booleans by index." };
  if (isSum && !isFresh) {
    const given = reduction === "sub" ? `-${updates}` : updates;
    return [copy, `${output}.index_put_(at, ${given}, accumulate=True)`];
  }
  if (dtype.startsWith("complex"))
    return { no: "PyTorch's scatter_reduce does not support complex numbers." };
  if (reduction === "sub")
    return { no: "PyTorch's scatter_reduce cannot subtract starting from the first update." };
  const self = isFresh ? ", include_self=False" : "";
  return [
    `flat = torch.arange(${names.data}.numel()).reshape(${names.data}.shape)[at].reshape(-1)`,
    `${output} = ${names.data}.reshape(-1).scatter_reduce(0, flat, ${updates}.reshape(-1), "${WORDS[reduction]}"${self})`,
    `${output} = ${output}.reshape(${names.data}.shape)`,
  ];
}

const PYTORCH: Library = {
  name: "PyTorch",
  home: "torch",
  imports: () => ["import torch"],
  // A literal of a tensor without elements has no shape.
  tensor: (input) =>
    input.shape.includes(0)
      ? `torch.zeros(${pythonShape(input.shape)}, dtype=torch.${input.dtype})`
      : `torch.tensor(${printPythonList(input, "torch")}, dtype=torch.${input.dtype})`,
  refusal: ({ inputs }) => {
    const lacking = inputs.find((input) => input && !KNOWN.has(input.dtype));
    return lacking ? `PyTorch does not support ${lacking.dtype} for this call.` : null;
  },
  remarks: (facts) => [
    ...(facts.call.refusal === null
      ? []
      : ["# PyTorch raises an IndexError for an index out of range."]),
    ...(isOpenOrder(facts)
      ? ["# PyTorch may combine updates in another order, so the last digits may differ."]
      : []),
  ],
  print: (output) => `print(${output})`,
  copy: (data) => `${data}.clone()`,
  whole: ({ names }) => `${names.indices}.long()`,
  columns: (indices) => `${indices}.unbind(-1)`,
  mesh: (shape) => `list(torch.meshgrid(*[torch.arange(n) for n in ${shape}], indexing="ij"))`,
  apply,
  emptyTuples: () => ({ no: "PyTorch does not support empty index tuples." }),
  gatherElements: (facts) => [
    ...wrapped(facts, PYTORCH),
    `${facts.names.output} = torch.gather(${facts.names.data}, ${facts.axis}, index)`,
  ],
  gatherSlices: (facts) => [
    `${facts.names.output} = ${facts.names.data}[${along(facts.axis, PYTORCH.whole(facts))}]`,
  ],
};
