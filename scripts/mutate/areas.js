/** The areas of the sources, and the drawing of mutants in each area, which depends on a seed alone. */

/** Folders of src/ that share an area with another folder. */
const JOINED = { call: "plan", model: "inspect" };

/** Top folders of src/ that are one area each. In other top folders each subfolder is an area. */
const WHOLE = new Set(["cli", "gpu"]);

/**
 * Returns the area of a source: `assembly`, its top folder, its subfolder there, or `surface` for files without a
 * subfolder.
 */
export function areaOf(file) {
  const [top, room, ...path] = file.split("/");
  if (top === "assembly" || WHOLE.has(room)) return top === "assembly" ? top : room;
  return path.length < 2 ? "surface" : (JOINED[path[0]] ?? path[0]);
}

/** Random numbers in [0, 1) determined by `seed` and `name` alone: 32-bit xorshift. */
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
 * Returns the mutants of each area in the order in which they are drawn. A spot of a source is drawn again only after
 * every spot of its area was drawn once, so that a spot with six possible changes is not drawn six times as often.
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
 * Returns the number of mutants of each area: `count` for each named area, or a share of `count` in proportion to the
 * area's mutants, at least one.
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
