/**
 * The code that is loaded when the user asks why another result differs. This module must be loaded with `import()`,
 * because the diagnosis is a sixth of the library and the first drawing does not need it.
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
export {
  firstBeside,
  isDialect,
  rowsOf,
  sentenceOf,
  sideBySide,
  type Given,
  type SideBySide,
} from "./side-by-side.ts";
export { sideScene } from "./side-picture.ts";
export { printCompared, readCompared } from "./compared-link.ts";
