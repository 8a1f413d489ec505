/** Hook that compresses a link while the link is shown. */

import { useEffect, useState } from "preact/hooks";
import { packed } from "./link.ts";

/**
 * Returns the shorter form of a link, or the link itself until it is compressed. Both forms of the link open the same
 * call.
 */
export function usePacked(hash: string): string {
  const [found, setFound] = useState({ hash, link: hash });
  useEffect(() => {
    let isLatest = true;
    void packed(hash).then(
      (link) => isLatest && link !== hash && setFound({ hash, link }),
      // Without compression, the link is longer but still valid.
      () => null,
    );
    return () => {
      isLatest = false;
    };
  }, [hash]);
  return found.hash === hash ? found.link : hash;
}
