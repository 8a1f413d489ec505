/**
 * The colours of targets: in both themes any two are far enough apart, also for people with the common kinds of colour
 * blindness. Distances are in OKLab, where about 0.02 is the smallest difference that is seen between areas side by side.
 */

import assert from "node:assert/strict";
import fs from "node:fs";
import path from "node:path";
import { test } from "node:test";
import { HUES } from "../../src/cells/targets.ts";
import { THEMES } from "../../src/writing/svg-text.ts";

type Triple = readonly [number, number, number];

const timesRows = (rows: readonly Triple[], [x, y, z]: Triple): Triple => {
  const [a, b, c] = rows.map(([p, q, r]) => p * x + q * y + r * z);
  return [a, b, c];
};

/** Linear light of a colour such as `#56b4e9`. */
function lightOf(hex: string): Triple {
  const [red, green, blue] = [1, 3, 5].map((at) => {
    const part = Number.parseInt(hex.slice(at, at + 2), 16) / 255;
    return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
  });
  return [red, green, blue];
}

// Björn Ottosson's OKLab, and the matrices of Machado, Oliveira and Fernandes (2009) for full severity.
// prettier-ignore
const TO_CONES: readonly Triple[] = [
  [0.4122214708, 0.5363325363, 0.0514459929], [0.2119034982, 0.6806995451, 0.1073969566], [0.0883024619, 0.2817188376, 0.6299787005],
];
// prettier-ignore
const TO_LAB: readonly Triple[] = [
  [0.2104542553, 0.793617785, -0.0040720468], [1.9779984951, -2.428592205, 0.4505937099], [0.0259040371, 0.7827717662, -0.808675766],
];
// prettier-ignore
const EYES: readonly (readonly [who: string, least: number, seen: readonly Triple[]])[] = [
  ["most people", 0.15, [[1, 0, 0], [0, 1, 0], [0, 0, 1]]],
  ["deuteranopes", 0.06, [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.01182, 0.04294, 0.968881]]],
  ["protanopes", 0.06, [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]]],
];

function labOf(hex: string, seen: readonly Triple[]): Triple {
  const [red, green, blue] = timesRows(seen, lightOf(hex)).map((part) =>
    Math.max(0, Math.min(1, part)),
  );
  const [long, medium, short] = timesRows(TO_CONES, [red, green, blue]).map(Math.cbrt);
  return timesRows(TO_LAB, [long, medium, short]);
}

for (const theme of ["light", "dark"] as const) {
  for (const [who, least, seen] of EYES) {
    test(`${who} can tell any two colours of the ${theme} theme apart`, () => {
      const hues = THEMES[theme].hues.slice(0, HUES);
      const labs = hues.map((hue) => labOf(hue, seen));
      for (const [number, one] of labs.entries()) {
        for (const [other, two] of labs.slice(0, number).entries()) {
          const distance = Math.hypot(...one.map((part, i) => part - two[i]));
          assert.ok(distance >= least, `${hues[other]} and ${hues[number]}: ${distance}`);
        }
      }
    });
  }
}

test("the page and saved pictures have the same colours", () => {
  // Each test file is bundled into playground/build/model/.
  const file = path.join(import.meta.dirname, "..", "..", "src", "widgets", "tokens.css");
  const pairs = [
    ...fs.readFileSync(file, "utf8").matchAll(/--hue-\d: light-dark\((#\w+), (#\w+)\)/g),
  ];
  assert.deepEqual(
    pairs.map(([, light]) => light),
    THEMES.light.hues,
  );
  assert.deepEqual(
    pairs.map(([, , dark]) => dark),
    THEMES.dark.hues,
  );
});
