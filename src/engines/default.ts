/** The one engine behind the package's functions, made when it is first needed: the only state of the package. */

import type { Executor } from "./executor.ts";
import { createJs } from "./js.ts";

let executor: Executor | undefined;

export const defaultExecutor = (): Executor => (executor ??= createJs());
