/** Runs asynchronous calls at the same time. */

/**
 * Calls `action` for each item, with at most `limit` calls at a time. After an error, no further calls begin, and the
 * error is thrown when all running calls have ended. A call gets the number of its lane, in which calls follow each
 * other.
 */
export async function inParallel<T>(
  items: Iterable<T>,
  limit: number,
  action: (item: T, lane: number) => Promise<void>,
): Promise<void> {
  const iterator = items[Symbol.iterator]();
  const failures: unknown[] = [];
  const work = async (lane: number): Promise<void> => {
    for (let next = iterator.next(); next.done !== true; next = iterator.next()) {
      try {
        await action(next.value, lane);
      } catch (error) {
        failures.push(error);
      }
      if (failures.length > 0) return;
    }
  };
  await Promise.all(Array.from({ length: limit }, (_, lane) => work(lane)));
  if (failures.length > 0) throw failures[0];
}
