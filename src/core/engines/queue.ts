/**
 * Runs tasks one at a time, in the order in which they were enqueued. All asynchronous calls of an engine use one
 * queue, regardless of their size, so they take effect as if each had been awaited.
 */

export class Queue {
  #pending = 0;
  /** Promise that is fulfilled when the last task has ended, even if the task failed. */
  #tail: Promise<void> = Promise.resolve();

  /** Runs `task` when all earlier tasks have ended. If no task is pending, `task` starts before `enqueue` returns. */
  enqueue<T>(task: () => Promise<T>): Promise<T> {
    const earlier = this.#pending++;
    const result = earlier === 0 ? task() : this.#tail.then(task);
    const end = (): void => void this.#pending--;
    this.#tail = result.then(end, end);
    return result;
  }

  /** Runs `action` when all pending tasks have ended; immediately if no task is pending. */
  afterPending(action: () => void): void {
    if (this.#pending === 0) action();
    else void this.enqueue(async () => action());
  }
}
