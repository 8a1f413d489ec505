/** Runs in the page before its own scripts, and passes on what goes wrong to the page around the frame. */

const report: (words: string) => void = (words) => Reflect.get(window.parent, "wrongs").push(words);

window.addEventListener(
  "error",
  ({ message, target }) => {
    // The page's size follows from that of its parts in a second step, which is drawn a frame later. That is no error.
    if (message?.startsWith("ResizeObserver loop")) return;
    // A file that cannot be loaded has no message, and its error does not bubble.
    const file = target instanceof Element ? target.outerHTML : "";
    report(`error: ${message ?? "not loaded"} ${file}`);
  },
  true,
);
window.addEventListener("unhandledrejection", ({ reason }) => report(`rejection: ${reason}`));
document.addEventListener("securitypolicyviolation", ({ violatedDirective, blockedURI }) =>
  report(`policy: ${violatedDirective} ${blockedURI}`),
);
const { error } = console;
console.error = (...words: unknown[]) => {
  report(`console: ${words.map(String).join(" ")}`);
  error(...words);
};
