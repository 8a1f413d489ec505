/** The areas of the sources, and which mutants of each are drawn: a seed decides, and nothing else does. */

/** Folders of src/ that are one area with another. */
const JOINED = { call: "plan", model: "inspect" };

/** Rooms that are one area each. In the others a folder is an area. */
const WHOLE = new Set(["cli", "gpu"]);

/** The area of a source: `assembly`, its room, its folder in the room, or `surface` for files that lie in none. */
export function areaOf(file) {
  const [top, room, ...path] = file.split("/");
  if (top === "assembly" || WHOLE.has(room)) return top === "assembly" ? top : room;
  return path.length < 2 ? "surface" : (JOINED[path[0]] ?? path[0]);
}

/** Numbers in [0, 1) that follow from `seed` and `name` alone: xorshift of 32 bits. */
function randomOf(seed, name) {
  let state = Math.imul(seed, 0x9e3779b1) | 1;
  const next = () => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return (state >>> 0) / 2 ** 32;
  };
  for (const letter of name) {
    state = (state ^ letter.codePointAt(0)) | 1;
    next();
  }
  return next;
}

/**
 * The mutants of each area in the order in which they are drawn. No spot of a source comes a second time before each
 * spot of its area came once, so that a spot that can change in six ways is not drawn six times as often.
 */
export function inOrder(mutants, seed) {
  const areas = new Map();
  for (const mutant of mutants) {
    if (!areas.has(mutant.area)) areas.set(mutant.area, []);
    areas.get(mutant.area).push(mutant);
  }
  for (const [area, list] of areas) areas.set(area, shuffled(list, randomOf(seed, area)));
  return new Map([...areas].sort(([a], [b]) => (a < b ? -1 : 1)));
}

function shuffled(mutants, random) {
  const keyed = mutants.map((mutant) => ({ mutant, key: random(), turn: 0 }));
  keyed.sort((a, b) => a.key - b.key);
  const turns = new Map();
  for (const one of keyed) {
    const spot = `${one.mutant.file}:${one.mutant.site.start}:${one.mutant.site.end}`;
    one.turn = turns.get(spot) ?? 0;
    turns.set(spot, one.turn + 1);
  }
  keyed.sort((a, b) => a.turn - b.turn || a.key - b.key);
  return keyed.map(({ mutant }) => mutant);
}

/**
 * How many mutants each area gets: `count` each for the areas that were named, or `count` shared by all areas in
 * proportion to their mutants, but at least one.
 */
export function shares(pools, count, named) {
  if (named.length > 0) return new Map(named.map((area) => [area, count]));
  const sizes = [...pools].map(([area, mutants]) => [area, mutants.length]);
  const total = sizes.reduce((sum, [, size]) => sum + size, 0);
  const exact = sizes.map(([area, size]) => ({ area, part: (count * size) / total }));
  const given = new Map(exact.map(({ area, part }) => [area, Math.max(1, Math.floor(part))]));
  let rest = count - [...given.values()].reduce((sum, one) => sum + one, 0);
  for (const { area } of exact.sort((a, b) => (b.part % 1) - (a.part % 1))) {
    if (rest <= 0) break;
    given.set(area, given.get(area) + 1);
    rest--;
  }
  return given;
}
