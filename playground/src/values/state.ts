/** A call that is being edited, as pure data. A state may hold invalid values. */

import type { Domain, DType } from "ndscatter";

/** The content of the page, and of a link. */
export interface State {
  readonly domain: Domain;
  readonly op: string;
  /** The `sinceVersion` of a version. */
  readonly opset: number;
  /** Texts as the user typed them, only for attributes that differ from the default. */
  readonly attributes: Readonly<Record<string, string>>;
  /** The inputs in the order of the version; null for an omitted optional input. */
  readonly inputs: readonly (TensorText | null)[];
}

/** A tensor that is being edited. Its elements are texts, so an invalid element can stay until it is corrected. */
export interface TensorText {
  readonly dtype: DType;
  readonly shape: readonly number[];
  readonly values: readonly string[];
}
