/** The one engine behind the package's functions, made when it is first needed: the only state of the package. */

import { createExecutor } from "./choice.ts";
import type { Executor } from "./executor.ts";

let executor: Executor | undefined;

export const defaultExecutor = (): Executor => (executor ??= createExecutor("auto"));
