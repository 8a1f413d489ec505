/** Hook for what is loaded or computed later. */

import { useEffect, useState } from "preact/hooks";

/**
 * Returns what `load` gives for a key; null before, after a failure, and as soon as the key changes. `load` returns null
 * if nothing is needed.
 */
export function useResolved<T>(key: unknown, load: () => Promise<T> | null): T | null {
  const [found, setFound] = useState<{ readonly key: unknown; readonly value: T } | null>(null);
  useEffect(() => {
    let isLatest = true;
    const take = (value: T): void => {
      if (isLatest) setFound({ key, value });
    };
    void load()?.then(take, () => null);
    return () => {
      isLatest = false;
    };
  }, [key]);
  return found !== null && found.key === key ? found.value : null;
}
