/** Whether arrows look as their lines do. */

import type { Frame } from "./frame.ts";

/** Arrow heads that have not the colour of their line. WebKit once drew all of them black. */
export function uncoloured(frame: Frame): string[] {
  const heads = [...frame.document.querySelectorAll(".wire .head")];
  return heads.flatMap((head) => {
    const { fill } = frame.window.getComputedStyle(head);
    const line = head.parentElement ?? head;
    const { stroke } = frame.window.getComputedStyle(line);
    return fill === stroke && !/^rgb\(0, 0, 0\)$|none/.test(fill)
      ? []
      : [`an arrow is ${fill} at the head and ${stroke} at the line`];
  });
}
