/** The three steps of a run, each in all workspaces at once: compile mutants, watch the tests, and test the mutants. */

import { marked } from "./mutants.js";
import { progress, say } from "./report.js";
import { check, notice, observe } from "./tests.js";

/** Calls `work(workspace)` repeatedly in every workspace, until it returns false. */
async function inAll(workspaces, work) {
  const repeat = async (workspace) => {
    while (await work(workspace));
  };
  await Promise.all(workspaces.map(repeat));
}

/** Calls `work(workspace, item)` for every item. */
async function forAll(workspaces, items, work) {
  const rest = [...items];
  await inAll(workspaces, async (workspace) => {
    const item = rest.shift();
    if (item !== undefined) await work(workspace, item);
    return item !== undefined;
  });
}

/**
 * Returns the first mutants of each area that compile to different code, as many as wanted. Each gets `files`, the
 * compiled files that it changes, and an `id`.
 */
export async function compileMutants(workspaces, pools, wanted) {
  const draws = [...wanted].map(([area, count]) => ({
    rest: [...pools.get(area)],
    count,
    open: 0,
  }));
  const total = draws.reduce((sum, { count, rest }) => sum + Math.min(count, rest.length), 0);
  const compiled = [];
  await inAll(workspaces, async (workspace) => {
    const draw = draws.find(({ count, open, rest }) => open < count && rest.length > 0);
    if (draw === undefined) return false;
    const mutant = draw.rest.shift();
    draw.open++;
    const files = await workspace.compile(mutant);
    if (files?.length > 0) compiled.push({ ...mutant, files });
    else {
      draw.open--;
      const why = files === null ? "it does not compile" : "it compiles to the same code";
      say(`left out, because ${why}: ${mutant.file}:${mutant.line}  ${mutant.change}`);
    }
    progress(`compiling: ${compiled.length} of ${total}`);
    return true;
  });
  // Sorted by position, not by completion, so that the order is the same in every run.
  compiled.sort((a, b) => order(a.area, b.area) || order(a.file, b.file) || a.start - b.start);
  return compiled.map((mutant, id) => ({ ...mutant, id }));
}

const order = (a, b) => (a < b ? -1 : Number(a > b));

/**
 * Runs each of the test files `names` once, in code without mutants whose sites are marked.
 * @returns the observations of each file that passes, fastest first
 */
export async function watchTests(workspaces, names, sources, mutants) {
  const texts = new Map();
  for (const { file, text } of sources) {
    const sites = mutants
      .filter((one) => one.file === file)
      .map(({ id, site }) => ({ id, ...site }));
    if (sites.length > 0 && !file.startsWith("assembly/")) texts.set(file, marked(text, sites));
  }
  const files = await workspaces[0].emit(texts);
  for (const workspace of workspaces) workspace.apply(files);
  const seen = [];
  await forAll(workspaces, names, async (workspace, name) => {
    seen.push(await observe(workspace, name));
    progress(`running the tests without a mutant: ${seen.length} of ${names.length} files`);
  });
  for (const workspace of workspaces) workspace.restore();
  // Marks make the code slower and longer, which some tests do not allow.
  const unsound = new Set();
  const failed = seen.filter(({ failure }) => failure !== null);
  await forAll(workspaces, failed, async (workspace, { name }) => {
    const failure = await check(workspace, name);
    if (failure === null) return;
    unsound.add(name);
    say(`${name} fails without a mutant and is left out: ${failure}`);
  });
  return seen.filter(({ name }) => !unsound.has(name)).sort((a, b) => a.time - b.time);
}

/**
 * Tests the mutants.
 * @param seconds the limit for one mutant: test files run whose clean times add up to this, and at least one file
 * @param onVerdict gets each mutant with `noticed` (the file and the failing test; or null), the names of the test
 *   files that `ran`, and of those that were `leftOut` because they are slow
 */
export async function testMutants(workspaces, mutants, observations, seconds, onVerdict) {
  const records = new Records();
  await forAll(workspaces, mutants, async (workspace, mutant) => {
    const mark = mutant.file.startsWith("assembly/") ? "assembly" : String(mutant.id);
    const reaching = observations.filter(({ reached }) => reached.has(mark));
    const running = affordable(reaching, seconds);
    workspace.apply(mutant.files);
    const noticed = await notice(workspace, records.promisingFirst(mutant, running));
    workspace.restore();
    records.add(mutant, noticed);
    const names = reaching.map(({ name }) => name);
    const leftOut = names.slice(running.length);
    onVerdict({ ...mutant, noticed, ran: names.slice(0, running.length), leftOut });
  });
}

function affordable(observations, seconds) {
  let sum = 0;
  return observations.filter(({ time }, position) => {
    sum += time;
    return position === 0 || sum <= seconds * 1000;
  });
}

/** Records the test files that noticed mutants of an area, so that files which notice most per second run first. */
class Records {
  #noticed = new Map();

  promisingFirst({ area }, observations) {
    const rate = ({ name, time }) => (1 + (this.#noticed.get(`${area} ${name}`) ?? 0)) / time;
    return observations.toSorted((a, b) => rate(b) - rate(a));
  }

  add({ area }, noticed) {
    if (noticed === null) return;
    const key = `${area} ${noticed.name}`;
    this.#noticed.set(key, 1 + (this.#noticed.get(key) ?? 0));
  }
}
