/** What the suite in a browser tells the program that drives it. */

import type { Engine } from "../../src/create-engine.ts";

/** What a place really is, as opposed to what it was meant to be. */
export interface Place {
  readonly isPage: boolean;
  readonly isIsolated: boolean;
  readonly kind: Engine["kind"];
  /** Of an engine that was to have two. */
  readonly threads: number;
}

export type Report =
  | { readonly type: "place"; readonly place: Place }
  | { readonly type: "file"; readonly file: string }
  | {
      readonly type: "test";
      readonly name: string;
      readonly skip: string | false;
      /** Null where it passed. */
      readonly failure: string | null;
    }
  | { readonly type: "end"; readonly failure: string | null };
