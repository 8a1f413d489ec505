/** The hook of a link that is compressed while it is shown. */

import { useEffect, useState } from "preact/hooks";
import { packed } from "./pack-link.ts";

/** The shorter form of a link; the link itself until the browser has compressed it. Both open the same call. */
export function usePacked(hash: string): string {
  const [found, setFound] = useState({ hash, link: hash });
  useEffect(() => {
    let isLatest = true;
    void packed(hash).then(
      (link) => isLatest && link !== hash && setFound({ hash, link }),
      // The link is then longer than it could be.
      () => null,
    );
    return () => {
      isLatest = false;
    };
  }, [hash]);
  return found.hash === hash ? found.link : hash;
}
