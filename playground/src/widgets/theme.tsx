/** Colour themes of the page: light, dark, or the system's theme. */

import type { JSX } from "preact";
import { useEffect, useLayoutEffect, useState } from "preact/hooks";

const THEMES = ["auto", "light", "dark"] as const;
type Theme = (typeof THEMES)[number];

const KEY = "ndscatter-theme";

/** Returns the theme chosen earlier. If storage is forbidden, a choice lasts only until the page closes. */
function remembered(): Theme {
  try {
    const name = localStorage.getItem(KEY);
    return THEMES.find((theme) => theme === name) ?? "auto";
  } catch {
    return "auto";
  }
}

function remember(theme: Theme): void {
  try {
    localStorage.setItem(KEY, theme);
  } catch {
    // A browser without storage keeps the chosen theme until the page closes.
  }
}

/** Checks whether the page is currently dark. */
const isDark = (): boolean => {
  const { theme } = document.documentElement.dataset;
  return (
    theme === "dark" || (theme !== "light" && matchMedia("(prefers-color-scheme: dark)").matches)
  );
};

/** Returns the page's theme, and draws the component again when the theme changes. */
export function useTheme(): "light" | "dark" {
  const [, setDark] = useState(isDark);
  useEffect(() => {
    const follow = (): void => setDark(isDark());
    const system = matchMedia("(prefers-color-scheme: dark)");
    system.addEventListener("change", follow);
    const choice = new MutationObserver(follow);
    choice.observe(document.documentElement, { attributeFilter: ["data-theme"] });
    return () => {
      system.removeEventListener("change", follow);
      choice.disconnect();
    };
  }, []);
  return isDark() ? "dark" : "light";
}

/** Applies the theme chosen earlier. */
export function applyTheme(): void {
  document.documentElement.dataset["theme"] = remembered();
}

export function ThemeMenu(): JSX.Element {
  const [theme, setTheme] = useState(remembered);
  useLayoutEffect(() => {
    document.documentElement.dataset["theme"] = theme;
    remember(theme);
  }, [theme]);
  return (
    <label class="theme">
      <span class="hidden">colours</span>
      <select
        value={theme}
        onChange={(event) => {
          const { value } = event.currentTarget;
          setTheme(THEMES.find((one) => one === value) ?? "auto");
        }}
      >
        {THEMES.map((one) => (
          <option key={one} value={one}>
            {one === "auto" ? "system colours" : one}
          </option>
        ))}
      </select>
    </label>
  );
}
