/** Files that are dropped on the page. */

import type { Page } from "playwright-core";

export interface Dropped {
  readonly name: string;
  readonly bytes: Uint8Array;
}

/** Drops files on a part of the page. */
export async function drop(page: Page, target: string, files: readonly Dropped[]): Promise<void> {
  const plain = files.map(({ name, bytes }) => ({ name, bytes: [...bytes] }));
  const transfer = await page.evaluateHandle((list) => {
    const data = new DataTransfer();
    for (const { name, bytes } of list) data.items.add(new File([new Uint8Array(bytes)], name));
    return data;
  }, plain);
  for (const type of ["dragover", "drop"]) {
    await page.dispatchEvent(target, type, { dataTransfer: transfer });
  }
}
