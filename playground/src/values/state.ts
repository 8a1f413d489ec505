/** One call while somebody edits it, as pure data. A state may hold wrong values. */

import type { Domain, DType } from "ndscatter";

/** Everything that the page shows, and everything that a link holds. */
export interface State {
  readonly domain: Domain;
  readonly op: string;
  /** The sinceVersion of a version. */
  readonly opset: number;
  /** Texts as they were typed, only of attributes that differ from the default. */
  readonly attributes: Readonly<Record<string, string>>;
  /** In the order of the version; null for an optional input that is left out. */
  readonly inputs: readonly (TensorText | null)[];
}

/** A tensor while it is edited. Its elements are texts, so that a wrong element can stay until it is corrected. */
export interface TensorText {
  readonly dtype: DType;
  readonly shape: readonly number[];
  readonly values: readonly string[];
}
