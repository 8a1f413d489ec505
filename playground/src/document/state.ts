/**
 * The whole state of the page as one record. `reduce.ts` computes the next record from an action, and `store.ts` keeps
 * the record and its URL. Everything else on the page follows from this record.
 */

import type { DialectId, Tensor } from "ndscatter";
import type { Pair } from "../examples/pairs.ts";
import type { Preset } from "../examples/preset.ts";
import type { Spot } from "../values/spot.ts";
import type { State, TensorText } from "../values/state.ts";
import type { History } from "./history.ts";
import type { Document } from "./document.ts";
import type { Suffix } from "./suffix.ts";

/**
 * The domain, operator and opset that identify an operator version. An opset between two versions selects the older
 * version.
 */
export interface OperatorChoice {
  readonly domain: State["domain"];
  readonly op: string;
  readonly opset: number;
}

/** A document, with sentences that explain its change. */
export interface Changed {
  readonly document: Document;
  readonly remarks?: readonly string[];
}

/** What the page loads after its first picture. */
export interface Known {
  readonly examples: readonly Preset[];
  pairOf(preset: string): Pair | null;
  reduce(page: PageState, action: Action): PageState;
}

export interface BrokenLink {
  /** The text of a link without its `#`, after decompression. */
  readonly text: string;
  readonly error: string;
}

/** Another system's output, which the stage shows instead of the exact output. */
export interface OutputRule {
  readonly name: string;
  readonly output: Tensor;
  /** Elements to mark: elements that differ, and elements without a defined value. */
  readonly differing: ReadonlySet<number>;
}

/** Another runtime's output in row-major order, which is valid only while the page shows `state`. */
export interface ShownActual {
  readonly state: State;
  readonly texts: readonly string[];
  readonly differing: ReadonlySet<number>;
}

/** Another runtime's output for the panel to compare; undefined while the panel is closed. */
export type Asked =
  | {
      readonly actual: TensorText | null;
      readonly link?: string | undefined;
      /** The system that returned the output, if it is known. */
      readonly dialect?: DialectId | undefined;
    }
  | undefined;

/** The URL suffix of an output that is compared with the result of a call. */
export interface ComparedWith {
  readonly state: State;
  readonly suffix: string;
}

export type Panel = "Examples" | "Open" | "Share" | "Help";

/** What the user looks at in a call. A change of the call restores the whole picture. */
interface Look {
  /** The player's current step; null while all steps are shown. */
  readonly step: number | null;
  readonly isPlaying: boolean;
  readonly rule: OutputRule | null;
  readonly actual: ShownActual | null;
}

export const WHOLE: Look = {
  step: null,
  isPlaying: false,
  rule: null,
  actual: null,
};

/** What is open or shown beside the call. */
export interface Shown extends Omit<Look, "step"> {
  /** The open dialog, and the input whose text a dialog shows. */
  readonly panel: Panel | null;
  readonly text: number | null;
  readonly asked: Asked;
}

export interface PageState extends Look, Shown {
  /** What was loaded after the first picture; null before. */
  readonly known: Known | null;
  readonly history: History;
  /** The broken link in the URL; null after another state is shown. */
  readonly broken: BrokenLink | null;
  /** The URL fragment of the call that a link has opened; empty for an example and for the user's own call. */
  readonly linked: string;
  /** Sentences that explain the last change to the user. */
  readonly remarks: readonly string[];
  readonly suffix: Suffix;
  /** A counter that increases with every change of the call. */
  readonly edition: number;
  /** A counter that increases when another call is shown. */
  readonly generation: number;
  readonly focused: Spot | null;
  /** The cell under the pointer. */
  readonly pointed: Spot | null;
}

/** A change of the call within its document. */
export type Edit =
  | { readonly do: "edit"; readonly state: State }
  | { readonly do: "put"; readonly input: number; readonly text: TensorText | null }
  /** Unlike `put`, the elements of the replaced tensor do not return when the new tensor grows. */
  | { readonly do: "replace"; readonly input: number; readonly text: TensorText }
  | {
      readonly do: "value";
      readonly input: number;
      readonly element: number;
      readonly text: string;
    }
  | { readonly do: "dtype"; readonly input: number; readonly dtype: string }
  | { readonly do: "shape"; readonly input: number; readonly shape: readonly number[] }
  /** Adds an axis at the end of an input. */
  | { readonly do: "grow"; readonly input: number }
  /** Adds an omitted input. */
  | { readonly do: "give"; readonly input: number }
  | { readonly do: "attribute"; readonly name: string; readonly text: string }
  /** Explains why nothing changes. */
  | { readonly do: "say"; readonly remarks: readonly string[] };

/** A change that adds an entry to the browser history. */
export type Stride =
  | { readonly do: "choose"; readonly choice: OperatorChoice }
  | { readonly do: "example"; readonly id: string }
  /** Shows the user's own call again, as it was before an example was opened. */
  | { readonly do: "own" }
  | { readonly do: "open"; readonly state: State; readonly remarks: readonly string[] };

/** A change by the browser's navigation or by a link. */
export type Travel =
  /** Shows a known history entry, or the call in a URL fragment. */
  | { readonly do: "arrive"; readonly history: History | null; readonly hash: string }
  /** Opens a corrected link, given whole or as the part after `#`. */
  | { readonly do: "link"; readonly text: string }
  /** Discards a broken link. */
  | { readonly do: "drop" };

/** A change of the view. */
export type Glance =
  | { readonly do: "spot"; readonly spot: Spot | null; readonly isFocus: boolean }
  /** Moving to a step deselects the cell, so that the step is described. */
  | { readonly do: "step"; readonly step: number | null }
  | ({ readonly do: "show" } & Partial<Shown>)
  /** Appends a compared output to the URL; null removes the output. */
  | { readonly do: "compare"; readonly compared: ComparedWith | null };

export type Action =
  | Edit
  | Stride
  | Travel
  | Glance
  | { readonly do: "undo" }
  | { readonly do: "redo" };
