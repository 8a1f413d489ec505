/** The state of a conversion: one record for the model, and one for each of its graphs. */

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
  /** The types and constants of the values computed so far. */
  readonly scope: Scope;
  readonly additions: Additions;
  /** True if nodes that cannot be checked are left unchanged. */
  readonly force: boolean;
}
