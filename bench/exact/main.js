/**
 * Exact sessions beside the plain sessions of onnxruntime-node that they replace, both with one thread, in turn in one
 * process: `node bench/exact/main.js`, with `dist/` built and the packages of `bench/` and `test/nightly/onnxruntime`
 * installed.
 *
 *   --only TEXT    rows whose name contains TEXT
 *   --samples N    rounds                                            (15)
 *
 * Outputs are compared first, bit for bit. The status is 1 if they differ.
 */

import { parseArgs } from "node:util";
import * as ort from "onnxruntime-node";
import { toRuntime } from "../../dist/entries/index.js";
import { createExactSession } from "../../dist/entries/onnx.js";
import { measure, shortCalls } from "../measure.js";
import { QUIET } from "../peers/onnx.js";
import { median, ratioOfRounds } from "../statistics.js";
import { randomsOf, ROWS } from "./models.js";

const { values } = parseArgs({
  options: { only: { type: "string", default: "" }, samples: { type: "string", default: "15" } },
});

const OPTIONS = { ...QUIET, intraOpNumThreads: 1, interOpNumThreads: 1 };
const createSession = (model) => ort.InferenceSession.create(model, OPTIONS);

/**
 * Shorter calls, in milliseconds, are measured like those of a few microseconds: without garbage collection before each
 * sample.
 */
const SHORT = 1;

const bitsOf = (outputs) =>
  Object.entries(outputs).map(([name, { type, dims, data }]) => {
    const bytes = Buffer.from(data.buffer, data.byteOffset, data.byteLength);
    return `${name}: ${type}[${dims}] ${bytes.toString("base64")}`;
  });

/** Returns the approximate time of a run, for choosing a pace. */
async function roughly(session, feeds) {
  for (let n = 0; n < 3; n++) await session.run(feeds);
  const start = performance.now();
  for (let n = 0; n < 5; n++) await session.run(feeds);
  return (performance.now() - start) / 5;
}

/** @returns {Promise<boolean>} true if the outputs are the same */
async function measureRow({ name, model, feeds: feedsOf, goal }) {
  const random = randomsOf(name);
  const bytes = model(random);
  if (bytes === null) {
    console.log(
      `${name.padEnd(20)}left out: its package is not in test/nightly/onnxruntime/node_modules`,
    );
    return true;
  }
  const feeds = Object.fromEntries(
    Object.entries(feedsOf(random)).map(([input, value]) => {
      const { type, data, dims } = toRuntime(value);
      return [input, new ort.Tensor(type, data, dims)];
    }),
  );
  const sessions = [{ title: "plain", session: await createSession(bytes) }];
  for (const nodes of ["scatters", "all"]) {
    const session = await createExactSession(bytes, { createSession, nodes });
    sessions.push({ title: nodes, session });
  }
  const made = [];
  for (const { session } of sessions) made.push(bitsOf(await session.run(feeds)));
  const same = made.every((bits) => bits.join() === made[0].join());
  const pace = { samples: Number(values.samples) };
  const isShort = (await roughly(sessions[0].session, feeds)) < SHORT;
  const contestants = sessions.map(({ title, session }) => ({
    name: title,
    call: () => session.run(feeds),
  }));
  const rounds = await measure(contestants, isShort ? shortCalls(pace) : pace);
  report(name, sessions, rounds, goal, same);
  for (const { session } of sessions) await session.release();
  return same;
}

function report(name, sessions, rounds, goal, same) {
  const plain = rounds.get("plain");
  console.log(
    `${name.padEnd(20)}plain ${median(plain).toFixed(3)} ms${same ? "" : ", OUTPUTS DIFFER"}`,
  );
  for (const { title, session } of sessions.slice(1)) {
    const { ratio, low, high } = ratioOfRounds(rounds.get(title), plain);
    const ms = median(rounds.get(title));
    const more = ms - median(plain);
    const { replaced, sessionCount } = session;
    const counts = `${sessionCount} sessions, ${replaced.length} replaced`;
    const isReached = ratio <= goal.ratio || more <= (goal.more ?? 0);
    const verdict = `${counts}, goal ${isReached ? "" : "not "}reached`;
    const what = replaced.length === 0 ? "nothing to replace" : verdict;
    console.log(
      `  ${title.padEnd(18)}${ms.toFixed(3)} ms, ${ratio} times (${low} to ${high}), ${what}`,
    );
  }
}

let isRight = true;
for (const row of ROWS.filter(({ name }) => name.includes(values.only))) {
  if (!(await measureRow(row))) isRight = false;
}
process.exitCode = isRight ? 0 : 1;
