/** Describes a link's length. */

import { PREFIX } from "../document/packed.ts";

/**
 * The maximum link length that servers and chats accept, in characters; nginx refuses request lines longer than 8 kB.
 */
export const LONGEST_LINK = 8000;

export function linkRemark(link: string): string {
  const form = link.includes(`#${PREFIX}`)
    ? " The link is compressed; the page shows it as text."
    : "";
  const length = `This link has ${link.length.toLocaleString("en")} characters.${form}`;
  return link.length <= LONGEST_LINK
    ? length
    : `${length} Many chats and mail programs cut links after ${LONGEST_LINK.toLocaleString("en")} characters; send the code or the picture instead.`;
}
