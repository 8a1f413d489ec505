/** Applies the theme chosen on the page. The system's theme is used if the reader has chosen no theme. */

try {
  const theme = localStorage.getItem("ndscatter-theme");
  if (theme !== null) document.documentElement.dataset["theme"] = theme;
} catch {
  // The browser may forbid access to storage.
}
