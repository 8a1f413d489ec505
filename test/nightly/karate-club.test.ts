/**
 * The example that learns: the same weights on every engine, and in Python, which does the same arithmetic by its own
 * loops over pairs and knows no Plan.
 */

import assert from "node:assert/strict";
import * as path from "node:path";
import { test } from "node:test";
import { pathToFileURL } from "node:url";
import type { Engine } from "../../src/core/create-engine.ts";
import { equals } from "../../src/core/tensor/compare.ts";
import type { Tensor } from "../../src/core/tensor/tensor.ts";
import { ROOT } from "../support/documents.ts";
import { ENGINES } from "../support/engines.ts";
import { hasPython, runPython } from "../support/python.ts";

interface Trained {
  readonly weights: readonly Tensor<"float32">[];
  readonly right: number;
}

const folder = path.join(ROOT, "examples/graph-network");
const load = (file: string): Promise<never> =>
  import(pathToFileURL(path.join(folder, file)).href) as Promise<never>;
const { train } = (await load("network.js")) as { train: (engine: Engine) => Trained };
const { EDGES, SIDES } = (await load("club.js")) as { EDGES: number[][]; SIDES: number[] };

const PROGRAM = `
import json, struct, sys
edges, sides = json.loads(sys.argv[1])
PEOPLE, HIDDEN, STEPS, RATE = 34, 8, 200, 0.5
def f32(x): return struct.unpack("<f", struct.pack("<f", x))[0]
friends = [[] for _ in range(PEOPLE)]
for a, b in edges:
    friends[b].append(a)
    friends[a].append(b)
def means(said):
    made = []
    for person in range(PEOPLE):
        row = list(said[person])
        for friend in friends[person]:
            row = [f32(x + y) for x, y in zip(row, said[friend])]
        made.append([f32(x / (1 + len(friends[person]))) for x in row])
    return made
def means_backward(gradient):
    shares = [[f32(x / (1 + len(friends[p]))) for x in gradient[p]] for p in range(PEOPLE)]
    total = [[0.0] * len(gradient[0]) for _ in range(PEOPLE)]
    for a, b in edges:
        for speaker, hearer in ((a, b), (b, a)):
            total[speaker] = [f32(x + y) for x, y in zip(total[speaker], shares[hearer])]
    return [[f32(x + y) for x, y in zip(total[p], shares[p])] for p in range(PEOPLE)]
seed = 1977
def draw():
    global seed
    seed = (seed * 1664525 + 1013904223) % 2 ** 32
    return f32((seed >> 8) / 2 ** 24 - 0.5)
first = [[draw() for _ in range(HIDDEN)] for _ in range(PEOPLE)]
second = [draw() for _ in range(HIDDEN)]
for step in range(STEPS):
    hidden = means(first)
    said = []
    for p in range(PEOPLE):
        total = 0.0
        for h in range(HIDDEN):
            total += max(0.0, hidden[p][h]) * second[h]
        said.append([f32(total)])
    scores = means(said)
    of_scores = [[f32(scores[p][0] - sides[p]) if p in (0, 33) else 0.0] for p in range(PEOPLE)]
    of_said = means_backward(of_scores)
    of_second, of_hidden = [0.0] * HIDDEN, []
    for p in range(PEOPLE):
        row = []
        for h in range(HIDDEN):
            active = hidden[p][h] > 0
            row.append(f32(of_said[p][0] * second[h]) if active else 0.0)
            if active: of_second[h] += hidden[p][h] * of_said[p][0]
        of_hidden.append(row)
    of_first = means_backward(of_hidden)
    first = [[f32(x - RATE * g) for x, g in zip(first[p], of_first[p])] for p in range(PEOPLE)]
    second = [f32(x - RATE * g) for x, g in zip(second, of_second)]
print(struct.pack("<%df" % (PEOPLE * HIDDEN + HIDDEN), *[x for row in first for x in row], *second).hex())
`;

test("the network learns nearly all sides from two, with the same weights on every engine", () => {
  const [one, ...others] = Object.entries(ENGINES).map(([name, engine]) => ({
    name,
    ...train(engine),
  }));
  assert.ok(one.right >= 32, `${one.right} are right`);
  assert.ok(others.length >= 2);
  for (const { name, weights } of others) {
    for (const [layer, own] of weights.entries()) assert.ok(equals(own, one.weights[layer]), name);
  }
});

const skip = hasPython("struct") ? false : "there is no python3";

test("Python's weights have the same bits", { skip }, () => {
  const { weights } = train(Object.values(ENGINES)[0]);
  const ours = Buffer.concat(
    weights.map(({ data }) => Buffer.from(data.buffer, data.byteOffset, data.byteLength)),
  );
  const printed = runPython(PROGRAM, [JSON.stringify([EDGES, SIDES])]).trim();
  assert.equal(printed, ours.toString("hex"));
});

test("the club has 34 people, 78 pairs, and the two it is about have the most friends", () => {
  const friends = Array.from({ length: 34 }, () => 0);
  for (const pair of EDGES) for (const person of pair) friends[person]++;
  assert.equal(new Set(EDGES.map(String)).size, 78);
  assert.deepEqual([friends[33], friends[0], friends[32]], [17, 16, 12]);
  assert.equal(SIDES.filter((side) => side === -1).length, 17);
});
