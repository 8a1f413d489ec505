/** Sessions of the user's runtime for parts of a model. */

import type { OutputMetadata } from "./known-types.ts";

/** The part of an onnxruntime session that this package uses. */
export interface RuntimeSession {
  run(feeds: never, ...more: never[]): Promise<object>;
  release?(): Promise<void>;
  /** The metadata of outputs, which onnxruntime has since version 1.21. */
  readonly outputMetadata?: readonly OutputMetadata[];
}

/** Makes a session for a part of the model. */
export type CreatePart = (part: Uint8Array) => Promise<RuntimeSession>;
