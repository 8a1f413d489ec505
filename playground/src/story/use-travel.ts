/**
 * Animates values that move into their cells while the player runs. The moving values are copies, which are removed
 * afterwards.
 */

import { useLayoutEffect, useRef } from "preact/hooks";
import type { Session } from "../cells/session.ts";
import { cellId } from "../values/spot.ts";
import { isCalm } from "../widgets/calm.ts";

const MILLISECONDS = 420;
/** The maximum number of moving copies, because more copies would hide the tables. */
const MOST = 24;

export function useTravel({ at, step, picture, description }: Session): void {
  const before = useRef(at);
  useLayoutEffect(() => {
    const from = before.current;
    before.current = at;
    if (step === null || at !== from + 1 || picture === null || description === null) return;
    if (isCalm()) return;
    const { links, explanation } = picture;
    const order = at - 1;
    const carrier = links.kind === "gather" ? "data" : "updates";
    const id = explanation.inputs.findIndex(({ role }) => role === carrier);
    const main = description.arrows.find(({ isHint }) => !isHint);
    if (main === undefined) return;
    const { slice } = links;
    const begin = main.from.element - (links.kind === "gather" ? main.from.element % slice : 0);
    const first = links.carried.indexOf(order);
    const count = links.carried.lastIndexOf(order) + 1 - first;
    const target = links.kind === "gather" ? first : main.to.element - (main.to.element % slice);
    for (let i = 0; i < Math.min(count, slice, MOST); i++) {
      const source = document.getElementById(
        cellId(id, (links.kind === "gather" ? begin : first) + i),
      );
      const goal = document.getElementById(cellId("output", target + i));
      if (source !== null && goal !== null) fly(source, goal);
    }
  }, [at]);
}

function fly(source: HTMLElement, goal: HTMLElement): void {
  const [from, to] = [source.getBoundingClientRect(), goal.getBoundingClientRect()];
  const copy = document.createElement("span");
  copy.className = `flying ${source.className}`;
  copy.textContent = source.firstChild?.textContent ?? "";
  copy.setAttribute("aria-hidden", "true");
  Object.assign(copy.style, {
    left: `${from.left}px`,
    top: `${from.top}px`,
    width: `${from.width}px`,
    height: `${from.height}px`,
  });
  document.body.append(copy);
  const move = `translate(${to.left - from.left}px, ${to.top - from.top}px)`;
  const timing = { duration: MILLISECONDS, easing: "cubic-bezier(0.4, 0, 0.2, 1)" };
  const flight = copy.animate(
    [{ transform: "none" }, { transform: move, offset: 0.85 }, { transform: move, opacity: 0 }],
    timing,
  );
  const remove = (): void => copy.remove();
  flight.addEventListener("finish", remove);
  flight.addEventListener("cancel", remove);
}
