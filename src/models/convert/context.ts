/** The state of a conversion: one record for the model, and one record per graph. */

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
  readonly scope: Scope;
  readonly additions: Additions;
  /** True if `force` lets nodes stay unchanged when the conversion cannot check them. */
  readonly force: boolean;
}
