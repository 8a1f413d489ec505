/**
 * What the page loads when somebody asks why another result is different. It is loaded with `import()` only: the diagnosis
 * is a sixth of the library, and nobody needs it for the first picture.
 */

export {
  compareActual,
  compareShape,
  fitActual,
  isOfType,
  isResultOf,
  outputTypeOf,
  readActual,
  type Actual,
  type Cause,
  type Comparison,
  type OutputType,
  type ReadActual,
} from "./actual.ts";
export { ruleFor, rulesOf, type Rule, type RuleChoice, type Rules } from "./dialect-view.ts";
export { firstBeside, isDialect, rowsOf, sideBySide, type SideBySide } from "./side-by-side.ts";
export { sidePicture } from "./side-picture.ts";
export { printCompared, readCompared } from "./compared-link.ts";
