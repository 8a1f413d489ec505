/** Reports of the suite in a browser to the program that opened the browser. */

import type { Engine } from "../../../src/core/create-engine.ts";

/** Properties of a place, as measured there or as expected. */
export interface Place {
  readonly isPage: boolean;
  readonly isIsolated: boolean;
  readonly kind: Engine["kind"];
  /** The threads of an engine that was asked for two. */
  readonly threads: number;
}

export type Report =
  | { readonly type: "place"; readonly place: Place }
  | { readonly type: "file"; readonly file: string }
  | {
      readonly type: "test";
      readonly name: string;
      readonly skip: string | false;
      /** Null where the test passed. */
      readonly failure: string | null;
    }
  /** The end of the suite. A failure here lies outside of every test. */
  | { readonly type: "end"; readonly failure: string | null };
