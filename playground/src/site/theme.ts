/** Takes over the colours that were chosen on the page. Without it the colours are those of the system. */

try {
  const theme = localStorage.getItem("ndscatter-theme");
  if (theme !== null) document.documentElement.dataset["theme"] = theme;
} catch {
  // Storage may be forbidden.
}
