/** What a conversion is done with: one record for the model, one for each graph in it. */

import type { Model } from "../model/model.ts";
import type { Scope } from "../model/values.ts";
import type { Additions } from "./additions.ts";
import type { ConversionLog } from "./log.ts";
import type { Names } from "./names.ts";
import type { CheckedTarget } from "./target.ts";

export interface ModelContext {
  readonly model: Model;
  readonly target: CheckedTarget;
  readonly names: Names;
  readonly log: ConversionLog;
}

export interface GraphContext {
  readonly target: CheckedTarget;
  /** What is known of the values that were made so far. */
  readonly scope: Scope;
  readonly additions: Additions;
  /** Whether what cannot be checked is left as it is. */
  readonly force: boolean;
}
