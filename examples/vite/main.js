/** Counts letters in the page, and numbers in a worker. */

import { full, scatterElements, zeros } from "ndscatter";

const LETTERS = "abcdefghijklmnopqrstuvwxyz";

document.querySelector("textarea").addEventListener("input", ({ target: { value } }) => {
  const letters = [...value.toLowerCase()].map((letter) => LETTERS.indexOf(letter));
  const indices = letters.filter((index) => index !== -1);
  const ones = full("int32", [indices.length], 1);
  const counts = scatterElements(zeros("int32", [LETTERS.length]), indices, ones, {
    reduction: "add",
  });
  document.querySelector("#letters").value = [...LETTERS]
    .map((letter, at) => `${letter} ${counts.data[at]}`)
    .filter((text) => !text.endsWith(" 0"))
    .join(", ");
});

const worker = new Worker(new URL("./worker.js", import.meta.url), { type: "module" });
const button = document.querySelector("button");
worker.addEventListener("message", ({ data: { threads, reason, milliseconds, total } }) => {
  document.querySelector("#numbers").value =
    `${total.toLocaleString("en")} numbers in ${milliseconds.toFixed(1)} ms, ` +
    `with ${threads} ${threads === 1 ? "thread" : "threads"}${reason === null ? "" : `: ${reason}`}`;
  button.disabled = false;
});
button.addEventListener("click", () => {
  button.disabled = true;
  worker.postMessage("count");
});
