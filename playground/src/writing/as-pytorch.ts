/** Exports a state as a PyTorch program. */

import type { DType, Tensor } from "ndscatter";
import { roleOf } from "ndscatter/operators";
import type { State } from "../values/state.ts";
import { printPythonList } from "./as-numpy.ts";
import {
  along,
  batchShape,
  factsOf,
  hasEmptyTuples,
  pythonShape,
  spreadOf,
  writesNothing,
  type CallFacts,
  type Form,
} from "./call-facts.ts";
import { oneLine, writableCall } from "./source-text.ts";

/** The program's lines, or the reason why PyTorch cannot express the call. */
type Lines = readonly string[] | { readonly no: string };

/** Returns Python code that prints the output, or only comments if PyTorch cannot express the call. */
export function asPyTorch(state: State): string {
  const call = writableCall(state, "#");
  if (typeof call === "string") return call;
  const facts = factsOf(call);
  const { version, inputs, refusal } = call;
  if (facts === null) return `# The page cannot write ${version.name} as PyTorch code.\n`;
  const lacking = inputs.find((input) => input && !KNOWN.has(input.dtype));
  if (lacking) return `# PyTorch does not support ${lacking.dtype} for this call.\n`;
  if (hasEmptyTuples(facts)) return "# PyTorch does not support empty index tuples.\n";
  const lines = writesNothing(facts)
    ? [`${facts.names.output} = ${facts.names.data}`]
    : BODIES[facts.form](facts);
  if ("no" in lines) return `# ${lines.no}\n`;
  const made = version.inputs.flatMap((schema, position) => {
    const input = inputs[position];
    // The axis is a literal number in the code.
    return input === undefined || roleOf(schema) === "axis"
      ? []
      : [`${schema.name} = ${tensorOf(input)}`];
  });
  return [
    "import torch",
    "",
    ...made,
    "",
    ...(refusal === null
      ? []
      : [
          `# ndscatter refuses this call: ${oneLine(refusal)}`,
          "# PyTorch raises an IndexError for an index out of range.",
        ]),
    ...(isOpenOrder(facts)
      ? ["# PyTorch may combine updates in another order, so the last digits may differ."]
      : []),
    ...lines,
    `print(${facts.names.output})`,
    "",
  ].join("\n");
}

/** A literal of a tensor without elements has no shape. */
const tensorOf = (input: Tensor): string =>
  input.shape.includes(0)
    ? `torch.zeros(${pythonShape(input.shape)}, dtype=torch.${input.dtype})`
    : `torch.tensor(${printPythonList(input, "torch.")}, dtype=torch.${input.dtype})`;

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

/** Joins lines. If a part is a reason instead of lines, the result is this reason. */
const after = (first: readonly string[], more: Lines): Lines =>
  "no" in more ? more : [...first, ...more];

const KNOWN: ReadonlySet<DType> = new Set([
  ...(["bool", "float16", "bfloat16", "float32", "float64", "complex64", "complex128"] as const),
  ...(["int8", "int16", "int32", "int64", "uint8"] as const),
]);

const meshOf = (shape: string): string =>
  `list(torch.meshgrid(*[torch.arange(n) for n in ${shape}], indexing="ij"))`;

const whole = ({ names }: CallFacts): string => `${names.indices}.long()`;

/** Converts negative indices to positive indices, because these functions do not accept negative indices. */
const wrapped = (facts: CallFacts, size: number): string[] => [
  `index = ${whole(facts)}`,
  `index = torch.where(index < 0, index + ${size}, index)`,
];

const tuples = (facts: CallFacts): string => `tuple(${whole(facts)}.unbind(-1))`;

/** Reduction names for `scatter_reduce`. */
const WORDS = { mul: "prod", max: "amax", min: "amin", mean: "mean" } as const;

/** Applies updates at `at`, which selects elements of data by advanced indexing. */
function combined(facts: CallFacts): Lines {
  const { names, reduction, isFresh, hasRepeats, data } = facts;
  const { output, updates } = names;
  if (reduction === "none") {
    if (hasRepeats) return OPEN;
    return [`${output} = ${names.data}.clone()`, `${output}[at] = ${updates}`];
  }
  const { dtype } = data;
  const isSum = reduction === "add" || reduction === "sub";
  if (dtype === "bool") return { no: "PyTorch cannot reduce booleans by index." };
  if (isSum && !isFresh) {
    const given = reduction === "sub" ? `-${updates}` : updates;
    return [
      `${output} = ${names.data}.clone()`,
      `${output}.index_put_(at, ${given}, accumulate=True)`,
    ];
  }
  if (dtype.startsWith("complex"))
    return { no: "PyTorch's scatter_reduce does not support complex numbers." };
  if (isSum && reduction === "sub")
    return { no: "PyTorch's scatter_reduce cannot subtract starting from the first update." };
  const word = isSum ? "sum" : WORDS[reduction as keyof typeof WORDS];
  const self = isFresh ? ", include_self=False" : "";
  return [
    `flat = torch.arange(${names.data}.numel()).reshape(${names.data}.shape)[at].reshape(-1)`,
    `${output} = ${names.data}.reshape(-1).scatter_reduce(0, flat, ${updates}.reshape(-1), "${word}"${self})`,
    `${output} = ${output}.reshape(${names.data}.shape)`,
  ];
}

const scatterTuples = (facts: CallFacts): Lines => {
  const { names, data, indices, updates } = facts;
  const isScalar = indices?.shape.length === 1 && indices.shape[0] === data.shape.length;
  const isRanked = isScalar && (updates?.shape.length ?? 0) > 0;
  return after(
    [
      ...(isRanked ? [`${names.updates} = ${names.updates}.reshape(())`] : []),
      `at = ${tuples(facts)}`,
    ],
    combined(facts),
  );
};

const scatterElements = (facts: CallFacts): Lines =>
  after(
    [
      `at = ${meshOf(`${facts.names.indices}.shape`)}`,
      `at[${facts.axis}] = ${whole(facts)}`,
      "at = tuple(at)",
    ],
    combined(facts),
  );

const scatterSlices = (facts: CallFacts): Lines =>
  facts.hasRepeats
    ? OPEN
    : [
        `${facts.names.output} = ${facts.names.data}.clone()`,
        `${facts.names.output}[${along(facts.axis, whole(facts))}] = ${facts.names.updates}`,
      ];

const scatterSequences = (facts: CallFacts): Lines => {
  const { names, axis, isRing, data } = facts;
  const begin = names.indices === null ? "" : `${whole(facts)}.reshape(${batchShape(facts)}) + `;
  return after(
    [
      `at = ${meshOf(`${names.updates}.shape`)}`,
      `at[${axis}] = ${isRing ? `(${begin}at[${axis}]) % ${data.shape[axis]}` : `${begin}at[${axis}]`}`,
      "at = tuple(at)",
    ],
    combined(facts),
  );
};

const gatherTuples = (facts: CallFacts): Lines => {
  const { names, batchDims: b, call } = facts;
  const { data, output } = names;
  if (b === 0) return [`${output} = ${data}[${tuples(facts)}]`];
  return [
    `batches = ${meshOf(`${names.indices}.shape[:-1]`)}[:${b}]`,
    `${output} = ${data}[(*batches, *${whole(facts)}.unbind(-1))]`,
    ...(call.version.fusesBatches === true
      ? [
          "# Version 5 merges the batch axes into one.",
          `${output} = ${output}.flatten(0, ${b - 1})`,
        ]
      : []),
  ];
};

const gatherElements = (facts: CallFacts): Lines => [
  ...wrapped(facts, facts.data.shape[facts.axis]),
  `${facts.names.output} = torch.gather(${facts.names.data}, ${facts.axis}, index)`,
];

const gatherSlices = (facts: CallFacts): Lines => [
  `${facts.names.output} = ${facts.names.data}[${along(facts.axis, whole(facts))}]`,
];

/** Exports OpenVINO's Gather with batches, which returns 0 for an index out of range. */
const gatherOrZero = (facts: CallFacts): Lines => {
  const { names, axis } = facts;
  const { output: shape, indices: spread, after: behind, size } = spreadOf(facts);
  if (size === 0 || shape.includes(0))
    return [`${names.output} = torch.zeros(${pythonShape(shape)}, dtype=${names.data}.dtype)`];
  return [
    ...wrapped(facts, size),
    `index = index.reshape(${pythonShape(spread)})`,
    `inside = (index >= 0) & (index < ${size})`,
    `grid = ${meshOf(pythonShape(shape))}`,
    `found = ${names.data}[(*grid[:${axis}], torch.where(inside, index, torch.zeros_like(index)), *grid[${behind}:])]`,
    "# An index out of range gives 0.",
    `${names.output} = torch.where(inside, found, torch.zeros_like(found))`,
  ];
};

const BODIES: Readonly<Record<Form, (facts: CallFacts) => Lines>> = {
  "scatter-tuples": scatterTuples,
  "scatter-elements": scatterElements,
  "scatter-slices": scatterSlices,
  "scatter-sequences": scatterSequences,
  "gather-tuples": gatherTuples,
  "gather-elements": gatherElements,
  "gather-slices": gatherSlices,
  "gather-or-zero": gatherOrZero,
};
