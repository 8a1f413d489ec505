/** The panel "Why is mine different?" as the page places it: what it needs is loaded when it is opened first. */

import type { JSX } from "preact";
import { useEffect, useState } from "preact/hooks";
import type { WhyProps } from "./why-state.ts";

type Loaded = typeof import("./why.tsx");

export function WhyPanel(props: WhyProps): JSX.Element {
  const [loaded, setLoaded] = useState<Loaded | "failed" | null>(null);
  useEffect(() => {
    import("./why.tsx").then(setLoaded, () => setLoaded("failed"));
  }, []);
  if (loaded !== null && loaded !== "failed") return <loaded.Why {...props} />;
  return (
    <section class="why" aria-label="Why is mine different?" aria-busy={loaded === null}>
      {loaded === "failed" && (
        <p role="alert">This part of the page could not be loaded. Close it, and open it again.</p>
      )}
      <div class="why-buttons">
        <button type="button" onClick={props.onClose}>
          Close
        </button>
      </div>
    </section>
  );
}
