// Measures boxes of reports in headless Chromium: at three widths, with one, three and eight candidates and of measured
// runs, no number is cut, the first column stays in sight and leaves room, decimal points stand below one another, and the
// table of verdicts fits into a wide window and on paper.
//
// Run as report.test.mjs is.

import assert from "node:assert/strict";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { pathToFileURL } from "node:url";
import { launched, newPage, sidewaysBy } from "./browser.mjs";

const pages = process.env.RQPS_PAGES;
const WIDTHS = [1400, 1024, 390];
// Measured runs: their names, settings and statements are longer than those of fixtures.
const KEPT = ["mysql-versions-sysbench", "mariadb-versions-insert", "tls", "kept-runs"];
const PAGES = ["candidates-1", "candidates-3", "candidates-8", "insert", "compare", ...KEPT];
// A4 without the margins that Chromium leaves.
const PAPER = 717;

let browser;
before(async () => {
  browser = await launched();
});
after(() => browser?.close());

const opened = async (name, width, act) => {
  const own = pathToFileURL(join(pages, `${name}.html`)).href;
  const size = { width, height: 900 };
  const { context, page, errors } = await newPage(browser, { size }, (url) => url.split("#")[0] === own);
  await page.goto(own);
  await page.evaluate(() => document.querySelectorAll("details").forEach((one) => (one.open = true)));
  await page.waitForFunction(() => !document.querySelector("details[open] > .body[data-packed]"));
  try {
    await act(page);
    assert.deepEqual(errors, []);
  } finally {
    await context.close();
  }
};

// Texts with a digit whose box is not within that of an element that clips them. What scrolls clips nothing: all of it can
// be seen.
const cut = (page) =>
  page.evaluate(() => {
    const found = [];
    const walker = document.createTreeWalker(document.querySelector("main") ?? document.body, NodeFilter.SHOW_TEXT);
    const range = document.createRange();
    for (let node = walker.nextNode(); node; node = walker.nextNode()) {
      const text = node.textContent.trim();
      const parent = node.parentElement;
      if (!/\d/.test(text) || !parent.checkVisibility({ visibilityProperty: true })) continue;
      if (parent.closest("svg, script, style, .uplot")) continue;
      range.selectNodeContents(node);
      const box = range.getBoundingClientRect();
      if (box.width === 0) continue;
      for (let outer = parent; outer && outer !== document.body; outer = outer.parentElement) {
        const { overflowX, clipPath, position } = getComputedStyle(outer);
        // For screen readers alone.
        if (clipPath !== "none" && position === "absolute") break;
        if (overflowX === "auto" || overflowX === "scroll") {
          // It must be possible to scroll there.
          const frame = outer.getBoundingClientRect();
          const right = box.right - frame.left + outer.scrollLeft;
          if (right > outer.scrollWidth + 1) found.push(`${text}: ${right} beyond ${outer.scrollWidth}`);
          break;
        }
        if (overflowX === "visible") continue;
        const frame = outer.getBoundingClientRect();
        if (box.left < frame.left - 1 || box.right > frame.right + 1)
          found.push(`${text}: ${box.left} to ${box.right} in ${frame.left} to ${frame.right} of ${outer.className || outer.tagName}`);
      }
    }
    return found;
  });

// First columns that leave the sight of a table that is scrolled to its end, or that leave no room for what they name.
const lost = (page) =>
  page.evaluate(() => {
    const found = [];
    for (const scroller of document.querySelectorAll("div.scroll")) {
      if (scroller.scrollWidth <= scroller.clientWidth + 1 || !scroller.checkVisibility()) continue;
      const cell = scroller.querySelector("tbody tr > :first-child:not([colspan])");
      if (!cell) continue;
      scroller.scrollLeft = scroller.scrollWidth;
      const [own, frame] = [cell.getBoundingClientRect(), scroller.getBoundingClientRect()];
      const what = scroller.getAttribute("aria-label") ?? scroller.getAttribute("aria-labelledby");
      if (own.left < frame.left - 1 || own.left > frame.left + 2) found.push(`${what}: first column at ${own.left - frame.left}`);
      if (own.width > (innerWidth < 600 ? 0.45 : 0.6) * frame.width) found.push(`${what}: first column takes ${own.width} of ${frame.width}`);
      scroller.scrollLeft = 0;
    }
    return found;
  });

// Tables whose lines between rows are the table's own: these do not go below cells that stay in place.
const unlined = (page) =>
  page.evaluate(() =>
    Array.from(document.querySelectorAll("div.scroll > table"))
      .filter((table) => getComputedStyle(table).borderCollapse !== "separate")
      .map((table) => table.className),
  );

// Columns of ratios whose decimal points are not below one another.
const crooked = (page) =>
  page.evaluate(() => {
    const range = document.createRange();
    const pointOf = (cell) => {
      const walker = document.createTreeWalker(cell, NodeFilter.SHOW_TEXT);
      for (let node = walker.nextNode(); node; node = walker.nextNode()) {
        const at = /^\s*\d+\.\d+\s*$/.test(node.textContent) ? node.textContent.indexOf(".") : -1;
        if (at < 0) continue;
        range.setStart(node, at);
        range.setEnd(node, at + 1);
        return range.getBoundingClientRect().left;
      }
      return null;
    };
    const found = [];
    for (const table of document.querySelectorAll("table.summary")) {
      if (!table.checkVisibility()) continue;
      const columns = new Map();
      for (const cell of table.querySelectorAll("tbody td.ratio")) {
        const left = pointOf(cell);
        if (left === null) continue;
        const key = cell.cellIndex;
        columns.set(key, [...(columns.get(key) ?? []), left]);
      }
      for (const [column, lefts] of columns) {
        const spread = Math.max(...lefts) - Math.min(...lefts);
        if (spread > 1.5) found.push(`column ${column} of ${table.caption?.innerText ?? "a table"}: ${spread} px`);
      }
    }
    return found;
  });

// How much of the table of verdicts does not fit into what holds it.
const beyond = (page) =>
  page.$eval("table.candidates", (table) => table.getBoundingClientRect().right - table.parentElement.getBoundingClientRect().right);

for (const name of ["candidates-1", "candidates-3", "demo", ...KEPT]) {
  test(`${name}: verdicts fit into a window of 1400 px and on paper, curves come before tables`, () =>
    opened(name, 1400, async (page) => {
      assert.ok((await beyond(page)) <= 1, `${await beyond(page)} px beyond the window`);
      await page.emulateMedia({ media: "print" });
      await page.setViewportSize({ width: PAPER, height: 1000 });
      assert.ok((await beyond(page)) <= 1, `${await beyond(page)} px beyond the paper`);
      const late = await page.$$eval("details.step", (steps) =>
        steps
          .filter((step) => {
            const [curves, table] = [step.querySelector("figure.series, .has-charts"), step.querySelector("table")];
            return curves && table && table.compareDocumentPosition(curves) & Node.DOCUMENT_POSITION_FOLLOWING;
          })
          .map((step) => step.id),
      );
      assert.deepEqual(late, []);
    }));
}

for (const name of PAGES) {
  for (const width of WIDTHS) {
    test(`${name} at ${width} px: no number is cut, first columns stay, decimal points are aligned`, () =>
      opened(name, width, async (page) => {
        assert.ok((await sidewaysBy(page)) <= 0, `${await sidewaysBy(page)} px too wide`);
        assert.deepEqual(await cut(page), []);
        assert.deepEqual(await lost(page), []);
        assert.deepEqual(await crooked(page), []);
        assert.deepEqual(await unlined(page), []);
      }));
  }
}
