/** Returns the first sentence of a text, or the first two if the first sentence is too short to be useful. */
export function openingOf(text: string): string {
  const [first, second = ""] = text.split(/(?<=\.)\s+/);
  return first.length < 60 && second !== "" ? `${first} ${second}` : first;
}
