/**
 * The browsers that the suite runs in. None needs a driver: a browser is a program that opens an address, and the suite
 * posts its reports to the server that it came from.
 */

export interface Browser {
  readonly name: string;
  /** The environment variable that names its program. */
  readonly variable: string;
  /** Paths of its program in Debian. */
  readonly programs: readonly string[];
  /** True if it needs a display, because it lacks a headless mode. */
  readonly needsDisplay: boolean;
  readonly env: Readonly<Record<string, string>>;
  /** More variables, for isolated pages. */
  readonly envOfIsolated: Readonly<Record<string, string>>;
  /** The files of a new profile. */
  readonly profile: Readonly<Record<string, string>>;
  /** The arguments that open an address with the profile in a folder. */
  args(address: string, profile: string): readonly string[];
}

/** No questions, no pages of its own, no requests to its maker; and scripts may run for as long as they need. */
const FIREFOX_SETTINGS: Readonly<Record<string, boolean | number | string>> = {
  "app.normandy.enabled": false,
  "app.update.enabled": false,
  "browser.aboutwelcome.enabled": false,
  "browser.safebrowsing.update.enabled": false,
  "browser.shell.checkDefaultBrowser": false,
  "browser.startup.homepage_override.mstone": "ignore",
  "datareporting.policy.dataSubmissionEnabled": false,
  "dom.max_script_run_time": 0,
  "extensions.update.enabled": false,
  "network.captive-portal-service.enabled": false,
  "network.connectivity-service.enabled": false,
  "services.settings.server": "data:,",
  "toolkit.telemetry.enabled": false,
};

export const BROWSERS: readonly Browser[] = [
  {
    name: "Chromium",
    variable: "CHROMIUM",
    programs: ["/usr/bin/chromium"],
    needsDisplay: false,
    env: {},
    envOfIsolated: {},
    profile: {},
    args: (address, profile) => [
      ...["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"],
      ...["--disable-background-networking", "--disable-component-update", "--disable-sync"],
      ...[`--user-data-dir=${profile}`, address],
    ],
  },
  {
    name: "Firefox",
    variable: "FIREFOX",
    programs: ["/usr/bin/firefox-esr"],
    needsDisplay: false,
    env: {},
    envOfIsolated: {},
    profile: {
      "user.js": Object.entries(FIREFOX_SETTINGS)
        .map(([key, value]) => `user_pref("${key}", ${JSON.stringify(value)});\n`)
        .join(""),
    },
    args: (address, profile) => ["--headless", "--no-remote", "--profile", profile, address],
  },
  {
    name: "WebKit",
    variable: "WEBKIT",
    programs: ["x86_64", "aarch64"].map(
      (machine) => `/usr/lib/${machine}-linux-gnu/webkit2gtk-4.1/MiniBrowser`,
    ),
    needsDisplay: true,
    // For the bound on garbage see Bun in test/runners/runtimes.ts: a page took 11 GB.
    env: { JSC_gcMaxHeapSize: "200000000" },
    // Safari gives shared memory to isolated pages. GTK's WebKit gives it on demand, and then to all pages.
    envOfIsolated: { JSC_useSharedArrayBuffer: "1" },
    profile: {},
    args: (address) => [address],
  },
];
