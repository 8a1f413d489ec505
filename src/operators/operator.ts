/**
 * What an operator is: its versions as rows of data, and two functions that every version shares, one from shapes to
 * a shape and one from indices to a Plan. No operator ever touches an element of data or updates.
 */

import type { DType, Reduction } from "../tensor/dtype.ts";
import type { ErrorFields } from "../errors.ts";
import type { Bounds, IndexRules } from "../plan/index-job.ts";
import type { Plan } from "../plan/plan.ts";
import type { Dim, PartialShape } from "../tensor/shape.ts";
import type { Tensor } from "../tensor/tensor.ts";

export type Domain = "ai.onnx" | "openvino";

/** The data type of a tensor and as much of its shape as is known. */
export interface TensorType {
  readonly dtype: DType;
  readonly shape: PartialShape;
}

/** An attribute of a version. */
export interface AttributeSchema {
  readonly name: string;
  readonly type: "int" | "string" | "boolean";
  /** Absent where the attribute has to be given. */
  readonly default?: number | string | boolean;
  /** The words that are taken, where the attribute is one of a list. */
  readonly values?: readonly string[];
  /** The least number that is taken whatever the shapes, where there is one. */
  readonly minimum?: number;
  /** Which setting it is, where that has another name. */
  readonly setting?: keyof Settings;
  readonly description: string;
}

/** What an input is for. */
export type Role = "data" | "indices" | "updates" | "axis";

/** An input or output of a version. */
export interface ParameterSchema {
  readonly name: string;
  /** Of an input whose name does not say it. */
  readonly role?: Role;
  /** Whether it may be left out. */
  readonly optional?: true;
  /** The name of a type constraint, or one data type. */
  readonly type: string;
  readonly description: string;
}

/** A set of data types under a name; parameters of one constraint have one data type. */
export interface TypeConstraint {
  readonly name: string;
  readonly types: readonly DType[];
  readonly description: string;
}

/** One version of an operator, as its specification describes it. */
export interface OperatorVersion {
  readonly name: string;
  readonly domain: Domain;
  readonly sinceVersion: number;
  /** OpenVINO only: the opset that introduced the version, where its number differs. */
  readonly opset?: number;
  readonly function: false;
  readonly supportLevel: "COMMON";
  readonly shapeInference: true;
  readonly summary: string;
  readonly attributes: readonly AttributeSchema[];
  readonly inputs: readonly ParameterSchema[];
  readonly outputs: readonly ParameterSchema[];
  readonly typeConstraints: readonly TypeConstraint[];
  /** Whether -1 means the last place of an axis. */
  readonly negativeIndices: boolean;
  /** What becomes of an index outside its axis; an error by default. */
  readonly outOfRange?: Bounds;
  /** The operator that replaces it, of a version that is deprecated: it runs all the same. */
  readonly deprecated?: string;
  /** Whether the batch axes of the output are one, of their product's size. */
  readonly fusesBatches?: true;
}

/** What an input of a version is for. */
export const roleOf = ({ name, role }: ParameterSchema): Role => role ?? (name as Role);

/** What is given for the inputs of a version, in order; undefined for one that is left out. */
export type Inputs<T> = readonly (T | undefined)[];

/** The same by what the inputs are for. */
export type ByRole<T> = Readonly<Record<Role, T | undefined>>;

/** A loop, because every call goes through it: `Object.fromEntries` takes half a microsecond. */
export function byRole<T>({ inputs }: OperatorVersion, given: Inputs<T>): ByRole<T> {
  const found: Record<Role, T | undefined> = {
    data: undefined,
    indices: undefined,
    updates: undefined,
    axis: undefined,
  };
  for (let p = 0; p < inputs.length; p++) found[roleOf(inputs[p])] = given[p];
  return found;
}

/** The attributes of a call in the package's own words; an operator without an attribute has its default. */
export interface Settings {
  /** Null where it is an input whose value is not known. */
  readonly axis: number | null;
  readonly batchDims: number;
  readonly reduction: Reduction;
  /** Whether a reduction begins with the value that is there, or with the first update. */
  readonly includeSelf: boolean;
  readonly mode: "linear" | "circular";
}

/** One call of one version, with everything decided but the tensors. */
export interface OperatorCall {
  readonly version: OperatorVersion;
  readonly settings: Settings;
  /** Who speaks in errors. */
  readonly fields: ErrorFields;
}

/** What is known of the shapes of a call's inputs; null too for an input that the operator has not, or that is left out. */
export interface InputShapes {
  readonly data: PartialShape;
  readonly indices: PartialShape;
  readonly updates: PartialShape;
}

/** A part of a shape that follows from others: in words, and as far as it is known. */
export interface Term {
  readonly text: string;
  readonly shape: readonly Dim[];
}

/** A shape that follows from those of the inputs, term by term. */
export interface Derivation {
  /** The input that must have it, or the output, which has it. */
  readonly of: Role | "output";
  readonly terms: readonly Term[];
  /** Whether, where it is a scalar's, any tensor of one element will do. */
  readonly orOneElement?: true;
}

/** Shapes of which the ranks are known; null for updates that are not given. */
export interface RankedShapes {
  readonly data: readonly Dim[];
  readonly indices: readonly Dim[];
  readonly updates: PartialShape;
}

/** What a Plan is made of: indices, and shapes that have been checked. */
export interface PlanInputs {
  readonly data: readonly number[];
  readonly indices: Tensor;
  /** Of a scatter. */
  readonly updates?: readonly number[] | undefined;
}

/** How the offsets of a Plan lie in the tensors that it is made of. */
export interface Layout {
  /** The leading shape of updates or output: one position for each offset, in the order of the Plan. */
  readonly positions: readonly number[];
  /** Where in indices the index of a position stands, or its tuple. */
  indexAt(position: readonly number[]): readonly number[];
  /** How many leading axes of data a position addresses. */
  readonly addressed: number;
  /** Those of them that an index, or the indices of a tuple, stand for. */
  readonly axes: readonly number[];
}

export interface Operator {
  readonly kind: "scatter" | "gather";
  /** Oldest first. */
  readonly versions: readonly OperatorVersion[];
  /** Whether there are versions before those, which are not known here. */
  readonly hasOlder?: true;
  /** The newest without its limits, for the plain functions; absent where there is no such function. */
  readonly plain?: OperatorVersion;
  /** Whether its indices are positions of sequences, with rules of their own: no policy of the plain functions applies. */
  readonly ownRules?: true;
  /** Indices where they are left out. */
  readonly defaultIndices?: (data: readonly number[]) => Tensor;
  /**
   * The output's shape from what is known of the inputs' shapes.
   * @throws TensorError `rank`, `axis` or `shape-mismatch` for what is certainly wrong, in this order.
   */
  inferShape(inputs: InputShapes, call: OperatorCall): PartialShape;
  /**
   * The shapes that follow from those of data and indices, also where those given are others: of updates, if there are
   * any, and of the output, always last.
   * @throws TensorError `rank`, `axis` or `shape-mismatch` where nothing follows
   */
  derive(inputs: RankedShapes, call: OperatorCall): readonly Derivation[];
  /**
   * The Plan of indices whose shape has been checked.
   * @throws TensorError `index-out-of-range`
   */
  plan(inputs: PlanInputs, call: OperatorCall, rules: IndexRules): Plan;
  /** How its offsets lie in tensors of these shapes. */
  layout(inputs: PlanInputs, call: OperatorCall): Layout;
}

/** What versions of openvino have in common. */
export const OPENVINO = {
  domain: "openvino",
  function: false,
  supportLevel: "COMMON",
  shapeInference: true,
} as const;

/** What versions of ai.onnx have in common. */
export const ONNX = {
  domain: "ai.onnx",
  function: false,
  supportLevel: "COMMON",
  shapeInference: true,
  negativeIndices: true,
} as const;
