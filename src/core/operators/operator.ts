/**
 * Types that describe an operator: its versions as rows of data, and its family, which defines how indices address
 * data. A family (`tuples.ts`, `elements.ts`, `slices.ts`, `sequences.ts`) computes shapes from input shapes, and a
 * Plan from indices. Operators never read or write elements of data and updates; only engines do.
 */

import type { DType, Reduction, Stays } from "../tensor/dtype.ts";
import type { ErrorContext } from "../errors.ts";
import type { Addressed, Bounds, IndexRules, Planner, ReadIndices } from "../plan/indices.ts";
import type { Plan } from "../plan/plan.ts";
import type { Dim, PartialShape } from "../tensor/shape.ts";
import { Tensor } from "../tensor/tensor.ts";
import { checkEqual, joinTerms, wholeShape, type Term } from "./shapes.ts";

/** Domain of an operator: `ai.onnx` for ONNX, `openvino` for OpenVINO. */
export type Domain = "ai.onnx" | "openvino";

/**
 * Newest opset of each domain that this package knows. Operators that a later opset introduces or changes are refused.
 * Opset 29 of ai.onnx comes from ONNX's nightly build of 2026-10-26, so the release may change more operators.
 *
 * @example
 * ```ts
 * NEWEST_OPSETS.openvino; // 16
 * ```
 */
export const NEWEST_OPSETS: Readonly<Record<Domain, number>> = Object.freeze({
  "ai.onnx": 29,
  openvino: 16,
});

/** Data type of a tensor, and the known part of its shape. */
export interface TensorType {
  readonly dtype: DType;
  readonly shape: PartialShape;
}

/** An attribute of an operator version. */
export interface AttributeSchema {
  /** Name of the attribute, spelled as in the version's specification, such as `batch_dims`. */
  readonly name: string;
  readonly type: "int" | "string" | "boolean";
  /** Default value; absent for a required attribute. */
  readonly default?: number | string | boolean;
  /** Accepted values of a string attribute; absent if any string is accepted. */
  readonly values?: readonly string[];
  /**
   * Minimum value of an integer attribute; absent if the attribute has no minimum, or a minimum that depends on shapes.
   */
  readonly minimum?: number;
  /** Name of the setting for this attribute; absent if it is the attribute's name in camel case. */
  readonly setting?: keyof Settings;
  readonly description: string;
}

/** Role of an input. */
export type Role = "data" | "indices" | "updates" | "axis";

/** An input or output of an operator version. */
export interface ParameterSchema {
  readonly name: string;
  /** Role of an input; absent if the role equals the name. */
  readonly role?: Role;
  /** True if a call may omit the input. */
  readonly optional?: true;
  /** Name of a type constraint, or a data type. */
  readonly type: string;
  readonly description: string;
}

/** A named set of data types. All parameters with the same constraint have the same data type. */
export interface TypeConstraint {
  readonly name: string;
  readonly types: readonly DType[];
  readonly description: string;
}

/**
 * Form of an operator's indices: index tuples in the last axis of indices; one index for each element; one index for
 * each slice along an axis; or the start position of each sequence in a cache.
 */
export type IndexForm = "tuples" | "elements" | "slices" | "sequences";

/** One version of an operator, as its specification describes it. */
export interface OperatorVersion {
  readonly name: string;
  readonly domain: Domain;
  readonly sinceVersion: number;
  /** Opset that introduced an OpenVINO version; absent if it equals `sinceVersion`. */
  readonly opset?: number;
  readonly function: false;
  readonly supportLevel: "COMMON";
  readonly shapeInference: true;
  readonly summary: string;
  /**
   * Form of the indices, which is the same in all versions of an operator. Policies of the plain functions do not apply
   * to sequences, which have their own rules.
   */
  readonly indexForm: IndexForm;
  readonly attributes: readonly AttributeSchema[];
  readonly inputs: readonly ParameterSchema[];
  readonly outputs: readonly ParameterSchema[];
  readonly typeConstraints: readonly TypeConstraint[];
  /** True if -1 means the last position of an axis. */
  readonly negativeIndices: boolean;
  /** Treatment of an index outside its axis; an error by default. */
  readonly outOfRange?: Bounds;
  /**
   * Operand of a float max or min that stays unless the other is greater or less; absent for IEEE 754's maximum and
   * minimum, which return NaN if either operand is NaN, and order -0 below 0.
   */
  readonly stays?: Stays;
  /**
   * True if the specification promises indices from 0 to s - 1, and only the reference implementation defines other
   * indices. Conversions to such a version rely on the promise; conversions from it need not treat other indices.
   */
  readonly promisesRange?: true;
  /** Name of the operator that replaces a deprecated version. A deprecated version still runs. */
  readonly deprecated?: string;
  /** True if the batch axes of the output are fused into one axis, whose size is their product. */
  readonly fusesBatches?: true;
  /**
   * True if indices must have the sizes of data on all axes except the addressed axis; otherwise indices may be smaller
   * there.
   */
  readonly needsEqualAxes?: true;
}

/** Returns the role of a version's input. */
export const roleOf = ({ name, role }: ParameterSchema): Role => role ?? (name as Role);

/** Values of a version's inputs, in order; undefined for omitted inputs. */
export type Inputs<T> = readonly (T | undefined)[];

/**
 * The attributes of a call, under the package's own names, with defaults for attributes that the version does not have.
 * All operators use the same record, because `settingsOf` has already refused attributes that the version does not
 * have.
 */
export interface Settings {
  /** Axis that the indices address; null if the axis is an input whose value is not known yet. */
  readonly axis: number | null;
  readonly batchDims: number;
  readonly reduction: Reduction;
  /** Start of a reduction: with the value in data if true, with the first update of each target if false. */
  readonly includeSelf: boolean;
  /** The version's rule for a float max or min; see `OperatorVersion.stays`. */
  readonly stays?: Stays | undefined;
  readonly mode: "linear" | "circular";
}

/** A call of an operator version, complete except for its tensors. */
export interface OperatorCall {
  readonly version: OperatorVersion;
  readonly settings: Settings;
  /** Fields that every error in the call has: the operator, and the version unless a plain function is called. */
  readonly fields: ErrorContext;
}

/** Known parts of a call's input shapes; null for an input that is omitted or does not exist. */
export interface InputShapes {
  readonly data: PartialShape;
  readonly indices: PartialShape;
  readonly updates: PartialShape;
}

/** A shape that follows from the input shapes, as a list of terms. */
export interface Derivation {
  /** Input that must have the derived shape, or `output`. */
  readonly of: Role | "output";
  readonly terms: readonly Term[];
  /** True if any tensor with one element is accepted when the derived shape is that of a scalar. */
  readonly orOneElement?: boolean;
}

/** Inputs of a Plan: the indices, and the checked shapes of data and updates. */
export interface PlanInputs {
  /** Shape of data. */
  readonly data: readonly number[];
  readonly indices: Tensor;
  /** Shape of updates; only for scatters. */
  readonly updates?: readonly number[] | undefined;
}

/** Shapes of the `PlanInputs`. */
export interface PlanShapes {
  readonly data: readonly number[];
  readonly indices: readonly number[];
  readonly updates?: readonly number[] | undefined;
}

/** Relates the offsets of a Plan to indices and to data. */
export interface Layout {
  /**
   * Leading dimensions of updates or of the output, which number the offsets: each offset has one position, in the
   * order of the Plan.
   */
  readonly positions: readonly number[];
  /** Returns the coordinates, in indices, of the index or index tuple that determines the offset at a position. */
  indexAt(position: readonly number[]): readonly number[];
  /** Number of leading axes of data that an offset addresses; the remaining axes are the slice. */
  readonly addressed: number;
  /** Addressed axes that have an index, in the order of an index tuple. */
  readonly axes: readonly number[];
}

/** Functions that operators with the same form of indices share. */
export interface Family {
  /** Domain whose scatters accept any tensor with one element instead of a scalar as updates. */
  readonly orOneElement?: Domain;
  /**
   * Derives the shape of a scatter's updates or of a gather's output from the known parts of the input shapes, and
   * checks all shapes except that of updates. Returns null if not even the rank follows.
   * @throws TensorError `rank`, `axis` or `shape-mismatch`, checked in this order, if no values of the unknown
   *   dimensions could be valid
   */
  termsOf(inputs: InputShapes, call: OperatorCall): readonly Term[] | null;
  /**
   * Checks the shape of updates against the derived terms; equal shapes are required if absent.
   * @throws TensorError `shape-mismatch`
   */
  checkUpdates?(
    updates: readonly Dim[],
    terms: readonly Term[] | null,
    inputs: InputShapes,
    call: OperatorCall,
  ): void;
  /** Creates the planner for a call's indices. `inferShape` must have checked the shapes. */
  planner(shapes: PlanShapes, call: OperatorCall, rules: IndexRules): Planner;
  /** Maps the offsets of a Plan to positions, indices and axes. */
  layout(inputs: PlanInputs, call: OperatorCall): Layout;
}

export interface Operator extends Pick<Family, "planner" | "layout"> {
  readonly kind: "scatter" | "gather";
  /** Versions of the operator, oldest first. All versions have the same name and domain. */
  readonly versions: readonly OperatorVersion[];
  /** Newest version without its restrictions, for the plain function; absent if the operator has no plain function. */
  readonly plain?: OperatorVersion;
  /** Creates the indices for a call that omits them, given the shape of data. */
  readonly defaultIndices?: (data: readonly number[]) => Tensor;
  /**
   * Infers the output shape from the known parts of the input shapes.
   * @throws TensorError `rank`, `axis` or `shape-mismatch`, checked in this order, if no values of the unknown
   *   dimensions could be valid
   */
  inferShape(inputs: InputShapes, call: OperatorCall): PartialShape;
  /**
   * Derives the shape of updates if the operator has updates, then the output shape. `inferShape` makes the same
   * checks, and also checks updates.
   */
  derive(inputs: InputShapes, call: OperatorCall): readonly Derivation[];
}

/**
 * Creates the Plan for one call's indices, for callers that do not keep the planner.
 * @throws TensorError `index-out-of-range`
 */
export function planIndices(
  { data, indices, updates }: PlanInputs,
  call: OperatorCall & { readonly operator: Operator },
  rules: IndexRules,
  read: ReadIndices,
): Plan {
  const shapes = { data, indices: Tensor.dimsOf(indices), updates };
  return call.operator.planner(shapes, call, rules)(indices, read);
}

/** Returns the layout of index tuples; an index of a slice along an axis is a tuple of one index. */
export const tupleLayout = (
  data: readonly number[],
  { lead, batchDims, first, k }: Addressed,
): Layout => ({
  positions: [...data.slice(0, first), ...lead.slice(batchDims)],
  indexAt: (position) => [...position.slice(0, batchDims), ...position.slice(first)],
  addressed: first + k,
  axes: Array.from({ length: k }, (_, j) => first + j),
});

/** Fields that all versions in a domain share; some versions override `negativeIndices`. */
const DOMAINS = {
  "ai.onnx": {
    domain: "ai.onnx",
    negativeIndices: true,
    function: false,
    supportLevel: "COMMON",
    shapeInference: true,
  },
  openvino: { domain: "openvino", function: false, supportLevel: "COMMON", shapeInference: true },
} as const;

/** A row for a version: the fields that its domain does not determine. */
export type Row<N extends Domain> = Partial<OperatorVersion> &
  Omit<OperatorVersion, keyof (typeof DOMAINS)[N]>;

/**
 * Creates the versions of an operator from one row per version, oldest first. The rows are a function, and callers mark
 * this call and `operatorOf` as pure, so that a page that uses one function loads the rows of only one operator. The
 * summary of a version with a reduction says so.
 */
export const versionsOf = <N extends Domain>(
  domain: N,
  rows: () => readonly Row<N>[],
): readonly OperatorVersion[] =>
  rows().map((row) => {
    const fields: Partial<OperatorVersion> = { ...DOMAINS[domain], ...row };
    // No field is missing, because `Row` requires every field that the domain does not have.
    const version = fields as OperatorVersion;
    const words = version.attributes.find(({ name }) => name === "reduction")?.values;
    if (words === undefined) return version;
    const mean = words.includes("mean")
      ? "; a mean of integers is rounded toward minus infinity"
      : "";
    const combined = `With a reduction, updates are combined with their targets${mean}.`;
    return { ...version, summary: `${version.summary} ${combined}` };
  });

/** Creates an operator of a family from its versions. */
export function operatorOf(
  family: Family,
  versions: readonly OperatorVersion[],
  plain?: OperatorVersion,
): Operator {
  const { termsOf, checkUpdates, planner, layout } = family;
  const isScatter = versions[0].inputs.some((input) => roleOf(input) === "updates");
  return {
    kind: isScatter ? "scatter" : "gather",
    versions,
    ...(plain && { plain }),
    inferShape(inputs, call) {
      const terms = termsOf(inputs, call);
      if (!isScatter) return terms && joinTerms(terms);
      const { data, updates } = inputs;
      if (updates === null) return data;
      if (checkUpdates !== undefined) checkUpdates(updates, terms, inputs, call);
      else if (terms !== null) checkEqual(updates, terms, call.fields);
      return data;
    },
    derive(inputs, call) {
      const terms = termsOf(inputs, call) ?? [];
      if (!isScatter) return [{ of: "output", terms }];
      const orOneElement = call.version.domain === family.orOneElement;
      return [{ of: "updates", terms, orOneElement }, outputLikeData(inputs.data)];
    },
    planner,
    layout,
  };
}

/** Derives the output shape of a scatter, which is the shape of data. */
export const outputLikeData = (data: PartialShape, name = "data"): Derivation => ({
  of: "output",
  terms: data === null ? [] : [wholeShape(name, data)],
});
