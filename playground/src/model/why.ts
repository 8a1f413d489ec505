/**
 * What the page loads when somebody asks why another result is different. It is imported with `import()` only: the
 * diagnosis is a sixth of the library, and nobody needs it for the first picture.
 */

export { compareActual, fitActual, readActual } from "./actual.ts";
export { ruleFor, rulesOf } from "./dialect-view.ts";
