/** The lessons that Help offers. What they say is in `lesson-texts.ts`, which is loaded with the first lesson. */

/** Each with the example that it is about. */
export const LESSONS: readonly { readonly title: string; readonly preset: string }[] = [
  { title: "Scatter", preset: "first" },
  { title: "Gather", preset: "start-gather" },
  { title: "Elements", preset: "start-elements" },
  { title: "Batches", preset: "start-batches" },
];

/** The lessons about other examples than the one that is shown. */
export const otherLessons = (preset: string | null): typeof LESSONS =>
  LESSONS.filter((one) => one.preset !== preset);
