/**
 * Every example of the source documents as a row, with their errata corrected (listed in docs/errata.md). Each row
 * runs on all versions that can say it.
 */

import type { Example } from "./example.ts";
import { ONNX_EXAMPLES } from "./onnx-examples.ts";
import { OPENVINO_EXAMPLES } from "./openvino-examples.ts";

export type { Example } from "./example.ts";

export const EXAMPLES: readonly Example[] = [...ONNX_EXAMPLES, ...OPENVINO_EXAMPLES];
