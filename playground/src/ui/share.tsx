/** The button that opens what the page gives: links, code and pictures. */

import type { JSX } from "preact";
import { DialogButton } from "./dialog.tsx";
import { later } from "./later.tsx";
import type { ShareProps } from "./share-panel.tsx";

const Share = later<ShareProps>(async () => (await import("./share-panel.tsx")).Share);

export const ShareButton = (props: ShareProps): JSX.Element => (
  <DialogButton button="Share" label="Share" content={() => <Share {...props} />} />
);
