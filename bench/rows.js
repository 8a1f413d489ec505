/** Times one row of the workloads: the library, in each way to call it, beside its peers. */

import { check } from "./check.js";
import { bestPeer, judgedMode } from "./judged.js";
import { measure, shortCalls } from "./measure.js";
import { HEAP_THREADS, KEPT, LITTERING, THREADS } from "./ours.js";
import { median, ratioOfRounds, round } from "./statistics.js";

/**
 * @typedef {import("./statistics.js").Ratio} Ratio
 * @typedef {object} Times of one row; milliseconds, medians
 * @property {Record<string, number>} modes
 * @property {Record<string, number>} threads
 * @property {Record<string, number>} kept
 * @property {Record<string, number>} peers
 * @property {Record<string, number>} [peersUndisposed] the same peers, if their results are left to the garbage
 * collector
 * @property {{ peer?: Ratio & { name: string }, peerUndisposed?: Ratio & { name: string }, peerHeapThreads?: Ratio,
 * peerThreads?: Ratio, threads?: Ratio, peerKept?: Ratio, peerKeptThreads?: Ratio }} ratios of times in the same round:
 * `peer` is the best peer over the judged mode, `peerUndisposed` the best of `peersUndisposed` over the mode
 * `undisposed`, `peerHeapThreads` and `peerThreads` the first of these peers over the modes `new 2` and `resident 2`,
 * `threads` one thread over two, `peerKept` and `peerKeptThreads` the first over kept plans
 */

/** Returns the name of a peer as a contestant whose results are left to the garbage collector. */
const undisposed = (/** @type {string} */ name) => `${name}, undisposed`;

/**
 * @param {import("./workloads.js").Workload} row
 * @param {import("./workloads.js").Inputs} inputs
 * @param {ReturnType<import("./ours.js").createOurs>} ours
 * @param {readonly import("./peers/index.js").Peer[]} peers
 * @param {import("./measure.js").Pace} pace
 * @returns {Promise<{ times: Times, findings: { row: string, name: string, ours: boolean, message: string }[] }>}
 */
export async function measureRow(row, inputs, ours, peers, pace) {
  const own = ours.contestants(row, inputs, (name) => !pace.brief || name !== "undisposed");
  const others = [];
  const findings = [];
  for (const { name, cooldown, prepare } of peers) {
    try {
      const contestant = await prepare(row, inputs);
      if (contestant === null) continue;
      // Some peers refuse the work only when they run.
      await contestant.call();
      others.push({ name, cooldown, ...contestant });
    } catch (error) {
      const reason = String(error.message ?? error).split("\n")[0];
      findings.push({ row: row.name, name, ours: false, message: `cannot: ${reason}` });
    }
  }
  const differences = await check(ours.expected(row, inputs), own, others);
  findings.push(...differences.map((finding) => ({ row: row.name, ...finding })));
  const litters = own.some(({ name }) => name === "undisposed") ? others.map(littering) : [];
  const all = [...own, ...others, ...litters];
  const rounds = await measure(all, row.fixed ? shortCalls(pace) : pace);
  for (const { release } of [...own, ...others]) await release?.();

  const medians = (entries) =>
    Object.fromEntries(entries.map(([key, name]) => [key, round(median(rounds.get(name)))]));
  const names = (list) => list.map(({ name }) => [name, name]);
  const byThreads = (modes) =>
    medians(Object.entries(modes).filter(([, name]) => rounds.has(name)));
  const elsewhere = new Set([THREADS[2], ...Object.values(KEPT)]);
  const times = {
    modes: medians(names(own).filter(([name]) => !elsewhere.has(name))),
    threads: byThreads(THREADS),
    kept: byThreads(KEPT),
    peers: medians(names(others)),
    ...(litters.length > 0 && {
      peersUndisposed: medians(others.map(({ name }) => [name, undisposed(name)])),
    }),
  };
  return { times: { ...times, ratios: ratiosOf(row, times, rounds) }, findings };
}

/** @returns {import("./ours.js").Contestant} a peer, measured as the mode `undisposed` is */
const littering = ({ name, call, litter = call, output, cooldown }) => ({
  name: undisposed(name),
  call: litter,
  output,
  cooldown,
  atLeast: LITTERING,
});

function ratiosOf({ inPlace }, times, rounds) {
  const best = bestPeer(times.peers);
  const judged = judgedMode({ inPlace, modes: times.modes });
  const ratio = (a, b) =>
    rounds.has(a) && rounds.has(b) ? ratioOfRounds(rounds.get(a), rounds.get(b)) : undefined;
  const named = (name, value) => (value === undefined ? undefined : { name, ...value });
  const bestLittering = bestPeer(times.peersUndisposed ?? {});
  return {
    peer: named(best, ratio(best, judged)),
    peerUndisposed: named(bestLittering, ratio(undisposed(bestLittering), "undisposed")),
    peerHeapThreads: ratio(best, HEAP_THREADS),
    peerThreads: ratio(best, THREADS[2]),
    threads: ratio(THREADS[1], THREADS[2]),
    peerKept: ratio(best, KEPT[1]),
    peerKeptThreads: ratio(best, KEPT[2]),
  };
}
