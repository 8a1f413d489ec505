/** The engine behind the package's plain functions, made when it is first needed. */

import { chooseExecutor } from "./choice.ts";
import type { Executor } from "./executor.ts";

let executor: Executor | undefined;

export const defaultExecutor = (): Executor => (executor ??= chooseExecutor("auto").executor);
