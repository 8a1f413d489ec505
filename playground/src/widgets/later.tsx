/** Loads parts of the page when they are first used. */

import type { JSX } from "preact";
import { useEffect, useState } from "preact/hooks";

type Part<P> = (props: P) => JSX.Element;

/** Returns a component that loads another component and shows it. */
export const later = <P extends object>(load: () => Promise<Part<P>>): Part<P> =>
  function Later(props) {
    const [found, setFound] = useState<{ readonly Part: Part<P> } | string | null>(null);
    useEffect(() => {
      load().then(
        (Part) => setFound({ Part }),
        () =>
          setFound(
            "This part of the page could not be loaded; reload the page when you are online.",
          ),
      );
    }, []);
    if (found === null) return <p class="hint">loading …</p>;
    if (typeof found === "string") return <p class="faults">{found}</p>;
    return <found.Part {...props} />;
  };
