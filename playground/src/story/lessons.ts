/** The lessons listed in Help. Lesson sentences are in `lesson-texts.ts`, which is loaded with the first lesson. */

/** The lesson titles, each with its example. */
export const LESSONS: readonly { readonly title: string; readonly preset: string }[] = [
  { title: "Scatter", preset: "first" },
  { title: "Gather", preset: "start-gather" },
  { title: "Elements", preset: "start-elements" },
  { title: "Batches", preset: "start-batches" },
];

/** Returns the lessons about examples other than the current example. */
export const otherLessons = (preset: string | null): typeof LESSONS =>
  LESSONS.filter((one) => one.preset !== preset);
