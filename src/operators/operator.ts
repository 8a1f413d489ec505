/**
 * What an operator is: its versions as rows of data, and two functions that every version shares, one from shapes to
 * a shape and one from indices to a Plan. No operator ever touches an element of data or updates.
 */

import type { DType, Reduction } from "../dtype.ts";
import type { ErrorFields } from "../errors.ts";
import type { IndexRules } from "../offsets.ts";
import type { Plan } from "../plan.ts";
import type { PartialShape } from "../shape.ts";
import type { Tensor } from "../tensor.ts";

export type Domain = "ai.onnx" | "openvino";

/** The data type of a tensor and as much of its shape as is known. */
export interface TensorType {
  readonly dtype: DType;
  readonly shape: PartialShape;
}

/** An attribute of a version. */
export interface AttributeSchema {
  readonly name: string;
  readonly type: "int" | "string";
  readonly default: number | string;
  /** The words that are taken, where the attribute is one of a list. */
  readonly values?: readonly string[];
  /** The least number that is taken whatever the shapes, where there is one. */
  readonly minimum?: number;
  readonly description: string;
}

/** An input or output of a version. */
export interface ParameterSchema {
  readonly name: string;
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
}

/** The attributes of a call in the package's own words; an operator without an attribute has its default. */
export interface Settings {
  readonly axis: number;
  readonly batchDims: number;
  readonly reduction: Reduction;
}

export interface Operator {
  readonly kind: "scatter" | "gather";
  /** Whether the last axis of indices holds tuples, or each index stands for itself. */
  readonly indexing: "tuples" | "elements";
  /** Oldest first. */
  readonly versions: readonly OperatorVersion[];
  /** The newest without its limits, for the plain functions. */
  readonly plain: OperatorVersion;
  /**
   * The output's shape from what is known of the inputs' shapes.
   * @throws TensorError `rank`, `axis` or `shape-mismatch` for what is certainly wrong, in this order.
   */
  inferShape(
    inputs: readonly PartialShape[],
    settings: Settings,
    fields: ErrorFields,
  ): PartialShape;
  /**
   * The Plan of indices whose shape has been checked.
   * @throws TensorError `index-out-of-range`
   */
  plan(
    dataShape: readonly number[],
    indices: Tensor,
    settings: Settings,
    rules: IndexRules,
    fields: ErrorFields,
  ): Plan;
}

/** What versions of ai.onnx have in common. */
export const ONNX = {
  domain: "ai.onnx",
  function: false,
  supportLevel: "COMMON",
  shapeInference: true,
  negativeIndices: true,
} as const;
