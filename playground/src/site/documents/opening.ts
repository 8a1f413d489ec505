/** The first sentence of a text; two where the first says little by itself. */
export function openingOf(text: string): string {
  const [first, second = ""] = text.split(/(?<=\.)\s+/);
  return first.length < 60 && second !== "" ? `${first} ${second}` : first;
}
