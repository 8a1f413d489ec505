/** What the page is about: one call, as it stands while somebody edits it. Pure data; a wrong value is a state too. */

import type { Domain, DType } from "ndscatter";

/** All that the page shows, and all that a link holds. */
export interface State {
  readonly domain: Domain;
  readonly op: string;
  /** A version's sinceVersion. */
  readonly opset: number;
  /** As typed; only those that differ from the default. */
  readonly attributes: Readonly<Record<string, string>>;
  /** In the version's order; null: optional, left out. */
  readonly inputs: readonly (TensorText | null)[];
}

/** A tensor as it is being edited: its elements as text, so that a wrong one can stand until it is put right. */
export interface TensorText {
  readonly dtype: DType;
  readonly shape: readonly number[];
  readonly values: readonly string[];
}
