/**
 * The panel "Why is mine different?": takes what another runtime gave, names the cells that differ and what may be the
 * cause, and lists what other systems make of the call. It tells the page what to show; it draws no tensors itself.
 */

import type { JSX } from "preact";
import { useLayoutEffect, useRef } from "preact/hooks";
import type { Actual, Comparison } from "./on-demand.ts";
import { ActualForm } from "./why-form.tsx";
import { Causes, OtherSystems } from "./why-lists.tsx";
import { useWhy, type WhyProps } from "./use-why.ts";

export function Why(props: WhyProps): JSX.Element {
  const { state, onClose } = props;
  const why = useWhy(props);
  const { found, pressing } = why;
  const { actual = null, comparison = null } = found ?? {};
  return (
    <section
      class="why"
      aria-label="Why is mine different?"
      aria-busy={found?.state !== state}
      data-tensor="actual"
      onKeyDown={(event) => event.key === "Escape" && onClose()}
    >
      <Head onClose={onClose} />
      <ActualForm {...why} error={found?.error ?? null} />
      <div role="status">
        {actual !== null && comparison !== null && (
          <Result actual={actual} comparison={comparison} />
        )}
      </div>
      {found !== null && comparison !== null && (
        <Causes comparison={comparison} rules={found.rules} pressing={pressing} />
      )}
      {found !== null && (
        <OtherSystems rules={found.rules} comparison={comparison} pressing={pressing} />
      )}
    </section>
  );
}

function Head({ onClose }: { onClose(): void }): JSX.Element {
  const heading = useRef<HTMLHeadingElement>(null);
  useLayoutEffect(() => {
    const { activeElement: before } = document;
    const panel = heading.current?.closest("section");
    heading.current?.focus();
    // The element that opened the panel gets the focus back, as after a dialog. The panel still stands at this moment; in
    // some browsers the button that closes it has no focus.
    return () => {
      const { activeElement: now } = document;
      const isLost = now === document.body || panel?.contains(now) === true;
      if (isLost && before instanceof HTMLElement) before.focus();
    };
  }, []);
  return (
    <header>
      <h2 ref={heading} tabIndex={-1}>
        Why is mine different?
      </h2>
      <button type="button" class="why-close" aria-label="Close" onClick={onClose}>
        ×
      </button>
    </header>
  );
}

interface ResultProps {
  readonly actual: Actual;
  readonly comparison: Comparison;
}

function Result({
  actual,
  comparison: { sentences, first, causes, differing },
}: ResultProps): JSX.Element {
  const [verdict, ...others] = sentences;
  return (
    <>
      <p class="why-verdict">{verdict}</p>
      {first !== null && (
        <p>
          The first is <code>output[{first.at.join(", ")}]</code>: <code>{first.actual}</code> in
          yours
          {first.exact === null ? (
            ", and it has no exact value."
          ) : (
            <>
              , <code>{first.exact}</code> here.
            </>
          )}
        </p>
      )}
      {[...others, ...actual.remarks].map((sentence) => (
        <p class="why-soft" key={sentence}>
          {sentence}
        </p>
      ))}
      {differing.size > 0 && causes.length === 0 && (
        <p>Nothing that is known explains these cells.</p>
      )}
    </>
  );
}
