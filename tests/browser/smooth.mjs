// How smoothly a large report scrolls, filters and sorts in headless Chromium, drawn without a graphics card.
//
// `node smooth.mjs PAGE` with RQPS_CHROMIUM (the browser). Run by `cargo xtask bench-report`. Prints what it measured
// and ends with 3 where half of the answers take longer than 100 ms or one frame in twenty longer than 50 ms. A step's
// chart, which is unpacked and drawn after it has opened, is no part of the time of opening it.

import { pathToFileURL } from "node:url";
import { chromium } from "playwright-core";

// What feels immediate, and what still looks like movement.
const ANSWER_MS = 100;
const FRAME_MS = 50;

const ranked = (times) => [...times].sort((a, b) => a - b);
const at = (times, share) => ranked(times)[Math.min(times.length - 1, Math.floor(times.length * share))];
const told = (what, times) =>
  times.length > 0 &&
  console.log(`${what.padEnd(38)}${at(times, 0.5).toFixed(0).padStart(6)}${at(times, 0.95).toFixed(0).padStart(6)}${at(times, 1).toFixed(0).padStart(7)}`);

const browser = await chromium.launch({
  executablePath: process.env.RQPS_CHROMIUM,
  args: ["--no-sandbox", "--disable-dev-shm-usage"],
});
const page = await browser.newPage({ viewport: { width: 1280, height: 900 } });
const began = performance.now();
await page.goto(pathToFileURL(process.argv[2]).href);
const opened = performance.now() - began;

// How long it takes from the `n`th time something is done to the frame that shows it, in milliseconds.
const answers = (doing, times) =>
  page.evaluate(`(async () => {
    const frame = () => new Promise((done) => requestAnimationFrame(() => setTimeout(done)));
    const passed = [];
    for (let n = 0; n < ${times}; n += 1) {
      await frame();
      const from = performance.now();
      ${doing}
      await frame();
      passed.push(performance.now() - from);
    }
    return passed;
  })()`);

// The time between frames while the page moves.
const frames = (by) =>
  page.evaluate(async (by) => {
    const times = [];
    window.scrollTo({ top: 0, behavior: "instant" });
    let before = await new Promise(requestAnimationFrame);
    for (let n = 0; n < 300 && window.scrollY + innerHeight < document.documentElement.scrollHeight - 1; n += 1) {
      window.scrollBy({ top: by, behavior: "instant" });
      const now = await new Promise(requestAnimationFrame);
      times.push(now - before);
      before = now;
    }
    return times;
  }, by);

const typed = (text) => `
  document.getElementById("filter-text").value = ${text};
  document.getElementById("filter-text").dispatchEvent(new Event("input", { bubbles: true }));`;
const sorted = `document.querySelectorAll("table.summary th button.sort")[n % 3].click();`;
const stepOpened = `document.querySelectorAll("details.step")[n].open = true;`;
const name = await page.locator("details.step h3").first().innerText();
const steps = await page.locator("details.step").count();

console.log(`\nin the browser: opened in ${opened.toFixed(0)} ms\n`);
console.log("milliseconds                          median   95%  worst");
const filter = await answers(typed(`${JSON.stringify(name)}.slice(0, n % 8)`), 40);
await answers(typed('""'), 1);
const sort = await answers(sorted, 30);
const step = await answers(stepOpened, Math.min(20, steps));
const scrolled = await frames(120);
await page.evaluate(() => document.querySelectorAll("details.step").forEach((step) => (step.open = true)));
await page.waitForTimeout(1000);
const openScrolled = await frames(400);
told("a letter of the filter", filter);
told("a sort", sort);
told("a step opened", step);
told("a frame, scrolling", scrolled);
told("a frame, scrolling, all steps open", openScrolled);
await browser.close();
const isSlow = (times, share, most) => times.length > 0 && at(times, share) > most;
const slow = [
  ["the filter", isSlow(filter, 0.5, ANSWER_MS)],
  ["a sort", isSlow(sort, 0.5, ANSWER_MS)],
  ["opening a step", isSlow(step, 0.5, ANSWER_MS)],
  ["scrolling", isSlow(scrolled, 0.95, FRAME_MS) || isSlow(openScrolled, 0.95, FRAME_MS)],
].filter(([, is]) => is);
if (slow.length > 0) {
  console.log(`\ntoo slow: ${slow.map(([what]) => what).join(", ")}`);
  process.exitCode = 3;
}
