/**
 * Where the parts of the picture stand. `pictureOf` and `textsOf` run in the page, whoever drives it, so they refer to
 * nothing outside of themselves.
 */

export interface Size {
  readonly width: number;
  readonly height: number;
}

export interface Box {
  readonly left: number;
  readonly right: number;
  readonly top: number;
  readonly bottom: number;
}

export interface Picture {
  /** The tables of data and of the output, if they are there. */
  readonly data: Box | null;
  readonly output: Box | null;
  /** Where the room of the stage ends. */
  readonly floor: number;
  readonly cells: readonly (Box & { readonly tensor: string })[];
  /** Points on each line. */
  readonly points: readonly { readonly x: number; readonly y: number }[];
  /** What stands between tables over a background of its own: targets of tuples, and the verbs of updates. */
  readonly pills: readonly Box[];
  /** The numbers of rows and columns. */
  readonly labels: readonly Box[];
  /** How many pixels each tuple's chip stands below the middle of the nearest row of indices. */
  readonly chips: readonly number[];
  /** By how many pixels the page is too wide. */
  readonly overflow: number;
  /** Texts that their boxes cut: those of headers, cells, chips and marks. */
  readonly cut: readonly string[];
}

/** @param root the document of the page; null for the one that this runs in */
export function pictureOf(root: Document | null): Picture {
  const page = root ?? document;
  const boxOf = (element: Element | null): Box | null => {
    if (element === null) return null;
    const { left, right, top, bottom } = element.getBoundingClientRect();
    return { left, right, top, bottom };
  };
  const middleOf = (element: Element): number => {
    const { top, bottom } = element.getBoundingClientRect();
    return (top + bottom) / 2;
  };
  const paths = [...page.querySelectorAll<SVGPathElement>(".gutter svg path")];
  return {
    data: boxOf(page.querySelector(".lane.data :is(table, .empty)")),
    output: boxOf(page.querySelector(".lane.output :is(table, .empty)")),
    floor: boxOf(page.querySelector(".middle"))?.bottom ?? 0,
    cells: [...page.querySelectorAll("td[data-element]")].map((cell) => {
      const { left, right, top, bottom } = cell.getBoundingClientRect();
      const tensor = cell.closest("[data-tensor]")?.getAttribute("data-tensor") ?? "";
      return { left, right, top, bottom, tensor };
    }),
    points: paths.flatMap((path) => {
      const length = path.getTotalLength();
      // The lines are not scaled. Browsers disagree on `getScreenCTM` in a frame.
      const { left, top } = path.ownerSVGElement?.getBoundingClientRect() ?? { left: 0, top: 0 };
      return Array.from({ length: 21 }, (_, i) => {
        const { x, y } = path.getPointAtLength((length * i) / 20);
        return { x: x + left, y: y + top };
      });
    }),
    pills: [...page.querySelectorAll(".chip, .mark")].flatMap((pill) => boxOf(pill) ?? []),
    // Screen readers alone get the headers of single columns.
    labels: [...page.querySelectorAll("[data-tensor] th:not(:has(.hidden))")].flatMap((head) => {
      // The text, not the cell of the table around it.
      const range = page.createRange();
      range.selectNodeContents(head);
      const { left, right, top, bottom } = range.getBoundingClientRect();
      return right > left ? [{ left, right, top, bottom }] : [];
    }),
    chips: [...page.querySelectorAll(".chip")].map((chip) => {
      const rows = chip
        .closest(".gutter")
        ?.previousElementSibling?.querySelectorAll("td[data-element]");
      const offsets = [...(rows ?? [])].map((row) => middleOf(chip) - middleOf(row));
      return offsets.toSorted((a, b) => Math.abs(a) - Math.abs(b))[0] ?? NaN;
    }),
    overflow: page.documentElement.scrollWidth - page.documentElement.clientWidth,
    cut: [...page.querySelectorAll(".short h2, .short .dtype, .cell, .chip, .mark")]
      .filter(({ scrollWidth, clientWidth }) => scrollWidth > clientWidth + 1)
      .map((element) => element.textContent ?? ""),
  };
}

/** Whether one box covers a part of another. */
const covers = (one: Box, other: Box): boolean =>
  one.left < other.right - 1 &&
  one.right > other.left + 1 &&
  one.top < other.bottom - 1 &&
  one.bottom > other.top + 1;

/** What covers something else, as sentences. */
function coveredIn({ pills, labels, cells }: Picture): string[] {
  const found: string[] = [];
  for (const pill of pills) {
    if (labels.some((label) => covers(pill, label))) found.push("a chip covers a label");
    if (cells.some((cell) => covers(pill, cell))) found.push("a chip covers a cell");
  }
  return [...new Set(found)];
}

/** What is wrong with a picture on a wide screen, as sentences. */
export function misplacedIn(picture: Picture, { width, height }: Size): string[] {
  const { data, output, cells, points, chips, overflow } = picture;
  if (data === null || output === null) return ["data or the output is not there"];
  const found = coveredIn(picture);
  const claim = (holds: boolean, sentence: string): unknown => holds || found.push(sentence);
  claim(output.left > data.right, "the output is not right of data");
  claim(Math.abs(output.top - data.top) < 2, `data is at ${data.top}, output at ${output.top}`);
  claim(data.left >= 0 && output.right <= width, "data or the output leaves the screen");
  claim(output.top < height - 200, `the output begins at ${output.top}`);
  claim(overflow <= 0, `the page is ${overflow} px too wide`);
  const astray = chips.find((offset) => !(Math.abs(offset) <= 1));
  claim(astray === undefined, `a tuple stands ${astray} px below its row of indices`);
  const crossed = points.find(({ x, y }) =>
    cells.some(
      ({ left, right, top, bottom }) => x > left + 1 && x < right - 1 && y > top && y < bottom,
    ),
  );
  claim(crossed === undefined, `a line crosses a cell at ${crossed?.x}, ${crossed?.y}`);
  return found;
}

/**
 * What is wrong with the picture of an example on a small screen, or in a frame: cells of every tensor must be seen above
 * the player, or the story. As sentences.
 */
export function missingIn(picture: Picture, { width }: Size): string[] {
  const { cells, floor, overflow, cut } = picture;
  const seen = new Set(
    cells
      .filter(({ left, right, bottom }) => left >= 0 && right <= width && bottom <= floor + 1)
      .map(({ tensor }) => tensor),
  );
  const found = coveredIn(picture);
  for (const tensor of new Set(cells.map((cell) => cell.tensor))) {
    if (!seen.has(tensor)) found.push(`no cell of ${tensor} is seen`);
  }
  if (!seen.has("output")) found.push("no cell of the output is seen");
  if (overflow > 0) found.push(`the page is ${overflow} px too wide`);
  for (const text of cut) found.push(`${text} is cut`);
  return found;
}

/** What is cut off, or touches its neighbour, on a wide page; as sentences. Runs in the page. */
export function crampedParts(): string[] {
  const found: string[] = [];
  const boxOf = (node: Node): DOMRect => {
    const range = document.createRange();
    range.selectNodeContents(node);
    return range.getBoundingClientRect();
  };
  const all = (selector: string): HTMLElement[] => [
    ...document.querySelectorAll<HTMLElement>(selector),
  ];
  for (const one of all(".sentence, aside")) {
    const { scrollWidth, clientWidth, scrollHeight, clientHeight, className, tagName } = one;
    if (scrollWidth > clientWidth) found.push(`${className || tagName} is too narrow`);
    if (scrollHeight > clientHeight) found.push(`${className || tagName} is too low`);
  }
  // A list shows its arrow behind the text.
  const context = document.createElement("canvas").getContext("2d");
  for (const one of all(".sentence select") as HTMLSelectElement[]) {
    if (context === null) break;
    context.font = getComputedStyle(one).font;
    const name = one.selectedOptions[0].text;
    if (context.measureText(name).width + 20 > one.clientWidth) found.push(`${name} is cut`);
  }
  for (const one of all(".tensor header :is(h2, .dtype, .shape-of-output)")) {
    const { right } = boxOf(one);
    if (right > innerWidth) found.push(`${one.textContent} leaves the screen`);
  }
  for (const one of all(".shapes .verdict")) {
    const sum = one.previousElementSibling;
    if (sum !== null && boxOf(sum).bottom <= boxOf(one).top) found.push("a ✓ stands alone");
  }
  const heads = all(".tensor header :is(h2, button, select, input, .dtype, .shape, code)");
  for (const one of all(".gutter .verb")) {
    const verb = boxOf(one);
    const near = heads.find((head) => {
      const { left, right, top, bottom } = head.getBoundingClientRect();
      const isBeside = top < verb.bottom && bottom > verb.top;
      return isBeside && left < verb.right + 6 && right > verb.left - 6;
    });
    if (near !== undefined && one.textContent !== "⇒") found.push(`${one.textContent} touches`);
  }
  for (const gutter of all(".gutter")) {
    const table = gutter.previousElementSibling?.querySelector("table");
    if (table === null || table === undefined) continue;
    const { right } = table.getBoundingClientRect();
    const lines = [...gutter.querySelectorAll(".wire")].map((wire) =>
      wire.querySelector("path:not(.head, .extent)"),
    );
    for (const one of [...lines, ...gutter.querySelectorAll(".chip")]) {
      const away = (one?.getBoundingClientRect().left ?? right) - right;
      if (Math.abs(away) > 12) found.push(`a line or chip begins ${away} px beside its table`);
    }
  }
  return [...new Set(found)];
}

/** The values in cells, without tabs. */
export function textsOf(cells: readonly Element[]): string[] {
  return cells.map((cell) => {
    const { firstChild } = cell;
    // Not by a class of this window, because the cells may be those of a frame.
    const text = firstChild?.nodeName === "#text" ? (firstChild.textContent ?? "") : "";
    // A value that is longer than its cell is whole in its label.
    return text.endsWith("…") ? (cell.getAttribute("aria-label") ?? "") : text;
  });
}
