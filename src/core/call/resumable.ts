/**
 * Work in steps between which a caller may have to wait: a generator that yields what the actions of a session return,
 * so that one text serves synchronous and asynchronous calls.
 */

import type { Executor, Session } from "../engines/executor.ts";
import type { ErrorFields } from "../errors.ts";
import { named } from "./execute.ts";

/** `Done` is what the actions of its session return. */
export type Resumable<Done, T> = Generator<Done, T, void>;

/** The result of work whose steps are done when they return. */
export function finish<T>(work: Resumable<void, T>): T {
  let step = work.next();
  while (step.done !== true) step = work.next();
  return step.value;
}

/**
 * The result of work whose steps may go on after they return.
 * @param check throws if the memory of a tensor is gone: while a step is pending, its user may transfer it
 */
export async function finishAsync<T>(
  executor: Executor,
  fields: ErrorFields,
  check: () => void,
  begin: (session: Session<Promise<void> | void>) => Resumable<Promise<void> | void, T>,
): Promise<T> {
  const session = executor.beginAsync();
  try {
    check();
    const work = begin(session);
    let since = performance.now();
    let step = work.next();
    while (step.done !== true) {
      // A step that is done on this thread may have been long enough for a pause.
      const pending = step.value ?? pauseAfter(since);
      if (pending !== undefined) {
        // oxlint-disable-next-line no-await-in-loop -- steps are done one after the other
        await pending;
        since = performance.now();
        check();
      }
      step = work.next();
    }
    return step.value;
  } catch (error) {
    throw named(error, fields);
  } finally {
    session.end();
  }
}

/** Time in ms after which work on this thread lets others have their turn: half of a frame of a page. */
const TURN = 8;

/** A promise that lets timers, events and frames have their turn; undefined if they had it less than a turn ago. */
function pauseAfter(since: number): Promise<void> | undefined {
  if (performance.now() - since < TURN) return undefined;
  return new Promise((resolve) => void setTimeout(resolve));
}
