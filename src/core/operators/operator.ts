/**
 * The types of an operator: its versions as rows of data, and the functions that all its versions share, from shapes to
 * a shape and from indices to a Plan. No operator reads or writes an element of data or updates; engines do.
 */

import type { DType, Reduction } from "../tensor/dtype.ts";
import type { ErrorFields } from "../errors.ts";
import type { Bounds, IndexRules, ReadIndices } from "../plan/index-job.ts";
import type { Plan, Planner } from "../plan/plan.ts";
import type { Dim, PartialShape } from "../tensor/shape.ts";
import { Tensor } from "../tensor/tensor.ts";

/** The domain of an operator: `ai.onnx` for ONNX, `openvino` for OpenVINO. */
export type Domain = "ai.onnx" | "openvino";

/**
 * The newest opset of each domain that this package knows. Versions of operators from later opsets are refused.
 *
 * @example
 * ```ts
 * NEWEST_OPSETS.openvino; // 16
 * ```
 */
export const NEWEST_OPSETS: Readonly<Record<Domain, number>> = Object.freeze({
  "ai.onnx": 28,
  openvino: 16,
});

/** The data type of a tensor, and the known part of its shape. */
export interface TensorType {
  readonly dtype: DType;
  readonly shape: PartialShape;
}

/** An attribute of a version. */
export interface AttributeSchema {
  /** Spelled as in the version's document, such as `batch_dims`. */
  readonly name: string;
  readonly type: "int" | "string" | "boolean";
  /** Absent for a required attribute. */
  readonly default?: number | string | boolean;
  /** The accepted values of a string attribute with a fixed list. */
  readonly values?: readonly string[];
  /** The least accepted integer, if one exists that does not depend on shapes. */
  readonly minimum?: number;
  /** The setting that the attribute sets, where the two names differ by more than camel case. */
  readonly setting?: keyof Settings;
  readonly description: string;
}

/** The role of an input. */
export type Role = "data" | "indices" | "updates" | "axis";

/** An input or output of a version. */
export interface ParameterSchema {
  readonly name: string;
  /** Present only if the name differs from the role. */
  readonly role?: Role;
  /** True if a call may leave the input out. */
  readonly optional?: true;
  /** The name of a type constraint, or a data type. */
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
 * The form of an operator's indices: index tuples in the last axis of indices; one index for each element; one index
 * for each slice along an axis; or the position of each sequence in a cache.
 */
export type IndexForm = "tuples" | "elements" | "slices" | "sequences";

/** One version of an operator, as its specification describes it. */
export interface OperatorVersion {
  readonly name: string;
  readonly domain: Domain;
  readonly sinceVersion: number;
  /** OpenVINO only: the opset that introduced the version, if it differs from `sinceVersion`. */
  readonly opset?: number;
  readonly function: false;
  readonly supportLevel: "COMMON";
  readonly shapeInference: true;
  readonly summary: string;
  /** The same in all versions of an operator. Sequences have rules of their own: no policy of the plain functions applies. */
  readonly indexForm: IndexForm;
  readonly attributes: readonly AttributeSchema[];
  readonly inputs: readonly ParameterSchema[];
  readonly outputs: readonly ParameterSchema[];
  readonly typeConstraints: readonly TypeConstraint[];
  /** True if -1 means the last position of an axis. */
  readonly negativeIndices: boolean;
  /** Treatment of an index outside its axis; by default an error. */
  readonly outOfRange?: Bounds;
  /** The name of the operator that replaces a deprecated version. Deprecated versions still run. */
  readonly deprecated?: string;
  /** True if the batch axes of the output are fused into one axis, whose size is their product. */
  readonly fusesBatches?: true;
}

/** The role of a version's input. */
export const roleOf = ({ name, role }: ParameterSchema): Role => role ?? (name as Role);

/** Values of the inputs of a version, in order; undefined for an input that is left out. */
export type Inputs<T> = readonly (T | undefined)[];

/**
 * The attributes of a call under the package's own names, with defaults for those that its version does not have. One
 * record serves all operators: separate types would gain nothing, because `settingsOf` has refused all other
 * attributes.
 */
export interface Settings {
  /** Null while the axis is an input whose value is not known. */
  readonly axis: number | null;
  readonly batchDims: number;
  readonly reduction: Reduction;
  /** True if a reduction begins with the value of data, false if with the first update of a target. */
  readonly includeSelf: boolean;
  readonly mode: "linear" | "circular";
}

/** A call of a version, with everything decided except the tensors. */
export interface OperatorCall {
  readonly version: OperatorVersion;
  readonly settings: Settings;
  /** Every error of the call has these fields: the operator, and the version unless the function is a plain one. */
  readonly fields: ErrorFields;
}

/** The known parts of the shapes of a call's inputs; null for an input that is left out or does not exist. */
export interface InputShapes {
  readonly data: PartialShape;
  readonly indices: PartialShape;
  readonly updates: PartialShape;
}

/** A run of dimensions within a derived shape: the expression that gives them, and the dimensions that are known. */
export interface Term {
  /** Such as `indices.shape[:-1]`. */
  readonly text: string;
  readonly shape: readonly Dim[];
}

/** A shape that follows from the shapes of the inputs: its terms, one after the other. */
export interface Derivation {
  /** The input that must have the shape, or the output, which has it. */
  readonly of: Role | "output";
  readonly terms: readonly Term[];
  /** True if any tensor of one element is accepted when the derived shape is a scalar's. */
  readonly orOneElement?: true;
}

/** Shapes whose ranks are known; null for updates that are not given. */
export interface RankedShapes {
  readonly data: readonly Dim[];
  readonly indices: readonly Dim[];
  readonly updates: PartialShape;
}

/** The inputs of a Plan: the indices, and checked shapes. */
export interface PlanInputs {
  /** The shape of data. */
  readonly data: readonly number[];
  readonly indices: Tensor;
  /** The shape of updates; scatters only. */
  readonly updates?: readonly number[] | undefined;
}

/** The shapes of {@link PlanInputs}. */
export interface PlanShapes {
  readonly data: readonly number[];
  readonly indices: readonly number[];
  readonly updates?: readonly number[] | undefined;
}

/** Relates the offsets of a Plan to indices and to data. */
export interface Layout {
  /** The leading shape of updates or of the output. Each offset has one position, in the order of the Plan. */
  readonly positions: readonly number[];
  /** The coordinates in indices of the index, or of the index tuple, that a position's offset is made from. */
  indexAt(position: readonly number[]): readonly number[];
  /** Number of leading axes of data that an offset addresses; the remaining axes are the slice. */
  readonly addressed: number;
  /** The addressed axes that indices stand for, in the order of a tuple. */
  readonly axes: readonly number[];
}

export interface Operator {
  readonly kind: "scatter" | "gather";
  /** Oldest first. All have one name and one domain. */
  readonly versions: readonly OperatorVersion[];
  /** True if the operator has versions before `versions[0]`, which this package does not know. */
  readonly hasOlder?: true;
  /** The newest version without its limits, for the plain function; absent if the operator has none. */
  readonly plain?: OperatorVersion;
  /** The indices of a call that leaves them out, from the shape of data. */
  readonly defaultIndices?: (data: readonly number[]) => Tensor;
  /**
   * The shape of the output, from the known parts of the inputs' shapes.
   * @throws TensorError `rank`, `axis` or `shape-mismatch`, checked in this order, for certain contradictions
   */
  inferShape(inputs: InputShapes, call: OperatorCall): PartialShape;
  /**
   * The shapes that follow from data and indices, whatever shapes were given: the shape of updates if the operator has
   * updates, then the shape of the output.
   * @throws TensorError `rank`, `axis` or `shape-mismatch` if no shape follows
   */
  derive(inputs: RankedShapes, call: OperatorCall): readonly Derivation[];
  /** Creates the planner of a call's indices. Shapes must have been checked by {@link inferShape}. */
  planner(shapes: PlanShapes, call: OperatorCall, rules: IndexRules): Planner;
  /** Maps the offsets of a Plan to positions, indices and axes. */
  layout(inputs: PlanInputs, call: OperatorCall): Layout;
}

/**
 * The Plan of one call's indices, for callers that do not keep its planner.
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

/** The fields that all versions of a domain share; versions that differ override `negativeIndices`. */
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

/** The remaining fields of a version, given its domain and the fields C that it shares with others. */
type Rest<N extends Domain, C> = Partial<OperatorVersion> &
  Omit<OperatorVersion, keyof (typeof DOMAINS)[N] | keyof C>;

/**
 * The versions of an operator, oldest first: shared fields, and a row for each. The rows are a function, and this call
 * and the operator's are marked as pure, so that a page that calls one function loads the rows of one operator.
 */
export const versionsOf = <N extends Domain, C extends Partial<OperatorVersion>>(
  domain: N,
  common: C,
  rows: () => readonly Rest<N, C>[],
): readonly OperatorVersion[] =>
  rows().map((row) => {
    const version: Partial<OperatorVersion> = { ...DOMAINS[domain], ...common, ...row };
    // `Rest` requires of a row what the domain and `common` leave out, so no field is missing.
    return version as OperatorVersion;
  });

/** An operator that addresses data in one of the shared ways (`addressing.ts`). */
export const operatorBy = (
  way: Pick<Operator, "planner" | "layout">,
  own: Omit<Operator, "planner" | "layout">,
): Operator => ({ ...way, ...own });
