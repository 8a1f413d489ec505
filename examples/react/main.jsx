/** Counts the letters of a text at each keystroke. */

import { full, scatterElements, tensor, zeros } from "ndscatter/js";
import { StrictMode, useState } from "react";
import { createRoot } from "react-dom/client";

const LETTERS = [..."abcdefghijklmnopqrstuvwxyz"];

/** How often each letter occurs. */
function countLetters(text) {
  const letters = [...text.toLowerCase()].filter((character) => LETTERS.includes(character));
  const places = letters.map((letter) => LETTERS.indexOf(letter));
  const indices = tensor("int32", [places.length], places);
  const ones = full("int32", [places.length], 1);
  return scatterElements(zeros("int32", [LETTERS.length]), indices, ones, { reduction: "add" })
    .data;
}

function App() {
  const [{ text, counts, calls }, setState] = useState({
    text: "",
    counts: countLetters(""),
    calls: 0,
  });
  const type = ({ target: { value } }) => {
    const next = countLetters(value);
    setState((before) => ({ text: value, counts: next, calls: before.calls + 1 }));
  };
  const most = Math.max(1, ...counts);
  return (
    <main>
      <h1>Type</h1>
      <textarea value={text} onChange={type} aria-label="Text" autoFocus />
      <ol>
        {LETTERS.map((letter, place) => (
          <li
            key={letter}
            style={{ "--share": counts[place] / most }}
            title={`${letter}: ${counts[place]}`}
          >
            {letter}
          </li>
        ))}
      </ol>
      <output>{calls === 1 ? "1 call" : `${calls} calls`}</output>
    </main>
  );
}

createRoot(document.getElementById("root")).render(
  <StrictMode>
    <App />
  </StrictMode>,
);
