/**
 * What the page loads when somebody asks why another result is different. It is loaded with `import()` only: the diagnosis
 * is a sixth of the library, and nobody needs it for the first picture.
 */

export {
  compareActual,
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
