/** Models whose opset or IR version is too new for the user's runtime. */

import { isTensorError } from "../../core/errors.ts";
import { convertModel } from "../convert/convert-model.ts";
import { checkTarget } from "../convert/target.ts";
import { buildModel } from "../model/build-model.ts";
import type { Model } from "../model/model.ts";
import { readModel } from "../onnx/read-model.ts";
import { writeModel } from "../onnx/write-model.ts";
import { openModel } from "../verify/carried.ts";
import { RuntimeFailure, type CreateSession } from "../verify/session.ts";

/** The model, converted to older versions that the runtime loads. */
export interface Rebased {
  readonly bytes: Uint8Array;
  readonly model: Model;
  readonly title: string;
  readonly notes: readonly string[];
}

/** Opsets to try, newest first. */
const OPSETS = [26, 25, 24, 23, 22, 21, 20, 19, 18];

/**
 * Converts the model to the newest versions that the runtime loads. The result is null if the runtime loads no such
 * version. The result is also null if the versions are not the cause: the runtime loads the original model, or a model
 * with one node of the same versions.
 */
export async function rebased(
  given: Model,
  bytes: Uint8Array,
  createSession: CreateSession,
): Promise<Rebased | null> {
  if (await loads(bytes, createSession)) return null;
  if (await loads(writeModel(smallest(given)), createSession)) return null;
  const { "ai.onnx": own = 0 } = given.opsets;
  for (const opset of OPSETS) {
    const { irVersion } = checkTarget({ opset });
    if (own <= opset && given.irVersion <= irVersion) continue;
    const candidate = olderModel(given, Math.min(opset, own), irVersion);
    if (candidate === null) continue;
    const bytes = writeModel(candidate.model);
    // oxlint-disable-next-line no-await-in-loop
    if (await loads(bytes, createSession)) return { ...candidate, bytes };
  }
  return null;
}

function smallest({ irVersion, opsets: { "ai.onnx": opset = 13 } }: Model): Model {
  const model = buildModel({
    opsets: { "ai.onnx": opset },
    inputs: { x: { dtype: "float32", shape: [1] } },
    nodes: [{ op: "Identity", inputs: ["x"], outputs: ["y"] }],
    outputs: { y: { dtype: "float32", shape: [1] } },
  });
  return { ...model, irVersion };
}

function olderModel(
  given: Model,
  opset: number,
  irVersion: number,
): Pick<Rebased, "model" | "title" | "notes"> | null {
  try {
    const isSame = given.opsets["ai.onnx"] === opset;
    const { model, notes } = isSame ? { model: given, notes: [] } : convertModel(given, { opset });
    const version = Math.min(model.irVersion, irVersion);
    const title = `the model at opset ${opset} and IR version ${version}`;
    return { model: { ...model, irVersion: version }, title, notes };
  } catch (error) {
    if (isTensorError(error)) return null;
    throw error;
  }
}

export async function loads(bytes: Uint8Array, createSession: CreateSession): Promise<boolean> {
  try {
    await (await openModel(createSession, readModel(bytes), bytes)).release();
    return true;
  } catch (error) {
    if (error instanceof RuntimeFailure) return false;
    throw error;
  }
}
