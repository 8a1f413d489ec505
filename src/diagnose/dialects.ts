/**
 * What other systems do with indices, repeats and floats. A word of a fact is a change to the rule of a call, as a
 * hypothesis is; `compare-dialects.ts` makes the change. `docs/dialects.md` is the same table for people.
 */

import { DIAGNOSES, type DiagnosisId } from "./diagnosis.ts";

/**
 * What a fact is about: negative indices; indices out of range, of scatters and of gathers; repeats without a reduction;
 * the order of a reduction; NaN, and 0 with -0, in max and min; and reductions of float16 and bfloat16.
 */
export type DialectAspect =
  | "negative"
  | "scatters"
  | "gathers"
  | "repeats"
  | "sums"
  | "compares"
  | "halves";

const ASPECTS = "negative scatters gathers repeats sums compares halves".split(
  " ",
) as DialectAspect[];

const EVIDENCE = { r: "run", s: "source", d: "document", "-": "not verified" } as const;

/** How a fact is known. `run`: seen here, in the version that the dialect names. */
export type DialectEvidence = (typeof EVIDENCE)[keyof typeof EVIDENCE];

/**
 * Three lines for a dialect. First the version that was run or read, the page of its document or source, and how each
 * aspect is known. Then what it does in each: a word, or the ids of diagnoses and which operand it is that stays, and
 * after each `/` the same of the next of {@link FORMS} where it differs; `-` stands for what a dialect does not have. Then
 * what it has: scatters by tuples (n), elements (e), slices (s) and sequences (q), gathers (N, E, S), no text (#), races
 * only among more than 10,000 updates (>), and offsets outside the tensor (?); reductions; and data types, where few.
 */
const FACTS = {
  onnx: [
    "18 onnx.ai/onnx/operators/onnx__ScatterND.html ddddd--",
    "wraps error error any-order rounding unknown unknown",
    "neqNES none add mul max min",
  ],
  "onnxruntime-cpu": [
    "1.30.0 github.com/microsoft/onnxruntime/blob/main/onnxruntime/core/providers/cpu/tensor/scatter_nd.cc rrrrrrr",
    "wraps error error any-order/last lost-updates/in-order nan-one-operand+signed-zero:update none",
    "neNES> none add mul max min",
  ],
  "onnxruntime-webgpu": [
    "2026 github.com/microsoft/onnxruntime/blob/main/onnxruntime/core/providers/webgpu/tensor/scatter_nd.cc ---ss-s",
    "unknown unknown unknown any-order rounding unknown none",
    "neNES none add mul max min",
  ],
  openvino: [
    "2025 docs.openvino.ai/2025/documentation/openvino-ir-format/operation-sets/operation-specs/movement/scatter-nd-update-15.html ddddd--",
    "wraps error undefined//out-of-range-filled any-order rounding unknown unknown",
    "nesNES none add sub mul max min mean",
  ],
  numpy: [
    "2.4.6 numpy.org/doc/stable/user/basics.indexing.html rrrrrrr",
    "wraps error error last in-order signed-zero:update each-step",
    "nesNES# none add sub mul max min",
  ],
  "torch-index-put": [
    "2.13.0 docs.pytorch.org/docs/stable/generated/torch.Tensor.index_put_.html rrrdr-r",
    "wraps error error any-order in-order - each-step",
    "nNS# none add",
  ],
  "torch-scatter": [
    "2.13.0 docs.pytorch.org/docs/stable/generated/torch.Tensor.scatter_.html rrrd---",
    "error error error any-order - - -",
    "eE# none",
  ],
  "torch-scatter-reduce": [
    "2.13.0 docs.pytorch.org/docs/stable/generated/torch.Tensor.scatter_reduce_.html rr--rrr",
    "error error - - in-order signed-zero:data wide-accumulation",
    "e# add mul max min mean",
  ],
  "tensorflow-cpu": [
    "2.21.0 www.tensorflow.org/api_docs/python/tf/tensor_scatter_nd_update rrrrrrr",
    "error error error last in-order nan-one-operand+signed-zero:data each-step",
    "nNS# none add sub max min",
  ],
  "tensorflow-gpu": [
    "2.21.0 www.tensorflow.org/api_docs/python/tf/tensor_scatter_nd_update sdddd--",
    "negative-dropped out-of-range-dropped out-of-range-filled any-order rounding unknown unknown",
    "nNS# none add sub max min",
  ],
  jax: [
    "0.10.2 docs.jax.dev/en/latest/_autosummary/jax.numpy.ndarray.at.html rrrddrr",
    "wraps out-of-range-dropped out-of-range-clipped any-order rounding exact each-step",
    "nesNES# none add sub mul max min",
  ],
  "tfjs-cpu": [
    "4.22.0 github.com/tensorflow/tfjs/blob/master/tfjs-backend-cpu/src/kernels/Scatter_impl.ts rrrrr--",
    "flat-offset flat-offset flat-offset//error last updates-first - -",
    "nNS none add float32 int32 bool",
  ],
  "tfjs-wasm": [
    "4.22.0 github.com/tensorflow/tfjs/blob/master/tfjs-backend-wasm/src/cc/scatter_impl.cc rrrrr--",
    "flat-offset flat-offset flat-offset//error last updates-first - -",
    "nNS? none add float32 int32 bool",
  ],
  webnn: [
    "2026 www.w3.org/TR/webnn/#api-mlgraphbuilder-scatternd ddd----",
    "wraps out-of-range-clipped out-of-range-clipped unknown - - -",
    "neNES none float32 float16 int32 uint32 int64 uint64 int8 uint8",
  ],
  mlx: [
    "0.32.2 ml-explore.github.io/mlx/build/html/usage/indexing.html sddd---",
    "wraps undefined undefined any-order unknown unknown unknown",
    "nesNES# none add sub mul max min",
  ],
};

export type DialectId = keyof typeof FACTS;

export interface DialectFact {
  readonly aspect: DialectAspect;
  /** Where the fact is not the same for all operators: those whose indices are these. Null for all others. */
  readonly of: (typeof FORMS)[number] | null;
  /** A word; `docs/dialects.md` has more. */
  readonly does: string;
  /** What {@link diagnose} calls a result that shows it; null for what the specification says, and for errors. */
  readonly id: DiagnosisId | null;
  readonly how: DialectEvidence;
}

export interface Dialect {
  readonly id: DialectId;
  /** The version that was run or read. */
  readonly version: string;
  /** The address of its document, or of its source. `docs/dialects.md` has those of single facts. */
  readonly source: string;
  readonly facts: readonly DialectFact[];
}

/** What indices are: index tuples, one index for each element, or one for each slice along an axis. */
const FORMS = ["tuples", "elements", "slices"] as const;

/** A row of {@link FACTS}. */
export interface Row {
  readonly version: string;
  readonly page: string;
  readonly words: Readonly<Record<DialectAspect, string>>;
  readonly evidence: string;
  readonly has: string;
  readonly rest: readonly string[];
}

/** @param form of the call's indices, in {@link FORMS} */
export function rowOf(id: DialectId, form: number): Row {
  const [[version, page, evidence], cells, [has, ...rest]] = FACTS[id].map((one) => one.split(" "));
  const words = Object.fromEntries(
    ASPECTS.map((aspect, p) => {
      const forms = cells[p].split("/");
      return [aspect, forms[form] || forms[0]];
    }),
  ) as Row["words"];
  return { version, page, words, evidence, has, rest };
}

/** What a result that shows a word is called. */
export function idOf(word: string): DiagnosisId | null {
  const [id] = word.split(/[+:]/);
  return DIAGNOSES.includes(id as DiagnosisId) ? (id as DiagnosisId) : null;
}

export const DIALECT_IDS = Object.keys(FACTS) as readonly DialectId[];

/** The table: what each dialect is known to do, how that is known, and where it is written. A new list for each call. */
export const dialects = (): readonly Dialect[] =>
  DIALECT_IDS.map((id) => {
    const { version, page } = rowOf(id, 0);
    const facts = ASPECTS.flatMap((aspect, p) =>
      FORMS.flatMap((of, form) => {
        const row = rowOf(id, form);
        const does = row.words[aspect];
        const how = EVIDENCE[row.evidence[p] as keyof typeof EVIDENCE];
        return does !== "-" && (form === 0 || does !== rowOf(id, 0).words[aspect])
          ? [{ aspect, of: form ? of : null, does, id: idOf(does), how }]
          : [];
      }),
    );
    return { id, version, source: `https://${page}`, facts };
  });

/** The dialects that are known to do all that an id, or two joined by `+`, names. */
export const dialectsWith = (id: string): readonly DialectId[] =>
  DIALECT_IDS.filter((dialect) => id.split("+").every((part) => FACTS[dialect][1].includes(part)));
