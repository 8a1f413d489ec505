/** Joins names in a sentence, for example as "data, indices and updates". */

export const printNames = (names: readonly string[]): string =>
  names.length < 2 ? names.join("") : `${names.slice(0, -1).join(", ")} and ${names.at(-1)}`;
