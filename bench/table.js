/** Returns a table in columns as wide as their cells. Columns of words are aligned left, columns of numbers right. */
export function table(head, lines) {
  const rows = [head, ...lines];
  const widths = head.map((_, column) => Math.max(...rows.map((row) => row[column].length)));
  const isWords = head.map((_, column) => lines.every((row) => !/^[<\d]/.test(row[column])));
  const line = (row) =>
    row
      .map((cell, column) =>
        isWords[column] ? cell.padEnd(widths[column]) : cell.padStart(widths[column]),
      )
      .join("  ")
      .trimEnd();
  return rows.map((row) => `  ${line(row)}\n`).join("");
}

/** Returns a table in Markdown. */
export function markdownTable(head, lines) {
  const rows = [head, head.map(() => "---"), ...lines];
  return rows.map((cells) => `| ${cells.join(" | ")} |\n`).join("");
}
