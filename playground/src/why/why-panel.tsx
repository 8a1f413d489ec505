/**
 * The panel "Why is mine different?" accepts another runtime's output, and lists differing cells, candidate causes, and
 * other systems' results. The page draws the tensors; the panel only chooses which tensors to draw.
 */

import type { JSX } from "preact";
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import { toHash } from "../document/hash.ts";
import { Dialog } from "../widgets/dialog.tsx";
import { printCompared, type Actual, type Comparison } from "./on-demand.ts";
import { SideView } from "./side-view.tsx";
import { ActualForm } from "./why-form.tsx";
import { Causes, OtherSystems } from "./why-lists.tsx";
import { useWhy, type WhyProps } from "./use-why.ts";

export function Why(props: WhyProps): JSX.Element {
  const { state, explanation, asked, act } = props.session;
  const onClose = (): void => act({ do: "show", asked: undefined });
  const why = useWhy(props);
  const { found, pressing, beside, onBeside } = why;
  const { actual = null, comparison = null } = found ?? {};
  // A link that contains a comparison opens the comparison immediately.
  const [isBeside, setBeside] = useState(asked?.link !== undefined);
  const canStand =
    found !== null && comparison !== null && !comparison.isOtherShape && actual !== null;
  return (
    <section
      class="why stack"
      aria-label="Why is mine different?"
      aria-busy={found?.state !== state}
      data-tensor="actual"
      // Escape closes only the dialog, not the panel behind it.
      onKeyDown={(event) => event.key === "Escape" && !isBeside && onClose()}
    >
      <Head onClose={onClose} />
      <ActualForm {...why} session={props.session} error={found?.error ?? null} />
      <Result actual={actual} comparison={comparison} />
      {canStand && (
        <div class="row">
          <button type="button" class="main" aria-haspopup="dialog" onClick={() => setBeside(true)}>
            Side by side, link and picture
          </button>
        </div>
      )}
      {found !== null && comparison !== null && (
        <Causes comparison={comparison} rules={found.rules} pressing={pressing} />
      )}
      {found !== null && (
        <OtherSystems rules={found.rules} comparison={comparison} pressing={pressing} />
      )}
      <Dialog
        label="Side by side"
        isWide
        isOpen={isBeside && canStand}
        onClose={() => setBeside(false)}
        content={() =>
          canStand && (
            <SideView
              {...{ explanation, comparison, beside, onBeside }}
              state={found.state}
              rules={found.rules}
              hash={`${toHash(found.state)}${printCompared({ ...actual, beside })}`}
            />
          )
        }
      />
    </section>
  );
}

function Head({ onClose }: { onClose(): void }): JSX.Element {
  const heading = useRef<HTMLHeadingElement>(null);
  useLayoutEffect(() => {
    const { activeElement: before } = document;
    const panel = heading.current?.closest("section");
    heading.current?.focus();
    // The element that opened the panel gets the focus back, as after a dialog. The panel still exists when this
    // function runs. Some browsers do not focus a clicked button, so the closing button may not have the focus.
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
      <button type="button" class="quiet close why-close" aria-label="Close" onClick={onClose}>
        ×
      </button>
    </header>
  );
}

interface ResultProps {
  readonly actual: Actual | null;
  readonly comparison: Comparison | null;
}

function Result({ actual, comparison }: ResultProps): JSX.Element {
  const result = useRef<HTMLDivElement>(null);
  const isCompared = comparison !== null;
  // On a low screen, the result and its cause would be hidden below the form.
  useEffect(() => {
    if (isCompared) result.current?.scrollIntoView({ block: "start" });
  }, [isCompared]);
  // This element is always present, because screen readers announce only text that is added to an existing element.
  if (comparison === null) return <div role="status" ref={result} />;
  const { sentences, first, causes, differing } = comparison;
  const [verdict, ...others] = sentences;
  return (
    <div class="stack" role="status" ref={result}>
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
      {[...others, ...(actual?.remarks ?? [])].map((sentence) => (
        <p class="soft" key={sentence}>
          {sentence}
        </p>
      ))}
      {differing.size > 0 && !causes.some(({ isWhole }) => isWhole) && (
        <p>No known fault explains all of these cells.</p>
      )}
    </div>
  );
}
