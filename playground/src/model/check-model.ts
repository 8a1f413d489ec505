/** Runs a model, and compares its scatters and gathers with their exact results. The worker calls these functions. */

import { isTensorError, run as runNode, type Tensor } from "ndscatter";
import {
  externalFiles,
  fixModel,
  NodeIndex,
  readModel,
  verifyModel,
  type Cure,
  type CreateSession,
  type ReadExternal,
  type VerifiedNode,
  type VerifyReport,
} from "ndscatter/onnx";
import { fileOf, readerOf } from "../reading/external.ts";
import { MODEL } from "../reading/file-kinds.ts";
import { sizeOf } from "../values/shape.ts";
import { countDiffering } from "./count-differing.ts";
import { bytesOf, givenIn } from "./inputs.ts";
import { withMadeUp } from "./made-up.ts";
import type { Checked, FoundCure, Row } from "./messages.ts";
import { sessionsWith } from "./runtime.ts";

export type Progress = (sentence: string, share?: number) => void;

/** A checked model, with what a fix needs. */
export interface Run {
  readonly bytes: Uint8Array;
  readonly external: ReadExternal;
  /** The paths of the external data. */
  readonly data: readonly string[];
  readonly createSession: CreateSession;
  readonly feeds: Readonly<Record<string, Tensor>>;
  readonly nodes: readonly VerifiedNode[];
  readonly checked: Checked;
}

/** Checks a dropped model. Throws errors whose messages are sentences for the user. */
export async function check(files: readonly File[], onProgress: Progress): Promise<Run> {
  const file = files.find(({ name }) => MODEL.test(name));
  if (file === undefined) throw new Error("The files do not include a model.");
  const bytes = await bytesOf(file, (read) =>
    onProgress(`Reading ${megabytes(read)} of ${megabytes(file.size)} MB`, read / file.size),
  );
  const plain = readModel(bytes);
  const paths = externalFiles(plain);
  const read = paths.map(async (path) => {
    const one = fileOf(path, files);
    return { path, name: one.name, bytes: new Uint8Array(await one.arrayBuffer()) };
  });
  const beside = await Promise.all(read);
  const external = readerOf(beside);
  // Paths that name the same file are refused.
  for (const { path } of beside) external(path, 0, 0);
  const createSession = sessionsWith(beside.map(({ path, bytes: all }) => ({ path, data: all })));
  const model = readModel(bytes, { external });
  const given = await givenIn(
    files,
    model,
    beside.map(({ name }) => name),
  );
  const inputs = withMadeUp(model, given.tensors);
  if ("error" in inputs) throw new Error(inputs.error);
  const { length: count } = new NodeIndex(model).family;
  const { feeds } = inputs;
  onProgress("Running the model");
  const report = await verifyModel(bytes, feeds, {
    createSession,
    external,
    onProgress: ({ nodes, searches, alone }) => {
      if (alone !== null) onProgress(`${alone.path} alone, run ${alone.count}`, 1);
      else if (searches > 0) onProgress(`The runtime fails; searching for the node, ${searches}`);
      else onProgress(`Node ${nodes} of ${count}`, nodes / count);
    },
  });
  const remarks = [...given.remarks, ...inputs.remarks, ...aboutRun(report)];
  const checked = { rows: report.nodes.map(rowOf), remarks };
  return { bytes, external, data: paths, createSession, feeds, nodes: report.nodes, checked };
}

const megabytes = (bytes: number): string =>
  (bytes / 1e6).toLocaleString("en", { maximumFractionDigits: 1 });

/** Returns sentences about the model as a whole. */
function aboutRun({ loads, problem, notes, nodes }: VerifyReport): string[] {
  const how = {
    "as-is": "The runtime loads the model, but cannot run it",
    unoptimized: "The runtime loads the model only without graph optimization",
    never: `The runtime cannot load the model${nodes.length === 0 ? "" : ", so the nodes were compared in parts of the model"}`,
  }[loads];
  return [...(problem === null ? [] : [`${how}: ${problem}`]), ...notes];
}

function rowOf(node: VerifiedNode): Row {
  const { path, op, version, verdict, sentence, where, call, diagnoses } = node;
  const [reason] = diagnoses;
  return {
    path,
    title: version === null ? op : `${op}-${version}`,
    verdict,
    sentence: where === null ? sentence : `in ${where}, ${sentence}`,
    differing: differingIn(node),
    why: reason === undefined ? "" : reason.sentence,
    // The inputs of an equal node are captured again.
    canShow: call !== null || verdict === "equal",
  };
}

/** Counts the elements that differ from the exact result, bit for bit except for NaNs. */
function differingIn({ call, result, difference, diagnoses }: VerifiedNode): Row["differing"] {
  // A result of another type or shape has no first difference.
  if (call === null || result === null || difference === null) return null;
  const all = sizeOf(result.shape);
  const [reason] = diagnoses;
  if (reason !== undefined) return [reason.cells.differing, all];
  try {
    const [exact] = runNode(call.node, call.inputs);
    return [countDiffering(exact, result), all];
  } catch (error) {
    // An invalid call has no exact result.
    if (isTensorError(error)) return null;
    throw error;
  }
}

/** Searches for a fix of a model in which a node is wrong, and measures it in the runtime. */
export async function cure(
  { bytes, external, data, createSession, feeds }: Run,
  onProgress: Progress,
): Promise<FoundCure> {
  const { chosen, faulty, cures } = await fixModel(bytes, feeds, {
    createSession,
    external,
    onProgress: ({ what }) => onProgress(`Looking for a cure: ${what}`),
  });
  const known = [...new Set(faulty.flatMap(({ faults }) => faults.map((one) => one.cure)))];
  if (chosen === null) {
    const tried = cures.length === 0 ? "" : ` ${cures.length} were tried.`;
    return { sentence: `No cure is known.${tried}`, model: null };
  }
  const { model } = chosen;
  // A fix changes no external data.
  const kept = data.length === 0 ? [] : [`Its data stays in ${data.join(", ")}.`];
  const notes = model === null ? [] : [...known, ...chosen.notes, ...kept];
  return {
    sentence: [titleOf(chosen), ...notes].join(" "),
    model: model === null ? null : new Blob([new Uint8Array(model)]),
  };
}

/** Returns a sentence about a fix, with the code that it needs. */
function titleOf({ kind, title, settings, nodes }: Cure): string {
  if (kind === "model") return `Cure: ${title}.`;
  const code =
    kind === "setting"
      ? `InferenceSession.create(model, ${JSON.stringify(settings)})`
      : `createExactSession(model, { createSession, nodes: ${JSON.stringify(nodes)} })`;
  return `Cure: ${title}, ${code}.`;
}
