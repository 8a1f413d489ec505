/** True if the visitor asked the system for less motion. */
export const isCalm = (): boolean => matchMedia("(prefers-reduced-motion: reduce)").matches;
