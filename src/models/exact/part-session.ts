/** Sessions of the user's runtime for parts of a model. */

import type { OutputMetadata } from "./known-types.ts";

/** The methods and fields of an onnxruntime session that this package uses. */
export interface RuntimeSession {
  run(feeds: never, ...more: never[]): Promise<object>;
  release?(): Promise<void>;
  /** The output metadata, which onnxruntime provides since version 1.21. */
  readonly outputMetadata?: readonly OutputMetadata[];
}

/** Creates a session for one part of the model. */
export type CreatePart = (part: Uint8Array) => Promise<RuntimeSession>;
