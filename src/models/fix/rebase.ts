/** Models whose opset or IR version is newer than the user's runtime. */

import { isTensorError } from "../../core/errors.ts";
import { convertModel } from "../convert/convert-model.ts";
import { checkTarget } from "../convert/target.ts";
import type { Model } from "../model/model.ts";
import { writeModel } from "../onnx/write-model.ts";
import { openSession, RuntimeFailure, type CreateSession } from "../verify/session.ts";

/** The model in older versions that the runtime loads. */
export interface Rebased {
  readonly bytes: Uint8Array;
  readonly model: Model;
  readonly title: string;
  readonly notes: readonly string[];
}

/** The opsets to try, newest first. */
const OPSETS = [26, 25, 24, 23, 22, 21, 20, 19, 18];

/** Returns the model in the newest versions that the runtime loads, or null if it loads none, or loads the original. */
export async function rebased(given: Model, createSession: CreateSession): Promise<Rebased | null> {
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
    await (await openSession(createSession, bytes)).release();
    return true;
  } catch (error) {
    if (error instanceof RuntimeFailure) return false;
    throw error;
  }
}
