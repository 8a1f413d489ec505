/** What the program and the suite in a browser tell each other. */

/** What the suite needs of the model, as the program gives it. */
export interface Cases {
  /** Each example: its id and the hash of its state. */
  readonly presets: readonly { readonly id: string; readonly hash: string }[];
  /** The ids of the examples that are shown. */
  readonly shown: readonly string[];
  /** The state that most tests begin with. */
  readonly sum: string;
  /** The values of its output after each update. */
  readonly steps: readonly (readonly string[])[];
}

/** What the page shows of an example. The program compares it with what the library computes. */
export interface Shown {
  readonly type: "shown";
  readonly id: string;
  /** The texts of the cells of each input; null for an input that is not there. */
  readonly inputs: readonly (readonly string[] | null)[];
  readonly output: readonly string[];
  readonly story: string;
}

export type Report =
  | Shown
  | {
      readonly type: "test";
      readonly name: string;
      /** Null where the test passed. */
      readonly failure: string | null;
    }
  /** The end of the suite. A failure here lies outside of every test. */
  | { readonly type: "end"; readonly failure: string | null };
