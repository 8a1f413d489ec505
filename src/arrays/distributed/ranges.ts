/** Converts lists of task numbers to and from text such as `0-3,7`, for job data, job names and Slurm. */

/** Divides an ascending list into runs, each with its first and last number. */
function runsOf(numbers: readonly number[]): [number, number][] {
  const runs: [number, number][] = [];
  for (const number of numbers) {
    const last = runs.at(-1);
    if (last?.[1] === number - 1) last[1] = number;
    else runs.push([number, number]);
  }
  return runs;
}

/** Prints an ascending list as text. */
export const printNumbers = (numbers: readonly number[]): string =>
  runsOf(numbers)
    .map(([first, last]) => (first === last ? `${first}` : `${first}-${last}`))
    .join(",");

/** Parses a list of numbers, or returns null if the text is malformed or has more than `most` numbers. */
export function parseNumbers(text: string, most: number): number[] | null {
  if (!/^\d{1,15}(-\d{1,15})?(,\d{1,15}(-\d{1,15})?)*$/.test(text)) return null;
  const numbers: number[] = [];
  for (const part of text.split(",")) {
    const [first = 0, last = first] = part.split("-").map(Number);
    if (last < first || numbers.length + (last - first) >= most) return null;
    for (let number = first; number <= last; number++) numbers.push(number);
  }
  return numbers;
}

/** Splits a list into parts of the given length, except for a shorter last part. */
export const inParts = (numbers: readonly number[], length: number): (readonly number[])[] =>
  Array.from({ length: Math.ceil(numbers.length / length) }, (_, part) =>
    numbers.slice(part * length, (part + 1) * length),
  );
