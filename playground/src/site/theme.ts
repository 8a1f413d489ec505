/** Applies the theme chosen on the page. Without a choice, the system's theme is used. */

try {
  const theme = localStorage.getItem("ndscatter-theme");
  if (theme !== null) document.documentElement.dataset["theme"] = theme;
} catch {
  // The browser may forbid access to storage.
}
