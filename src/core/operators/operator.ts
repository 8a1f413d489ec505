/**
 * Types that describe an operator: its versions as rows of data, and the functions that all its versions share, which
 * compute the output shape from input shapes and a Plan from indices. Operators never read or write elements of data
 * and updates; only engines do.
 */

import type { DType, Reduction, Stays } from "../tensor/dtype.ts";
import type { ErrorContext } from "../errors.ts";
import type { Bounds, IndexRules, ReadIndices } from "../plan/index-job.ts";
import type { Plan, Planner } from "../plan/plan.ts";
import type { Dim, PartialShape } from "../tensor/shape.ts";
import { Tensor } from "../tensor/tensor.ts";

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

/** Consecutive dimensions of a derived shape: the expression that describes them, and the known dimensions. */
export interface Term {
  /** Expression for the dimensions, such as `indices.shape[:-1]`. */
  readonly text: string;
  readonly shape: readonly Dim[];
}

/** A shape that follows from the input shapes, as a list of terms. */
export interface Derivation {
  /** Input that must have the derived shape, or `output`. */
  readonly of: Role | "output";
  readonly terms: readonly Term[];
  /** True if any tensor with one element is accepted when the derived shape is that of a scalar. */
  readonly orOneElement?: true;
}

/** Shapes with known ranks; null for updates that are not given. */
export interface RankedShapes {
  readonly data: readonly Dim[];
  readonly indices: readonly Dim[];
  readonly updates: PartialShape;
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

export interface Operator {
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
   * Derives shapes from the shapes of data and indices, ignoring any other shapes: the shape of updates if the operator
   * has updates, then the output shape.
   * @throws TensorError `rank`, `axis` or `shape-mismatch` if the shapes cannot be derived
   */
  derive(inputs: RankedShapes, call: OperatorCall): readonly Derivation[];
  /** Creates the planner for a call's indices. `inferShape` must have checked the shapes. */
  planner(shapes: PlanShapes, call: OperatorCall, rules: IndexRules): Planner;
  /** Maps the offsets of a Plan to positions, indices and axes. */
  layout(inputs: PlanInputs, call: OperatorCall): Layout;
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

/** Remaining fields of a version, given its domain and the fields C that it shares with other versions. */
type Rest<N extends Domain, C> = Partial<OperatorVersion> &
  Omit<OperatorVersion, keyof (typeof DOMAINS)[N] | keyof C>;

/**
 * Creates the versions of an operator, oldest first, from shared fields and one row per version. The rows are a
 * function, and callers mark this call and `operatorBy` as pure, so that a page that uses one function loads the rows
 * of only one operator.
 */
export const versionsOf = <N extends Domain, C extends Partial<OperatorVersion>>(
  domain: N,
  common: C,
  rows: () => readonly Rest<N, C>[],
): readonly OperatorVersion[] =>
  rows().map((row) => {
    const version: Partial<OperatorVersion> = { ...DOMAINS[domain], ...common, ...row };
    // No field is missing, because `Rest` requires every field that the domain and `common` do not have.
    return version as OperatorVersion;
  });

/** Creates an operator that addresses data in one of the shared ways (`addressing.ts`). */
export const operatorBy = (
  way: Pick<Operator, "planner" | "layout">,
  own: Omit<Operator, "planner" | "layout">,
): Operator => ({ ...way, ...own });
