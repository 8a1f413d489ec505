/** The diagram holds what the story says, and its file is valid XML whatever the text in it is. */

import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { XMLParser, XMLValidator } from "fast-xml-parser";
import { diagramOf, type DiagramGrid, type Diagram } from "../../src/model/diagram.ts";
import { PRESETS } from "../../src/model/presets.ts";
import { explainState } from "../../src/model/read-state.ts";
import type { State } from "../../src/model/state.ts";
import { toSVG } from "../../src/model/svg.ts";
import { states } from "./states.ts";

const diagramOfState = (state: State): Diagram => diagramOf(state, explainState(state).explanation);

const presetOf = (id: string): State => {
  const found = PRESETS.find((one) => one.id === id);
  assert.ok(found, id);
  return found.state;
};

/** The letters in the cells of a grid, row by row. */
const lettersOf = ({ tuples }: Diagram, { slices, columns }: DiagramGrid): string[][] =>
  slices
    .map(({ cells }) => {
      const words = cells.map(
        (cell) => cell.tuples.map((one) => tuples[one].letter).join("") || ".",
      );
      return Array.from({ length: words.length / columns }, (_, row) =>
        words.slice(row * columns, (row + 1) * columns).join(" "),
      ).join(" | ");
    })
    .map((slice) => [slice]);

const lettersIn = (diagram: Diagram, name: string): string[] => {
  const grid = diagram.grids.find((one) => one.name === name);
  assert.ok(grid, name);
  return lettersOf(diagram, grid).flat();
};

test("a scatter: the target of an update has the letter of its tuple", () => {
  const diagram = diagramOfState(presetOf("classic-confusions-axis-0-an-index-is-a-row"));
  assert.equal(diagram.title, "ScatterElements-18");
  assert.deepEqual(
    diagram.grids.map(({ name, type }) => `${name} ${type}`),
    [
      "data float32 [3, 3]",
      "indices int64 [2, 3]",
      "updates float32 [2, 3]",
      "output float32 [3, 3]",
    ],
  );
  assert.deepEqual(lettersIn(diagram, "indices"), ["A B C | D E F"]);
  assert.deepEqual(lettersIn(diagram, "updates"), ["A B C | D E F"]);
  assert.deepEqual(lettersIn(diagram, "output"), ["A E . | . B F | D . C"]);
  assert.deepEqual(lettersIn(diagram, "data"), ["A E . | . B F | D . C"]);
  // The update at [1, 0], D, goes to [2, 0].
  assert.deepEqual(diagram.arrows[3], {
    tuple: 3,
    from: { grid: 2, cell: 3 },
    to: { grid: 3, cell: 6 },
  });
});

test("duplicates: every tuple that reaches a cell, in order", () => {
  const diagram = diagramOfState(presetOf("classic-confusions-duplicates-add-all-of-them-count"));
  assert.equal(diagram.title, "ScatterND-18, reduction = add");
  assert.deepEqual(lettersIn(diagram, "output"), [". . | ABC ABC | . ."]);
  assert.deepEqual(lettersIn(diagram, "updates"), ["A A | B B | C C"]);
});

test("a gather: what is read has the letter of its tuple, and data is beside the output", () => {
  const diagram = diagramOfState(presetOf("classic-confusions-out-of-range-in-gather-8-gives-0"));
  assert.deepEqual(
    diagram.grids.map(({ name }) => name),
    ["indices", "axis", "data", "output"],
  );
  assert.deepEqual(lettersIn(diagram, "data"), [". . . A C"]);
  assert.deepEqual(lettersIn(diagram, "output"), ["A B C"]);
  assert.deepEqual(
    diagram.tuples.map(({ sentence }) => sentence),
    [
      "indices[0] = 3",
      "indices[1] = 7, which is out of range and gives 0",
      "indices[2] = -1, which is 4",
    ],
  );
  assert.deepEqual(
    diagram.arrows.map(({ from, to }) => [from.cell, to.cell]),
    [
      [3, 0],
      [4, 2],
    ],
  );
});

test("a tensor of rank 4 is slices with their places", () => {
  const diagram = diagramOfState(presetOf("classic-confusions-q-1-the-axes-that-count-tuples-2"));
  const grid = diagram.grids.find(({ name }) => name === "updates");
  assert.deepEqual(
    grid?.slices.map(({ label }) => label),
    ["[0, 0, :, :]", "[0, 1, :, :]"],
  );
  assert.deepEqual([grid?.rows, grid?.columns], [2, 3]);
  assert.deepEqual(grid?.slices[1].cells[5], { at: [0, 1, 1, 2], text: "12", tuples: [1] });
});

test("a call that is refused has its inputs, the shapes and the error", () => {
  const diagram = diagramOfState(presetOf("classic-confusions-updates-of-the-wrong-shape"));
  assert.deepEqual(
    diagram.grids.map(({ name }) => name),
    ["data", "indices", "updates"],
  );
  assert.deepEqual(diagram.tuples, []);
  assert.match(diagram.sentences.join("\n"), /\[2\] \+\+ \[4\] = \[2, 4\], got \[2, 3\]/);
});

/** Every text that the file shows. */
function textsOf(svg: string): string[] {
  assert.equal(XMLValidator.validate(svg), true);
  const parser = new XMLParser({ ignoreAttributes: true, parseTagValue: false, trimValues: false });
  const found: string[] = [];
  const visit = (node: unknown): void => {
    if (typeof node === "string") found.push(node);
    else if (typeof node === "object" && node !== null) Object.values(node).forEach(visit);
  };
  visit(parser.parse(svg));
  return found;
}

for (const { id, state } of PRESETS) {
  test(`the file of ${id}`, () => {
    const diagram = diagramOfState(state);
    const texts = textsOf(toSVG(diagram, "light"));
    assert.ok(texts.includes(diagram.title));
    for (const { slices, name } of diagram.grids) {
      assert.ok(texts.includes(name));
      for (const { text } of slices.flatMap(({ cells }) => cells))
        assert.ok(texts.includes(text), text);
    }
  });
}

test("light and dark differ in colours alone", () => {
  const diagram = diagramOfState(PRESETS[0].state);
  const bare = (svg: string): string => svg.replaceAll(/#[0-9a-f]{6}/g, "");
  const [light, dark] = [toSVG(diagram, "light"), toSVG(diagram, "dark")];
  assert.notEqual(light, dark);
  assert.equal(bare(light), bare(dark));
  assert.equal(light, toSVG(diagramOfState(PRESETS[0].state), "light"));
});

test("text is escaped, and nothing in it is run", () => {
  const values = [
    "<script>alert(1)</script>",
    "a & b",
    "\"'",
    "\0\u001f\u007f\ufffe",
    "\ud800",
    "]]>",
    "line\nline",
  ];
  const state: State = {
    domain: "ai.onnx",
    op: "Gather",
    opset: 13,
    attributes: {},
    inputs: [
      { dtype: "string", shape: [7], values },
      { dtype: "int64", shape: [1], values: ["0"] },
    ],
  };
  const svg = toSVG(diagramOfState(state), "dark");
  assert.doesNotMatch(svg, /<script/);
  // The characters that XML 1.0 has.
  assert.match(svg, /^[\t\n\r\u0020-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]*$/u);
  const texts = textsOf(svg);
  assert.ok(texts.includes("a & b") && texts.includes("line⏎line"));
});

test("any state has a diagram whose file is valid, with every cell inside it", () => {
  fc.assert(
    fc.property(states, (state) => {
      const diagram = diagramOfState(state);
      const svg = toSVG(diagram, "light");
      assert.equal(XMLValidator.validate(svg), true);
      assert.doesNotMatch(svg, / (?:x|y|d|width|height|viewBox|transform)="[^"]*[NIu]/);
      const [, width, height] = /width="(\d+)" height="(\d+)"/.exec(svg) ?? [];
      for (const [, x, y, w, h] of svg.matchAll(
        /<rect x="([\d.]+)" y="([\d.]+)" width="([\d.]+)" height="([\d.]+)"/g,
      )) {
        assert.ok(
          Number(x) + Number(w) <= Number(width) && Number(y) + Number(h) <= Number(height),
        );
      }
    }),
    { numRuns: 200 },
  );
});

test("the largest tensors of the page are drawn in less than 20 s", () => {
  const values = Array.from({ length: 20_000 }, (_, i) => String(i % 200));
  const state: State = {
    domain: "ai.onnx",
    op: "GatherElements",
    opset: 13,
    attributes: {},
    inputs: [
      { dtype: "float32", shape: [200, 100], values },
      { dtype: "int64", shape: [200, 100], values },
    ],
  };
  const start = performance.now();
  const diagram = diagramOfState(state);
  assert.equal(diagram.arrows.length, 0);
  assert.ok(toSVG(diagram, "light").length > 1_000_000);
  // It takes half a second.
  assert.ok(performance.now() - start < 20_000);
});
