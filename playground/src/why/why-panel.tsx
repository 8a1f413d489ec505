/**
 * The panel "Why is mine different?" accepts another runtime's output, and lists differing cells, candidate causes, and
 * other systems' results. The page draws the tensors; the panel only chooses which tensors to draw.
 */

import type { Explanation } from "ndscatter";
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
  const { state, asked, act } = props.session;
  const onClose = (): void => act({ do: "show", asked: undefined });
  const why = useWhy(props);
  const { found, pressing } = why;
  const { actual = null, comparison = null } = found ?? {};
  // A link that contains a comparison opens the comparison immediately.
  const [isBeside, setBeside] = useState(asked?.link !== undefined);
  const result = useRef<HTMLDivElement>(null);
  const isCompared = comparison !== null;
  // On a low screen, the result and its cause would be hidden below the form.
  useEffect(() => {
    if (isCompared) result.current?.scrollIntoView({ block: "start" });
  }, [isCompared]);
  const canStand = comparison !== null && !comparison.isOtherShape && actual !== null;
  return (
    <section
      class="why"
      aria-label="Why is mine different?"
      aria-busy={found?.state !== state}
      data-tensor="actual"
      // Escape closes only the dialog, not the panel behind it.
      onKeyDown={(event) => event.key === "Escape" && !isBeside && onClose()}
    >
      <Head onClose={onClose} />
      <ActualForm {...why} error={found?.error ?? null} />
      <div role="status" ref={result}>
        {actual !== null && comparison !== null && (
          <Result actual={actual} comparison={comparison} />
        )}
      </div>
      {canStand && (
        <div class="why-buttons">
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
      <BesideDialog
        explanation={props.session.explanation}
        why={why}
        isOpen={isBeside && canStand}
        onLeave={() => setBeside(false)}
      />
    </section>
  );
}

interface BesideProps {
  readonly explanation: Explanation | null;
  readonly why: ReturnType<typeof useWhy>;
  readonly isOpen: boolean;
  onLeave(): void;
}

function BesideDialog({ explanation, why, isOpen, onLeave }: BesideProps): JSX.Element {
  const { found, beside, onBeside } = why;
  const { actual = null, comparison = null } = found ?? {};
  return (
    <Dialog
      label="Side by side"
      isWide
      isOpen={isOpen}
      onClose={onLeave}
      content={() =>
        found !== null &&
        comparison !== null &&
        actual !== null && (
          <SideView
            {...{ explanation, comparison, beside, onBeside }}
            state={found.state}
            rules={found.rules}
            hash={`${toHash(found.state)}${printCompared({ ...actual, beside })}`}
          />
        )
      }
    />
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
      {differing.size > 0 && !causes.some(({ isWhole }) => isWhole) && (
        <p>No known fault explains all of these cells.</p>
      )}
    </>
  );
}
