/** What opened files or a pasted text offer. */

import type { DialectId } from "ndscatter";
import type { State, TensorText } from "../values/state.ts";
import type { NamedTensor } from "./named.ts";

export type Choice =
  | { readonly kind: "tensor"; readonly title: string; readonly input: TensorText }
  | {
      readonly kind: "node";
      readonly title: string;
      readonly state: State;
      /** Remarks about facts that the file does not contain. */
      readonly remarks: readonly string[];
      /** The runtime's output for this node, if the test case contains the output. */
      readonly actual?: TensorText;
      /** The system that returned this output, if it is known. */
      readonly dialect?: DialectId;
    };

export interface Content {
  readonly choices: readonly Choice[];
  readonly remarks: readonly string[];
  /** Pasted text of a single array, which is parsed again with the data type of the chosen input. */
  readonly text?: string;
  /** Tensors that fit several inputs. */
  readonly tensors?: readonly NamedTensor[];
  /** The command line for the whole call, if the page shows only a part. */
  readonly command?: string;
}

/** The reason why a file or a text offers nothing. */
export interface Refusal {
  readonly error: string;
}

export interface Offer extends Content {
  /** The name of the file or the text. */
  readonly name: string;
}
