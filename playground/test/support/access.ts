/** What people with a coarse hand, a large zoom or a sense of motion cannot use, as texts that run in the page. */

/** Controls that are smaller than 24 pixels. Links within sentences may be, and cells are changed as text too. */
export function smallTargets(): string[] {
  const controls =
    "a[href], button, input, select, textarea, summary, [role=button], [role=option]";
  return (
    [...document.querySelectorAll<HTMLElement>(controls)]
      .filter((one) => one.checkVisibility({ visibilityProperty: true, opacityProperty: true }))
      .filter((one) => !(one.tagName === "A" && getComputedStyle(one).display === "inline"))
      .map((one) => ({ one, box: one.getBoundingClientRect() }))
      // What only screen readers see is a pixel large.
      .filter(({ box }) => box.width > 2 && box.height > 2)
      .filter(({ box }) => box.width < 23.9 || box.height < 23.9)
      .map(({ one, box }) => {
        const name = one.getAttribute("aria-label") ?? one.textContent ?? "";
        return `${one.tagName} ${name.trim()}: ${box.width.toFixed(1)} × ${box.height.toFixed(1)}`;
      })
  );
}

/** What scrolls to the side though it is neither a table, a picture nor code; and the page itself, where it is too wide. */
export function sidewaysParts(): string[] {
  // A frame for another page is shown in the size that it will have there.
  const may =
    "pre, textarea, select, input, .scroller, .sheet, .picture, .embed-preview, [role=group] > table";
  const parts = [...document.querySelectorAll<HTMLElement>("body *")].filter((one) => {
    const { overflowX } = getComputedStyle(one);
    return (
      /auto|scroll/.test(overflowX) &&
      one.scrollWidth > one.clientWidth + 1 &&
      one.checkVisibility() &&
      one.closest(may) === null
    );
  });
  const page = document.documentElement;
  return [
    ...(page.scrollWidth > innerWidth ? [`the page: ${page.scrollWidth}`] : []),
    ...parts.map(
      (one) => `${one.tagName}.${one.className}: ${one.scrollWidth} in ${one.clientWidth}`,
    ),
  ];
}

/** What is cut off at the side of the window and in nothing that scrolls. */
export function cutControls(): string[] {
  return [...document.querySelectorAll<HTMLElement>("button, select, input, a.button, h1, h2")]
    .filter((one) => one.checkVisibility({ visibilityProperty: true }))
    .filter((one) => one.closest(".scroller, .sheet, .picture, table") === null)
    .map((one) => ({ one, box: one.getBoundingClientRect() }))
    .filter(({ box }) => box.width > 2 && (box.left < -1 || box.right > innerWidth + 1))
    .map(({ one, box }) => `${one.tagName} ${one.textContent ?? ""}: ${box.left} to ${box.right}`);
}

/** What covers or cuts off a part of the page; empty if all of it is seen. */
export function hiderOf(part: Element): string {
  const { left, right, top, bottom } = part.getBoundingClientRect();
  if (left < 0 || top < 0 || right > innerWidth || bottom > innerHeight) return "the window";
  // Bubbles let clicks through, and nothing is above them.
  if (getComputedStyle(part).pointerEvents === "none") return "";
  for (const at of [0.1, 0.5, 0.9]) {
    const found = document.elementFromPoint(left + (right - left) * at, top + (bottom - top) * at);
    if (found !== null && !part.contains(found) && !found.contains(part)) return found.outerHTML;
  }
  return "";
}

/** What moves by itself. */
export function moving(): string[] {
  const still = (text: string): boolean => text.split(", ").every((part) => parseFloat(part) === 0);
  return [
    ...document
      .getAnimations()
      .filter(({ playState }) => playState === "running")
      .map(({ effect }) =>
        effect instanceof KeyframeEffect ? `moves: ${effect.target?.tagName}` : "moves",
      ),
    ...[...document.querySelectorAll("body *")]
      .filter((one) => {
        const { transitionDuration, animationName, scrollBehavior } = getComputedStyle(one);
        return (
          !still(transitionDuration) || animationName !== "none" || scrollBehavior === "smooth"
        );
      })
      .map(({ tagName, className }) => `${tagName}.${String(className)}`),
  ];
}
