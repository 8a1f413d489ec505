/** The parts of the benchmark that can be wrong without anyone seeing it: its hand-written loops and its judgement. */

import assert from "node:assert/strict";
import path from "node:path";
import { test } from "node:test";
import { pathToFileURL } from "node:url";
import { parseXml } from "@rgrove/parse-xml";
import { ROOT } from "../support/documents.ts";

const load = (file: string) => import(pathToFileURL(path.join(ROOT, "bench", file)).href);

const { scalars, slices, tryHand } = await load("hand.js");
const { ratioOfRounds } = await load("statistics.js");
const { compare } = await load("compare.js");
const { drawCurve } = await load("chart.js");
const { nativeRows, printNative } = await load("native/report.js");

/** Each number as a slice of so many elements. */
const wide = (slice: number, ...values: number[]): Float32Array =>
  Float32Array.from(values.flatMap((value) => Array.from({ length: slice }, () => value)));

for (const [slice, loops] of [
  [1, scalars],
  [16, slices(16)],
  [128, slices(128)],
]) {
  test(`hand-written loops on slices of ${slice} wrap, and apply updates in order`, () => {
    const data = wide(slice, 1, 2, 3);
    const indices = BigInt64Array.of(-1n, 0n, 2n);
    const updates = wide(slice, 5, 6, 7);
    const expected = { none: [6, 2, 7], add: [7, 2, 15], gather: [3, 1, 3] };
    for (const [kind, values] of Object.entries(expected)) {
      const { fresh, into, unchecked } = loops[kind];
      const out = wide(slice, 9, 9, 9);
      assert.deepEqual(fresh(data, indices, updates), wide(slice, ...values), kind);
      assert.equal(into(data, indices, updates, out), out);
      assert.deepEqual(out, wide(slice, ...values), kind);
      const positive = BigInt64Array.of(2n, 0n, 2n);
      const again = unchecked(data, positive, updates, wide(slice, 9, 9, 9));
      assert.deepEqual(again, wide(slice, ...values), kind);
      assert.deepEqual(data, wide(slice, 1, 2, 3));
    }
  });
}

test("hand-written loops refuse bad indices, and leave out as it was", () => {
  tryHand();
});

test("a ratio is the median of the ratios of each round, between ranks of the sign test", () => {
  // A machine that is ten times slower in some rounds changes nothing.
  const slow = Array.from({ length: 15 }, (_, round) => (round % 3 === 0 ? 10 : 1));
  const times = slow.map((factor, round) => factor * (round + 1));
  assert.deepEqual(ratioOfRounds(times, slow), { ratio: 8, low: 4, high: 12 });
  // Ranks of the 95 % interval of a median, as tables of the sign test give them.
  for (const [count, low, high] of [
    [5, 1, 5],
    [6, 1, 6],
    [9, 2, 8],
    [25, 8, 18],
    [45, 16, 30],
  ]) {
    const list = Array.from({ length: count }, (_, p) => p + 1);
    const { low: least, high: most } = ratioOfRounds(
      list,
      list.map(() => 1),
    );
    assert.deepEqual([least, most], [low, high], `${count} rounds`);
  }
});

const record = (ratio: object, peer: object) => ({
  machine: { date: "2026-01-01", cpu: "a CPU" },
  workloads: [{ name: "rows", ratios: { peer: { name: "a peer", ...peer } } }],
  curve: [{ kind: "add", slice: 1, updates: 4, into: 8, ratios: { plan: ratio } }],
});

test("--compare names what changed, and says whether that is better", () => {
  const before = record({ ratio: 9, low: 8, high: 10 }, { ratio: 2, low: 1.9, high: 2.1 });
  const after = record({ ratio: 4, low: 3, high: 5 }, { ratio: 1.5, low: 1.4, high: 1.6 });
  const lines = compare(before, after).split("\n");
  assert.match(lines[0], /0 of 2 ratios have not changed/);
  assert.match(lines[2], /^ {2}rows, best peer \/ ours .* 0\.75 {2}worse$/);
  assert.match(lines[3], /^ {2}add, slices of 1, 4 into 8, plan \/ hand .* 0\.44 {2}better$/);
  const near = record({ ratio: 7, low: 6, high: 8.5 }, { ratio: 2.05, low: 1.95, high: 2.2 });
  assert.match(compare(before, near), /2 of 2 ratios have not changed[^\n]*\n$/);
});

test("--compare takes older files, which have only medians", () => {
  const row = {
    name: "rows",
    modes: { new: 10 },
    threads: { 1: 8, 2: 8 },
    peers: { a: 30, b: 20 },
  };
  const older = { machine: { date: "2026-01-01", cpu: "a CPU" }, workloads: [row] };
  const after = record({ ratio: 4, low: 3, high: 5 }, { ratio: 3, low: 2.9, high: 3.1 });
  assert.match(
    compare(older, after),
    /rows, best peer \/ ours +2\.00 +3\.00 \[2\.90-3\.10\] +1\.50 +better/,
  );
});

test("the curve is drawn as XML, for light and dark, with a label at each line", () => {
  const times = { new: 5000, into: 4000, plan: 1000, "hand into": 100, "tfjs wasm": 9000 };
  const points = [1, 16].flatMap((slice) =>
    [4, 1024, 1e7].map((updates) => ({ kind: "add", slice, updates, into: 8, times })),
  );
  const svg: string = drawCurve(points, 'a "CPU" & more <here>');
  assert.equal(parseXml(svg).root?.name, "svg");
  assert.match(svg, /@media \(prefers-color-scheme: dark\)/);
  for (const label of ["new", "into", "kept plan", "hand-written", "tfjs"])
    assert.equal(svg.split(`>${label}</text>`).length - 1, 2, label);
  assert.doesNotMatch(svg, /NaN|undefined/);
});

test("the ratios of native runtimes are their times divided by ours, and missing runtimes are named", () => {
  const times = (first: number, second: number): Record<string, number> => ({
    "ScatterND set 1M scalars": first,
    "GatherND 100k rows of 64": second,
  });
  const ours = { plain: times(2, 4), engine: times(1, 1), "engine, 2 threads": times(1, 1) };
  const missing = ["openvino: No module named 'openvino'"];
  const native = {
    versions: { onnxruntime: "1.32.0" },
    missing,
    wrong: [],
    ours,
    peers: { "onnxruntime 1": times(1, 8), "onnxruntime 2": { "ScatterND set 1M scalars": 3 } },
  };
  const [head, lines] = nativeRows(native);
  assert.equal(head.length, 4);
  const lineOf = (name: string): string[] => lines.find(([own]: string[]) => own === name).slice(1);
  assert.deepEqual(lineOf("ScatterND set 1M scalars"), ["0.50", "1.00", "3.00"]);
  assert.deepEqual(lineOf("GatherND 100k rows of 64"), ["2.00", "8.00", ""]);
  assert.deepEqual(lineOf("geometric mean"), ["1.00", "2.83", "3.00"]);
  assert.match(printNative(native), /not measured: openvino: No module/);
  assert.equal(nativeRows({ ...native, peers: {} }), null);
});
