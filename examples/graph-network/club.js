/**
 * The karate club that Wayne Zachary watched from 1970 to 1972: 34 people, the 78 pairs who met outside the club, and the
 * side that each took when it split. Person 1 was the instructor and 34 the officer.
 * See "An Information Flow Model for Conflict and Fission in Small Groups", Journal of Anthropological Research 33, 1977.
 */

export const PEOPLE = 34;

/** For each person the friends with a smaller number. */
const FRIENDS = {
  2: [1],
  3: [1, 2],
  4: [1, 2, 3],
  5: [1],
  6: [1],
  7: [1, 5, 6],
  8: [1, 2, 3, 4],
  9: [1, 3],
  10: [3],
  11: [1, 5, 6],
  12: [1],
  13: [1, 4],
  14: [1, 2, 3, 4],
  17: [6, 7],
  18: [1, 2],
  20: [1, 2],
  22: [1, 2],
  26: [24, 25],
  28: [3, 24, 25],
  29: [3],
  30: [24, 27],
  31: [2, 9],
  32: [1, 25, 26, 29],
  33: [3, 9, 15, 16, 19, 21, 23, 24, 30, 31, 32],
  34: [9, 10, 14, 15, 16, 19, 20, 21, 23, 24, 27, 28, 29, 30, 31, 32, 33],
};

/** Pairs of people, counted from 0. */
export const EDGES = Object.entries(FRIENDS).flatMap(([person, friends]) =>
  friends.map((friend) => [Number(person) - 1, friend - 1]),
);

const WITH_INSTRUCTOR = new Set([1, 2, 3, 4, 5, 6, 7, 8, 9, 11, 12, 13, 14, 17, 18, 20, 22]);

/** -1 for those who stayed with the instructor, and 1 for those who went with the officer. */
export const SIDES = Array.from({ length: PEOPLE }, (_, person) =>
  WITH_INSTRUCTOR.has(person + 1) ? -1 : 1,
);
