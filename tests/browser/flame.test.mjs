// Flame graphs of a report in headless Chromium: by keyboard, pointed at, tapped.
//
// `node --test flame.test.mjs` with RQPS_PAGES, RQPS_SHOTS and RQPS_CHROMIUM as report.test.mjs has them, beside
// which `cargo test -p rqps-html` runs it.

import assert from "node:assert/strict";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { pathToFileURL } from "node:url";
import { PHONE, launched, newPage } from "./browser.mjs";

const own = pathToFileURL(join(process.env.RQPS_PAGES, "stacks.html")).href;

let browser;
before(async () => {
  browser = await launched();
});
after(() => browser?.close());

// Opens the page's first graph, with all that it is folded away in.
const unfolded = async (page) => {
  await page.goto(own);
  await page.evaluate(() => {
    const graph = document.querySelector("svg.flame:not(.swatch)");
    for (let at = graph.closest("details"); at; at = at.parentElement.closest("details")) at.open = true;
  });
  const graph = page.locator("svg.flame:not(.swatch)").first();
  await graph.waitFor();
  // Drawn above it.
  await page.locator("details.step[open] .zoomable canvas").first().waitFor();
  return graph;
};

const named = (graph, name) => graph.locator("svg", { has: graph.page().locator("title", { hasText: name }) }).first();

const readout = (page) => page.locator(".flame-readout").first().innerText();

const width = (frame) => frame.evaluate((own) => parseFloat(own.getAttribute("width")));

const hidden = (graph) =>
  graph.evaluate((own) => Array.from(own.querySelectorAll("svg")).filter((frame) => frame.style.display === "none").length);

// The name of the frame that has the focus; `null` where none has it.
const focused = (page) =>
  page.evaluate(() => {
    const frame = document.activeElement.closest("svg.flame svg");
    return frame && frame.querySelector("title").textContent.split("\n")[0];
  });

test("a flame graph goes by keyboard", async () => {
  const { context, page, asked, errors } = await newPage(browser, {}, (url) => url === own);
  const graph = await unfolded(page);
  const press = async (key) => {
    await page.keyboard.press(key);
    return focused(page);
  };
  await page.locator(".flame-tools").first().getByRole("button", { name: "Show all" }).focus();
  assert.equal(await press("Tab"), "all");
  // One stop of Tab for the whole graph.
  const stops = () => graph.evaluate((own) => own.querySelectorAll("[tabindex]").length);
  assert.equal(await stops(), 1);
  assert.match(await readout(page), /^all .*µs\/query/);
  for (const name of ["start_thread", "handle_connection", "do_command", "dispatch_command"]) {
    assert.equal(await press("ArrowDown"), name);
  }
  assert.equal(await press("ArrowRight"), "vio_write");
  assert.equal(await press("ArrowLeft"), "dispatch_command");
  assert.equal(await press("ArrowUp"), "do_command");
  await press("ArrowDown");
  assert.equal(await press("ArrowRight"), "vio_write");
  assert.match(await readout(page), /^vio_write inclusive [\d.]+ → [\d.]+ µs\/query/);
  assert.equal(await stops(), 1);
  // Where the focus is can be seen.
  const edge = await page.evaluate(() => getComputedStyle(document.activeElement.querySelector("rect")).strokeWidth);
  assert.equal(edge, "5px");
  const frame = named(graph, /^vio_write/);
  const narrow = await width(frame);
  assert.ok(narrow < 50, `${narrow}%`);
  for (const key of ["Enter", "Space"]) {
    assert.equal(await press(key), "vio_write");
    assert.equal(await width(frame), 100);
    assert.ok((await hidden(graph)) > 0);
    // Nothing is beside it; what calls it is above.
    assert.equal(await press("ArrowLeft"), "vio_write");
    assert.equal(await press("ArrowUp"), "do_command");
    assert.equal(await press("ArrowDown"), "vio_write");
    assert.equal(await press("Escape"), "vio_write");
    assert.ok(Math.abs((await width(frame)) - narrow) < 1e-6);
    assert.equal(await hidden(graph), 0);
  }
  assert.deepEqual([asked, errors], [[], []]);
  await context.close();
});

test("a frame that is pointed at tells its numbers, a click widens it", async () => {
  const { context, page, asked, errors } = await newPage(browser, {}, (url) => url === own);
  const graph = await unfolded(page);
  const frame = named(graph, /^vio_write/);
  await frame.hover();
  assert.match(await readout(page), /^vio_write inclusive/);
  assert.notEqual(await width(frame), 100);
  await frame.click();
  assert.equal(await width(frame), 100);
  assert.equal(await focused(page), "vio_write");
  await page.locator(".flame-tools").first().getByRole("button", { name: "Show all" }).click();
  assert.equal(await hidden(graph), 0);
  assert.deepEqual([asked, errors], [[], []]);
  await context.close();
});

test("the first tap on a frame tells its numbers, the second widens it", async () => {
  const context = await browser.newContext({ viewport: PHONE, hasTouch: true, isMobile: true, reducedMotion: "reduce" });
  const page = await context.newPage();
  page.setDefaultTimeout(90000);
  const graph = await unfolded(page);
  const frame = named(graph, /^vio_write/);
  const narrow = await width(frame);
  await frame.tap();
  assert.match(await readout(page), /^vio_write inclusive/);
  assert.equal(await width(frame), narrow);
  await frame.tap();
  assert.equal(await width(frame), 100);
  // Another frame begins anew.
  const caller = named(graph, /^start_thread/);
  await caller.tap();
  assert.match(await readout(page), /^start_thread/);
  assert.equal(await width(frame), 100);
  await caller.tap();
  assert.ok(Math.abs((await width(frame)) - narrow) < 1e-6);
  await context.close();
});
