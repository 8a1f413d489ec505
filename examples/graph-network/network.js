/**
 * A graph network of two layers, which learns the sides of all people from those of two. Everything is exact arithmetic of
 * IEEE 754 in a fixed order, so the weights are the same bits in every runtime and with any number of threads.
 */

import { EDGES, PEOPLE, SIDES } from "./club.js";

const HIDDEN = 8;
const STEPS = 200;
const RATE = 0.5;
/** The instructor and the officer, whose sides are known. */
const KNOWN = [0, 33];

/** Each pair in both directions: who is heard, and who hears. */
const FROM = EDGES.flatMap(([a, b]) => [a, b]);
const TO = EDGES.flatMap(([a, b]) => [b, a]);

/** The mean of what a person and the friends say; one Plan each for hearing and for meaning, in both directions. */
function meanOfFriends(engine, width) {
  const heard = engine.planGather([PEOPLE, width], FROM);
  const means = engine.planScatterND([PEOPLE, width], TO.map((person) => [person])); // prettier-ignore
  const reduction = "mean";
  const messages = engine.alloc("float32", heard.shape);
  return {
    forward(said, out) {
      heard.gather(said, { out: messages });
      return means.scatter(said, messages, { reduction, out });
    },
    /** The gradient of what was said, from that of the means. */
    backward(said, gradient) {
      const [own, sent] = means.scatterVjp(said, messages, gradient, { reduction });
      const total = heard.gatherVjp(sent);
      for (let at = 0; at < total.size; at++) total.data[at] += own.data[at];
      return total;
    },
  };
}

/**
 * Trains the network.
 * @param {import("ndscatter").Engine} engine
 * @returns the weights of both layers, the last score of each person, and how many are on the right side by it
 */
export function train(engine) {
  const alloc = (...shape) => engine.alloc("float32", shape);
  const [inner, outer] = [meanOfFriends(engine, HIDDEN), meanOfFriends(engine, 1)];
  // A person is known by the number alone, so the first weights are what each person says.
  const first = alloc(PEOPLE, HIDDEN);
  const second = alloc(HIDDEN, 1);
  let seed = 1977;
  for (const { data } of [first, second]) {
    for (let at = 0; at < data.length; at++) {
      seed = (Math.imul(seed, 1664525) + 1013904223) >>> 0;
      data[at] = (seed >>> 8) / 2 ** 24 - 0.5;
    }
  }
  const [hidden, said, scores] = [alloc(PEOPLE, HIDDEN), alloc(PEOPLE, 1), alloc(PEOPLE, 1)];
  const [ofScores, ofHidden] = [alloc(PEOPLE, 1), alloc(PEOPLE, HIDDEN)];
  for (let step = 0; step < STEPS; step++) {
    inner.forward(first, hidden);
    for (let person = 0; person < PEOPLE; person++) {
      let sum = 0;
      for (let h = 0; h < HIDDEN; h++) {
        sum += Math.max(0, hidden.data[person * HIDDEN + h]) * second.data[h];
      }
      said.data[person] = sum;
    }
    outer.forward(said, scores);

    // Backwards. The loss is half the square of what is missing to the known sides.
    for (const person of KNOWN) ofScores.data[person] = scores.data[person] - SIDES[person];
    const ofSaid = outer.backward(said, ofScores);
    const ofSecond = new Float64Array(HIDDEN);
    for (let at = 0; at < hidden.size; at++) {
      const [person, h] = [Math.floor(at / HIDDEN), at % HIDDEN];
      const isActive = hidden.data[at] > 0;
      ofHidden.data[at] = isActive ? ofSaid.data[person] * second.data[h] : 0;
      if (isActive) ofSecond[h] += hidden.data[at] * ofSaid.data[person];
    }
    const ofFirst = inner.backward(first, ofHidden);
    for (let at = 0; at < first.size; at++) first.data[at] -= RATE * ofFirst.data[at];
    for (let h = 0; h < HIDDEN; h++) second.data[h] -= RATE * ofSecond[h];
  }
  const right = SIDES.filter((side, person) => Math.sign(scores.data[person]) === side).length;
  return { weights: [first, second], scores, right };
}
