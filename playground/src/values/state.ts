/** A call that is being edited, as plain data, which may contain invalid values. */

import type { Domain, DType } from "ndscatter";

/** The content of the page and of its links. */
export interface State {
  readonly domain: Domain;
  readonly op: string;
  readonly opset: number;
  /** Texts as the user typed them, only for non-default attributes. */
  readonly attributes: Readonly<Record<string, string>>;
  /** The inputs in the order of the version's definition; null for an omitted optional input. */
  readonly inputs: readonly (TensorText | null)[];
}

/** A tensor that is being edited. Elements are stored as text, so an invalid element can stay until it is corrected. */
export interface TensorText {
  readonly dtype: DType;
  readonly shape: readonly number[];
  readonly values: readonly string[];
  /** The numbers along the first axis in a larger tensor of which this is a part. */
  readonly rows?: readonly number[] | undefined;
}
