/** Asks the worker to count, and shows what it says. The page itself never waits. */

const worker = new Worker(new URL("./worker.js", import.meta.url), { type: "module" });
const button = document.querySelector("button");
const output = document.querySelector("output");

worker.addEventListener("message", ({ data: { threads, reason, milliseconds, total } }) => {
  output.value =
    `${total.toLocaleString("en")} numbers in ${milliseconds.toFixed(1)} ms, ` +
    `with ${threads} ${threads === 1 ? "thread" : "threads"}${reason === null ? "" : `: ${reason}`}`;
  button.disabled = false;
});
button.addEventListener("click", () => {
  button.disabled = true;
  worker.postMessage("count");
});
button.click();
