/** The length of a link, as a sentence. */

import { PREFIX } from "../document/packed.ts";

/** Servers and chats cut longer addresses; nginx refuses a request line beyond 8 kB. */
export const LONGEST_LINK = 8000;

export function linkRemark(link: string): string {
  const form = link.includes(`#${PREFIX}`) ? " It is compressed; the page shows it as text." : "";
  const length = `This link has ${link.length.toLocaleString("en")} characters.${form}`;
  return link.length <= LONGEST_LINK
    ? length
    : `${length} Many chats and mail programs cut links beyond ${LONGEST_LINK.toLocaleString("en")}; send the code or the picture instead.`;
}
