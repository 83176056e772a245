// What the tests of reports and of `rqps serve` have in common.

import { readFileSync, mkdirSync } from "node:fs";
import { createRequire } from "node:module";
import { chromium } from "playwright-core";

const require = createRequire(import.meta.url);
const axeSource = readFileSync(require.resolve("axe-core/axe.min.js"), "utf8");

export const shots = process.env.RQPS_SHOTS;
export const DESKTOP = { width: 1280, height: 900 };
export const PHONE = { width: 390, height: 844 };
export const WCAG = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"];

export const launched = () => {
  mkdirSync(shots, { recursive: true });
  return chromium.launch({
    executablePath: process.env.RQPS_CHROMIUM,
    timeout: 180_000,
    args: ["--no-sandbox", "--disable-dev-shm-usage", "--hide-scrollbars"],
  });
};

// A page of its own; whatever it asks for that `isOwn` does not know, every error, and whatever the page's policy refuses
// is collected.
export const newPage = async (browser, { size = DESKTOP, scheme = "light", script = true } = {}, isOwn) => {
  const context = await browser.newContext({
    viewport: size,
    colorScheme: scheme,
    javaScriptEnabled: script,
    reducedMotion: "reduce",
    acceptDownloads: true,
  });
  const page = await context.newPage();
  const asked = [];
  const errors = [];
  await page.route("**", (route) => {
    const url = route.request().url();
    if (isOwn(url)) return route.continue();
    asked.push(url);
    return route.abort();
  });
  await page.addInitScript(() =>
    addEventListener("securitypolicyviolation", (event) => console.error(`refused: ${event.effectiveDirective} ${event.blockedURI}`)),
  );
  page.on("pageerror", (error) => errors.push(String(error)));
  page.on("console", (message) => message.type() === "error" && errors.push(message.text()));
  page.on("dialog", (dialog) => {
    errors.push(`dialog: ${dialog.message()}`);
    return dialog.dismiss();
  });
  // A busy host is slow; nothing here waits for long on an idle one.
  page.setDefaultTimeout(90000);
  return { context, page, asked, errors };
};

export const violations = async (page, runOnly) => {
  await page.evaluate(axeSource);
  const found = await page.evaluate((runOnly) => axe.run(document, { runOnly, resultTypes: ["violations"] }), runOnly);
  return found.violations.flatMap((v) => v.nodes.map((node) => `${v.id}: ${node.target.join(" ")}: ${node.failureSummary}`));
};

export const sidewaysBy = (page) =>
  page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
