/**
 * Finds a fix for a model whose scatters or gathers are wrong in the user's runtime. `verifyModel` finds the faults,
 * `known-faults.ts` lists equivalent nodes, `candidates.ts` writes the fixed model, and `measure.ts` measures each fix.
 */

import { objectOf, optionsOf, printCount, wrongOption } from "../../core/foreign.ts";
import type { Bytes } from "../../core/tensor/bytes.ts";
import { asTensor } from "../../core/tensor/tensor.ts";
import { createExactSession } from "../exact/exact-session.ts";
import type { Model } from "../model/model.ts";
import { NodeIndex } from "../model/node-index.ts";
import { modelBytes, readModel } from "../onnx/read-model.ts";
import { writeModel } from "../onnx/write-model.ts";
import { feedsFrom, type Feeds } from "../verify/capture.ts";
import { createSessionFrom, orFailure, type CreateSession } from "../verify/session.ts";
import {
  VERIFY_OPTIONS,
  verifyModel,
  type VerifyOptions,
  type VerifyReport,
} from "../verify/verify.ts";
import { expectedFrom, givesExpected, type Expected } from "../verify/expected.ts";
import {
  candidateOf,
  curedModel,
  isFaulty,
  nodeCheck,
  type Candidate,
  type NodeCure,
} from "./candidates.ts";
import { NEWER_OPSET } from "./known-faults.ts";
import {
  checkNode,
  loads,
  measureModel,
  opener,
  plainModel,
  rebased,
  SETTINGS,
  withSettings,
  type ModelRuns,
  type PlainModel,
  type Rebased,
  type Runnable,
  type Values,
} from "./measure.ts";
import { meantNode } from "./meant-node.ts";
import {
  cheapestOf,
  type Cure,
  type FaultyNodeReport,
  type FixProgress,
  type FixReport,
  type KnownFaultId,
} from "./report.ts";

/** Options of {@link fixModel}. */
export interface FixOptions extends Omit<VerifyOptions, "onProgress" | "others"> {
  /**
   * Makes a session of the user's own runtime. The function must pass on the settings that `fixModel` tries: `(model,
   * settings) => InferenceSession.create(model, settings)`. Settings that the function does not read are not tried.
   */
  readonly createSession: CreateSession;
  /** Other session makers that may give correct results, by name, such as sessions of another execution provider. */
  readonly others?: Readonly<Record<string, CreateSession>> | undefined;
  /** Called before each step. */
  readonly onProgress?: ((progress: FixProgress) => void) | undefined;
}

/** A model and all facts that its fixes need. */
interface Bench {
  readonly bytes: Uint8Array;
  readonly model: Model;
  readonly feeds: Values;
  readonly createSession: CreateSession;
  readonly others: Readonly<Record<string, CreateSession>>;
  /** The model before a fix; its runs are those of the given model. */
  readonly asIs: PlainModel;
  readonly plain: ModelRuns;
  readonly base: Rebased | null;
  readonly verified: VerifyReport;
  readonly candidates: readonly Candidate[];
  readonly external: FixOptions["external"];
  /** The outputs that a fixed model must have; null without expected outputs. */
  readonly expected: Expected | null;
  readonly tolerance: number | null;
  readonly say: (what: string) => void;
}

/**
 * Finds a fix for an ONNX model whose scatters or gathers are wrong or not reproducible in the user's runtime. The
 * function tries session settings, then a rewritten model, then an exact session, and measures each fix in the runtime.
 *
 * A fix is correct if the faulty nodes give the exact bits for their real inputs, and all runs of the model give the
 * same result. The report also contains the time per run.
 *
 * @param file the bytes of the ONNX file, as for `captureCalls`
 * @param feeds one tensor per model input, as for `captureCalls`
 * @param options `createSession` is required, and must pass its second argument to the runtime
 * @throws TensorError the errors of {@link verifyModel}; `attribute` for wrong options
 *
 * @example
 * ```ts
 * import { readFileSync } from "node:fs";
 * import { InferenceSession } from "onnxruntime-node";
 *
 * const bytes = readFileSync("model.onnx");
 * const feeds = {
 *   table: tensor("float32", [4, 2], new Float32Array(8)),
 *   ids: tensor("int64", [2, 1], [1, 1]),
 *   rows: tensor("float32", [2, 2], [1, 2, 3, 4]),
 * };
 * const { chosen } = await fixModel(bytes, feeds, {
 *   createSession: (model, settings) => InferenceSession.create(model, settings),
 * });
 * console.log(chosen);
 * ```
 */
export async function fixModel(file: Bytes, feeds: Feeds, options: FixOptions): Promise<FixReport> {
  const { own, say, others } = optionsFrom(options);
  const bytes = modelBytes(file);
  const createSession = createSessionFrom(own);
  const { external } = own;
  const given = readModel(bytes, external === undefined ? {} : { external });
  const bound = feedsFrom(given, feeds);
  say("the model as it is");
  const first = await plainModel(given, bytes, bound, createSession);
  const plain = first.runs;
  const base = plain.problem === null ? null : await rebased(given, bytes, createSession);
  const [used, model] = base === null ? [bytes, given] : [base.bytes, base.model];
  const asIs = base === null ? first : await plainModel(model, used, bound, createSession);
  const verify = (file: Uint8Array): Promise<VerifyReport> =>
    verifyModel(file, Object.fromEntries(bound), {
      ...own,
      createSession: asIs.createSession,
      onProgress: ({ run, runs, nodes, alone }) =>
        say(
          alone === null
            ? `run ${run} of ${runs}, ${printCount(nodes, "node")} compared`
            : `${alone.path} alone, run ${alone.count}`,
        ),
    });
  const verified = await verify(used);
  const candidates = await faultyNodes(model, verified, verify);
  const faulty = candidates.map(reportOf);
  const agrees = verified.agrees && base === null && plain.problem === null && plain.results === 1;
  const fault = base && idOf(NEWER_OPSET);
  const about = { agrees, fault, verified, faulty, plain };
  if (agrees) return { ...about, cures: [], chosen: null, ignored: [] };
  const expected = expectedFrom(model, own.expected);
  const tolerance = own.tolerance ?? null;
  const runs = { bytes: used, model, feeds: bound, createSession, others, asIs, plain, base };
  const bench: Bench = { ...runs, verified, candidates, external, expected, tolerance, say };
  const [cures, ignored]: [Cure[], string[]] = [[], []];
  // Fixes run one at a time, so that each timing has the whole machine.
  for await (const proposal of proposals(bench))
    if ("ignored" in proposal) ignored.push(proposal.ignored);
    else cures.push(await measured(bench, proposal));
  return { ...about, cures, chosen: cheapestOf(cures), ignored };
}

/**
 * Returns a model's faulty nodes. Nodes that depend on a failing node are compared in a model in which the failing node
 * is fixed. This search repeats until no new node fails.
 */
async function faultyNodes(
  model: Model,
  verified: VerifyReport,
  verify: (file: Uint8Array) => Promise<VerifyReport>,
): Promise<readonly Candidate[]> {
  const index = new NodeIndex(model);
  const candidates = verified.nodes.filter(isFaulty).map((node) => candidateOf(node, index));
  const open = new Set(
    verified.nodes.flatMap(({ path, verdict }) => (verdict === "behind" ? [path] : [])),
  );
  while (open.size > 0 && candidates.length > 0) {
    const cured = curedModel(model, curesOf(candidates));
    if (candidates.some(({ cure }) => cure === null) || cured === null) break;
    // oxlint-disable-next-line no-await-in-loop
    const { nodes } = await verify(writeModel(cured.model));
    const more = nodes.filter((node) => open.has(node.path) && isFaulty(node));
    if (more.length === 0) break;
    for (const node of more) {
      open.delete(node.path);
      candidates.push(candidateOf(node, index));
    }
  }
  return candidates;
}

const curesOf = (candidates: readonly Candidate[]): ReadonlyMap<string, NodeCure> =>
  new Map(
    candidates.flatMap(({ verified, cure }) =>
      cure === null ? [] : [[verified.path, cure] as const],
    ),
  );

/** A fix to measure. */
interface Proposal
  extends
    Pick<Cure, "kind" | "title">,
    Partial<Pick<Cure, "settings" | "model" | "nodes" | "notes">> {
  readonly createSession: CreateSession;
  /** The faulty nodes that the runtime computes in this fix, which are also run alone. */
  readonly alone: readonly Candidate[];
  /** Opens the session of the whole model, if the session is not created from the model's bytes. */
  readonly open?: () => Promise<Runnable>;
}

/** Proposes fixes in order of increasing cost, and reports settings that `createSession` ignores. */
async function* proposals(bench: Bench): AsyncGenerator<Proposal | { readonly ignored: string }> {
  const { candidates, plain, base, asIs } = bench;
  const areRight = base === null && candidates.every(isRightAsCall);
  // Session settings cannot fix a model that violates the specification.
  const isOnlyExpected = candidates.length === 0 && plain.problem === null && plain.results === 1;
  if (areRight && !isOnlyExpected) {
    const common = { kind: "setting", alone: candidates } as const;
    for (const { title, settings } of SETTINGS) {
      const { createSession, wasRead } = withSettings(asIs.createSession, settings);
      // oxlint-disable-next-line no-await-in-loop
      await loads(bench.bytes, createSession);
      if (!wasRead()) yield { ignored: title };
      else yield { ...common, title, settings: { ...asIs.settings, ...settings }, createSession };
    }
    for (const [title, createSession] of Object.entries(bench.others))
      yield { ...common, title, createSession };
  }
  yield* modelCures(bench);
  if (areRight && candidates.length > 0) yield exactCure(bench);
  yield* meantCures(bench);
}

/** Returns true if a node is valid in its version, so that its exact result is known. */
const isRightAsCall = ({ intention }: Candidate): boolean =>
  intention !== null && intention.repairs.length === 0;

async function measured(bench: Bench, proposal: Proposal): Promise<Cure> {
  const { feeds, asIs, plain, expected, tolerance, say } = bench;
  const { kind, title, createSession, alone } = proposal;
  const { settings = null, model = null, nodes = null, notes = [] } = proposal;
  let [nodeRuns, rightRuns] = [0, 0];
  let problem: string | null = null;
  for (const candidate of alone) {
    if (candidate.intention === null || problem !== null || rightRuns < nodeRuns) break;
    say(`${title}: ${candidate.verified.path} alone`);
    const check = nodeCheck(candidate, kind === "model", createSession);
    // oxlint-disable-next-line no-await-in-loop
    const found = await checkNode(check, 1 / alone.length);
    [nodeRuns, rightRuns] = [nodeRuns + found.runs, rightRuns + found.right];
    ({ problem } = found);
  }
  say(`${title}: the whole model`);
  const open = proposal.open ?? opener(createSession, model ?? bench.bytes);
  const whole = await measureModel(open, feeds, asIs.names);
  problem ??= whole.problem;
  const isExpected =
    expected === null || problem !== null
      ? null
      : await givesExpected(open, feeds, expected, tolerance);
  const isKnown = alone.every(({ intention }) => intention !== null);
  const isSame = rightRuns === nodeRuns && whole.results === 1;
  const isRight = problem === null && isKnown && isSame && isExpected !== false;
  const ratio = whole.time === null || plain.time === null ? null : whole.time / plain.time;
  const about = { kind, title, settings, model, nodes, notes };
  return { ...about, nodeRuns, rightRuns, whole, ratio, problem, isExpected, isRight };
}

/** Proposes the model with other nodes in place of all faulty nodes. */
function* modelCures({ model, candidates, createSession, base }: Bench): Generator<Proposal> {
  const cures = curesOf(candidates);
  if (cures.size < candidates.length || (cures.size === 0 && base === null)) return;
  const cured = cures.size === 0 ? { model, notes: [] } : curedModel(model, cures);
  if (cured === null) return;
  const words = `${printCount(cures.size, "node")} rewritten as equivalent nodes`;
  const title = base === null ? words : cures.size === 0 ? base.title : `${base.title}, ${words}`;
  const notes = [...(base?.notes ?? []), ...cured.notes];
  const file = writeModel(cured.model);
  yield { kind: "model", title, model: file, notes, createSession, alone: candidates };
}

/** Proposes models in which one changed node gives the expected outputs. */
function* meantCures(bench: Bench): Generator<Proposal> {
  for (const change of bench.verified.expected?.changes ?? []) {
    const { path, sentence, ranks } = change;
    // A change of one node cannot fix a model in which the runtime computes another node wrongly.
    if (bench.candidates.some(({ verified }) => verified.path !== path)) continue;
    const cure = meantNode(change, ranks);
    const cured = cure && curedModel(bench.model, new Map([[path, cure]]));
    if (cured === null) continue;
    const { createSession } = bench;
    const own = { title: `${path} changed: ${sentence}`, notes: cured.notes, createSession };
    yield { kind: "model", ...own, model: writeModel(cured.model), alone: [] };
  }
}

function exactCure({ bytes, candidates, verified, external, createSession }: Bench): Proposal {
  // Nodes that depend on a failing node may be faulty too.
  const isAll = verified.nodes.some(({ verdict }) => verdict === "behind");
  const nodes = isAll ? ("all" as const) : candidates.map((one) => one.verified.path);
  // An exact session that cannot be created or run counts as a failed fix.
  const open = async (): Promise<Runnable> => {
    const own = { createSession, nodes, ...(external && { external }) };
    const session = await orFailure(() => createExactSession(bytes, own));
    return {
      run: (feeds, names) =>
        orFailure(async () => {
          const outputs = await session.run(Object.fromEntries(feeds));
          return new Map(names.map((name) => [name, asTensor(outputs[name], {}, name)]));
        }),
      release: () => session.release(),
    };
  };
  const about = { kind: "exact-session", title: "an exact session" } as const;
  return { ...about, nodes, open, createSession, alone: [] };
}

function reportOf({ verified, cure, intention, uncured }: Candidate): FaultyNodeReport {
  const { path, op, verdict, isReproducible, sentence } = verified;
  const rows = cure?.faults ?? intention?.repairs ?? [];
  return { path, op, verdict, isReproducible, sentence, faults: rows.map(idOf), uncured };
}

const idOf = ({ id, fault, cure }: KnownFaultId): KnownFaultId => ({ id, fault, cure });

type Own = Partial<Omit<FixOptions, "onProgress" | "others">>;

function optionsFrom(options: FixOptions): {
  readonly own: Own & { readonly createSession: CreateSession };
  readonly others: Readonly<Record<string, CreateSession>>;
  readonly say: (what: string) => void;
} {
  const {
    onProgress = () => {},
    others = {},
    ...own
  } = optionsOf(options, VERIFY_OPTIONS, {}, "the options of fixModel");
  if (typeof onProgress !== "function") throw wrongOption("onProgress", "a function", onProgress);
  const makers = Object.entries(objectOf("others", others, {})).map(
    ([name, createSession]) => [name, createSessionFrom({ createSession })] as const,
  );
  return {
    own: own as Own & { readonly createSession: CreateSession },
    others: Object.fromEntries(makers),
    say: (what) => (onProgress as (progress: FixProgress) => void)({ what }),
  };
}
