/** Applies the colours chosen on the page. Without a choice, the system's colours are used. */

try {
  const theme = localStorage.getItem("ndscatter-theme");
  if (theme !== null) document.documentElement.dataset["theme"] = theme;
} catch {
  // Storage may be forbidden.
}
