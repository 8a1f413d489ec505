/** Chooses the seed of a run and prints it; `scripts/seed.js` does the same before the tests are compiled. */

const { announceSeed: announce }: { announceSeed(command: string): void } = await import(
  new URL("../../../scripts/seed.js", import.meta.url).href
);

export { announce as announceSeed };
