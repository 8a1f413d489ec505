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

export type Domain = "ai.onnx" | "openvino";

/** The newest opset of each domain that this package knows. Versions of operators from later opsets are refused. */
export const NEWEST_OPSETS: Readonly<Record<Domain, number>> = Object.freeze({
  "ai.onnx": 28,
  openvino: 16,
});

/** The data type of a tensor, and its shape as far as it is known. */
export interface TensorType {
  readonly dtype: DType;
  readonly shape: PartialShape;
}

/** An attribute of a version. */
export interface AttributeSchema {
  /** As the version's document spells it, such as `batch_dims`. */
  readonly name: string;
  readonly type: "int" | "string" | "boolean";
  /** Absent for a required attribute. */
  readonly default?: number | string | boolean;
  /** The accepted words, for a string attribute that takes one of a list. */
  readonly values?: readonly string[];
  /** The least accepted integer, where there is one that does not depend on shapes. */
  readonly minimum?: number;
  /** The setting that the attribute sets, where the two names differ by more than camel case. */
  readonly setting?: keyof Settings;
  readonly description: string;
}

/** What an input is for. */
export type Role = "data" | "indices" | "updates" | "axis";

/** An input or output of a version. */
export interface ParameterSchema {
  readonly name: string;
  /** Present only where the name is not the role. */
  readonly role?: Role;
  /** Whether a call may leave the input out. */
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
 * What the indices of an operator are: index tuples, which the last axis of indices holds; one index for each element;
 * one index for each slice along an axis; or the position of each sequence in a cache.
 */
export type IndexForm = "tuples" | "elements" | "slices" | "sequences";

/** One version of an operator, as its specification describes it. */
export interface OperatorVersion {
  readonly name: string;
  readonly domain: Domain;
  readonly sinceVersion: number;
  /** OpenVINO only: the opset that introduced the version, where it is not `sinceVersion`. */
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
  /** Whether -1 means the last place of an axis. */
  readonly negativeIndices: boolean;
  /** What happens to an index outside its axis; by default it is an error. */
  readonly outOfRange?: Bounds;
  /** The name of the operator that replaces a deprecated version. Deprecated versions still run. */
  readonly deprecated?: string;
  /** Whether the batch axes of the output are fused into one axis, whose size is their product. */
  readonly fusesBatches?: true;
}

/** What an input of a version is for. */
export const roleOf = ({ name, role }: ParameterSchema): Role => role ?? (name as Role);

/** One value for each input of a version, in order; undefined for an input that is left out. */
export type Inputs<T> = readonly (T | undefined)[];

/**
 * The attributes of a call under the package's own names, with defaults for those that its version does not have. One record
 * serves all operators: types of their own would buy nothing, because `settingsOf` has refused all other attributes.
 */
export interface Settings {
  /** Null while the axis is an input whose value is not known. */
  readonly axis: number | null;
  readonly batchDims: number;
  readonly reduction: Reduction;
  /** Whether a reduction begins with the value of data (true) or with the first update of a target. */
  readonly includeSelf: boolean;
  readonly mode: "linear" | "circular";
}

/** One call of one version, with everything decided but the tensors. */
export interface OperatorCall {
  readonly version: OperatorVersion;
  readonly settings: Settings;
  /** Every error of the call has these fields: the operator, and the version unless the function is a plain one. */
  readonly fields: ErrorFields;
}

/** The shapes of a call's inputs as far as they are known; null for an input that is left out or does not exist. */
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
  /** Whether any tensor of one element is accepted where the derived shape is a scalar's. */
  readonly orOneElement?: true;
}

/** Shapes whose ranks are known; null for updates that are not given. */
export interface RankedShapes {
  readonly data: readonly Dim[];
  readonly indices: readonly Dim[];
  readonly updates: PartialShape;
}

/** What a Plan is made of: the indices, and shapes that have been checked. */
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

/** Where the offsets of a Plan come from in indices, and where they lead in data. */
export interface Layout {
  /** The leading shape of updates or of the output. It has one position for each offset, in the order of the Plan. */
  readonly positions: readonly number[];
  /** The coordinates in indices of the index, or of the index tuple, that a position's offset is made from. */
  indexAt(position: readonly number[]): readonly number[];
  /** How many leading axes of data an offset addresses; the remaining axes are the slice. */
  readonly addressed: number;
  /** The addressed axes that indices stand for, in the order of a tuple. */
  readonly axes: readonly number[];
}

export interface Operator {
  readonly kind: "scatter" | "gather";
  /** Oldest first. All have one name and one domain. */
  readonly versions: readonly OperatorVersion[];
  /** Whether the operator has versions before `versions[0]`, which this package does not know. */
  readonly hasOlder?: true;
  /** The newest version without its limits, for the plain function; absent where there is no plain function. */
  readonly plain?: OperatorVersion;
  /** The indices of a call that leaves them out, from the shape of data. */
  readonly defaultIndices?: (data: readonly number[]) => Tensor;
  /**
   * The shape of the output, from what is known of the inputs' shapes.
   * @throws TensorError `rank`, `axis` or `shape-mismatch`, checked in this order, for what is certainly wrong
   */
  inferShape(inputs: InputShapes, call: OperatorCall): PartialShape;
  /**
   * The shapes that follow from data and indices, whatever shapes were given: that of updates where there are updates,
   * and last that of the output.
   * @throws TensorError `rank`, `axis` or `shape-mismatch` where nothing follows
   */
  derive(inputs: RankedShapes, call: OperatorCall): readonly Derivation[];
  /** What makes the Plans of a call's indices. Shapes must have been checked by {@link inferShape}. */
  planner(shapes: PlanShapes, call: OperatorCall, rules: IndexRules): Planner;
  /** How the offsets of a Plan belong to positions, indices and axes. */
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

/** What all versions of a domain have in common; `negativeIndices` is overridden where it is not so. */
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

/** What is left to say of a version when its domain and what it shares with others, of the type C, are known. */
type Rest<N extends Domain, C> = Partial<OperatorVersion> &
  Omit<OperatorVersion, keyof (typeof DOMAINS)[N] | keyof C>;

/**
 * The versions of an operator, oldest first: what they share, and a row for each. The rows are a function, and this call
 * and the operator's are marked as pure, so that a page that calls one function loads the rows of one operator.
 */
export const versionsOf = <N extends Domain, C extends Partial<OperatorVersion>>(
  domain: N,
  common: C,
  rows: () => readonly Rest<N, C>[],
): readonly OperatorVersion[] =>
  rows().map((row) => {
    const version: Partial<OperatorVersion> = { ...DOMAINS[domain], ...common, ...row };
    // `Rest` requires of a row what the domain and `common` leave out, so nothing is missing.
    return version as OperatorVersion;
  });

/** An operator that addresses data in a way that others share (`addressing.ts`). */
export const operatorBy = (
  way: Pick<Operator, "planner" | "layout">,
  own: Omit<Operator, "planner" | "layout">,
): Operator => ({ ...way, ...own });
