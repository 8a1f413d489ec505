/**
 * What other systems do with indices, repeats and floats. A word of a fact is a change to the rule of a call, as a
 * hypothesis is; `compare-dialects.ts` makes the change. `docs/dialects.md` is the same table for people.
 */

import { DIAGNOSES, type DiagnosisId } from "./diagnosis.ts";

/** The version that was run or read, and the page of its document or source. */
const ABOUT = {
  onnx: "18 onnx.ai/onnx/operators",
  "onnxruntime-cpu": "1.30.0 $Omicrosoft/onnxruntime",
  "onnxruntime-webgpu": "2026 $Omicrosoft/onnxruntime",
  openvino: "2025 docs.openvino.ai",
  numpy: "2.4.6 numpy.org/doc/stable/user/basics.indexing.html",
  "torch-index-put": "2.13.0 $Tindex_put_.html",
  "torch-scatter": "2.13.0 $Tscatter_.html",
  "torch-scatter-reduce": "2.13.0 $Tscatter_reduce_.html",
  "tensorflow-cpu": "2.21.0 $F",
  "tensorflow-gpu": "2.21.0 $F",
  jax: "0.10.2 docs.jax.dev/en/latest/_autosummary/jax.numpy.ndarray.at.html",
  "tfjs-cpu": "4.22.0 $Otensorflow/tfjs",
  "tfjs-wasm": "4.22.0 $Otensorflow/tfjs",
  webnn: "2026 www.w3.org/TR/webnn",
  mlx: "0.32.2 $Oml-explore/mlx",
} as const;

const SHORT: Readonly<Record<string, string>> = {
  $O: "github.com/",
  $T: "docs.pytorch.org/docs/stable/generated/torch.Tensor.",
  $F: "tensorflow.org/api_docs/python/tf/tensor_scatter_nd_update",
};

export type DialectId = keyof typeof ABOUT;

/**
 * What a fact is about: negative indices; indices out of range of scatters, of gathers, and of gathers along an axis
 * where these differ; repeats without a reduction; the order of a reduction; NaN, and 0 with -0, in max and min; and
 * reductions of float16 and bfloat16.
 */
export type DialectAspect =
  | "negative"
  | "scatters"
  | "gathers"
  | "takes"
  | "repeats"
  | "sums"
  | "compares"
  | "halves";

const ASPECTS = "negative scatters gathers takes repeats sums compares halves".split(
  " ",
) as DialectAspect[];

const EVIDENCE = { r: "run", s: "source", d: "document", u: "not verified" } as const;

/** How a fact is known. `run`: seen here, in the version that the dialect names. */
export type DialectEvidence = (typeof EVIDENCE)[keyof typeof EVIDENCE];

/**
 * For each aspect how it is known, and what is done: the id of a diagnosis, or a word; after a `/` what operators do with
 * an index for each element, where that differs. What a dialect has follows: scatters by tuples (n), elements (e), slices
 * (s) and sequences (q), gathers (N, E, S), batch axes of gathers (2 of N, 3 of S), data left out of reductions (0),
 * nothing without a reduction (!), numbers and booleans alone (#); reductions; and data types, where these are few.
 */
const FACTS: Readonly<Record<DialectId, string>> = {
  onnx: "ddd-duuu wraps error error - any-order rounding unknown unknown neqNES2 add mul max min",
  "onnxruntime-cpu":
    "rrr-rrrr wraps error error - races/last races/in-order keeps-update none neNES2 add mul max min",
  "onnxruntime-webgpu":
    "sss-ssus unknown unknown unknown - any-order rounding unknown none neNES2 add mul max min",
  openvino:
    "dddddduu wraps error unknown zero any-order rounding unknown unknown nesNES230 add sub mul max min mean",
  numpy:
    "rrr-rrrr wraps error error - last in-order zero-keeps-update each-step nesNES# add sub mul max min",
  "torch-index-put": "rrr-dr-r wraps error error - any-order in-order - each-step nNS# add",
  "torch-scatter": "rrr-d--- outside error error - any-order - - - eE#",
  "torch-scatter-reduce":
    "rr---rrr outside error - - - in-order zero-keeps-data wide-accumulation e!0# add mul max min mean",
  "tensorflow-cpu":
    "rrr-rrrr outside error error - last in-order keeps-data each-step nNS23# add sub max min",
  "tensorflow-gpu":
    "sdd-dduu outside dropped zero - any-order rounding unknown unknown nNS23# add sub max min",
  jax: "rrr-ddrr wraps dropped clipped - any-order rounding exact each-step nesNES# add sub mul max min",
  "tfjs-cpu":
    "rrrrrr-- outside flat-offset flat-offset error last updates-first - - nNS3 add float32 int32 bool",
  "tfjs-wasm":
    "rrrrrr-- outside unchecked unchecked error last updates-first - - nNS3 add float32 int32 bool",
  webnn:
    "ddd-u--- wraps clipped clipped - any-order - - - neNES float32 float16 int32 uint32 int64 uint64 int8 uint8",
  mlx: "sdd-duuu wraps unknown unknown - any-order rounding unknown unknown nesNES# add sub mul max min",
};

export interface DialectFact {
  readonly aspect: DialectAspect;
  /** A few words. */
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

/** The diagnoses of words that are no ids, and of negative indices that are out of range, by what these do. */
const IDS: Readonly<Record<string, DiagnosisId>> = {
  dropped: "out-of-range-dropped",
  clipped: "out-of-range-clipped",
  unchecked: "flat-offset",
  zero: "out-of-range-filled",
  "races repeats": "any-order",
  "races sums": "lost-updates",
  "keeps-data": "nan-one-operand",
  "keeps-update": "nan-one-operand",
  "zero-keeps-data": "signed-zero",
  "zero-keeps-update": "signed-zero",
  "outside dropped": "negative-dropped",
  "outside clipped": "negative-clamped",
  "outside flat-offset": "flat-offset",
  "outside unchecked": "flat-offset",
};

/** A row of {@link FACTS}. */
export interface Row {
  readonly words: Readonly<Record<DialectAspect, string>>;
  readonly evidence: string;
  readonly has: string;
  readonly rest: readonly string[];
}

/** @param isElements whether the call has an index for each element */
export function rowOf(id: DialectId, isElements: boolean): Row {
  const [evidence, ...cells] = FACTS[id].split(" ");
  const words = Object.fromEntries(
    ASPECTS.map((aspect, p) => [aspect, cells[p].split("/").at(isElements ? -1 : 0)]),
  ) as Row["words"];
  const [has, ...rest] = cells.slice(ASPECTS.length);
  return { words, evidence, has, rest };
}

export function idOf({ words }: Row, aspect: DialectAspect): DiagnosisId | null {
  const word = words[aspect];
  const more = aspect === "negative" ? words.scatters : aspect;
  return word in DIAGNOSES ? (word as DiagnosisId) : (IDS[`${word} ${more}`] ?? IDS[word] ?? null);
}

export const DIALECT_IDS = Object.keys(ABOUT) as readonly DialectId[];

/** The table: what each dialect is known to do, how that is known, and where it is written. A new list for each call. */
export const dialects = (): readonly Dialect[] =>
  DIALECT_IDS.map((id) => {
    const row = rowOf(id, false);
    const [version, page] = ABOUT[id].replace(/\$./, (short) => SHORT[short]).split(" ");
    const facts = ASPECTS.flatMap((aspect, p) => {
      const how = EVIDENCE[row.evidence[p] as keyof typeof EVIDENCE];
      return how ? [{ aspect, does: row.words[aspect], id: idOf(row, aspect), how }] : [];
    });
    return { id, version, source: `https://${page}`, facts };
  });

/** The dialects that are known to do all that an id, or two joined by `+`, names. */
export const dialectsWith = (id: string): readonly DialectId[] =>
  dialects()
    .filter(({ facts }) =>
      id.split("+").every((part) =>
        facts.some(
          (fact) =>
            fact.how !== "not verified" &&
            // Comparisons that say nothing of NaN say nothing of the sign of 0.
            (fact.id === part || (part === "signed-zero" && fact.id === "nan-one-operand")),
        ),
      ),
    )
    .map((dialect) => dialect.id);
