/** Checks whether the visitor's system requests reduced motion. */
export const isCalm = (): boolean => matchMedia("(prefers-reduced-motion: reduce)").matches;
