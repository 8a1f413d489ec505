/** The engine that the package's plain functions use, created when it is first needed. */

import { chooseExecutor } from "./choice.ts";
import type { Executor } from "./executor.ts";

let executor: Executor | undefined;

export const defaultExecutor = (): Executor => (executor ??= chooseExecutor("auto").executor);
