// Opens reports from disk in headless Chromium, without a network, as a reader does.
//
// `node --test report.test.mjs` with RQPS_PAGES (pages and figures that the Rust test wrote), RQPS_SHOTS (where
// screenshots go) and RQPS_CHROMIUM (the browser). Run by `cargo test -p rqps-html`.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { pathToFileURL } from "node:url";
import { DESKTOP, PHONE, WCAG, launched, newPage, shots, sidewaysBy, violations } from "./browser.mjs";

const pages = process.env.RQPS_PAGES;

let browser;
before(async () => {
  browser = await launched();
});
after(() => browser?.close());

const figures = (name) => JSON.parse(readFileSync(join(pages, name), "utf8"));

// A page of its own, offline.
const opened = async (name, options, act) => {
  const [file, place] = name.split("#");
  const own = pathToFileURL(join(pages, file)).href;
  const { context, page, asked, errors } = await newPage(browser, options, (url) => url.split("#")[0] === own);
  await context.setOffline(true);
  await page.goto(place ? `${own}#${place}` : own);
  try {
    await act(page);
    assert.deepEqual(asked, [], "a request left the page");
    assert.deepEqual(errors, []);
  } finally {
    await context.close();
  }
};

const column = (page, n) =>
  page.$$eval(
    "table.summary tr.step",
    (rows, n) => rows.filter((row) => row.offsetParent !== null).map((row) => row.cells[n].innerText.trim()),
    n,
  );

const first = (text) => Number(/-?[\d.]+/.exec(text)[0]);

test("sorts by a column, both ways and back", () =>
  opened("pair.html", {}, async (page) => {
    const before = await column(page, 0);
    const head = page.getByRole("button", { name: "rQPS", exact: true });
    await head.click();
    const measured = (texts) => texts.filter((text) => /^[\d.]/.test(text)).map(first);
    const up = measured(await column(page, 1));
    assert.deepEqual(up, [...up].sort((a, b) => a - b));
    assert.ok(up.length >= 2);
    assert.equal(await page.locator("th[aria-sort='ascending']").count(), 1);
    await head.click();
    assert.deepEqual(measured(await column(page, 1)), [...up].reverse());
    await head.click();
    assert.deepEqual(await column(page, 0), before);
    assert.equal(await page.locator("th[aria-sort]").count(), 0);
  }));

test("filters by name, group and verdict", () =>
  opened("suite.html", {}, async (page) => {
    const shown = () => page.locator("table.summary tr.step:visible").count();
    const inCharts = () => page.locator("#charts .rows li:visible").count();
    const details = () => page.locator("details.step:visible").count();
    assert.equal(await shown(), 47);
    await page.getByLabel("Named").fill("UPDATE");
    const wanted = (await page.$$eval("details.step h3", (all) => all.filter((h) => h.innerText.includes("update")).length)) || 0;
    assert.ok(wanted > 0 && wanted < 47);
    assert.deepEqual([await shown(), await inCharts(), await details()], [wanted, wanted, wanted]);
    assert.equal(await page.locator("#filter-told").innerText(), `${wanted} of 47 steps`);
    await page.getByLabel("Named").fill("");
    await page.getByLabel("Group").selectOption("Writes");
    const writes = await shown();
    assert.ok(writes > wanted && writes < 47, `${writes}`);
    await page.getByLabel("Group").selectOption("");
    const json = figures("suite.json");
    const slower = json.steps.filter((s) => s.systems.some((r) => r.verdict === "slower")).length;
    await page.locator("#show-slower").check();
    assert.deepEqual([await shown(), await inCharts(), await details()], [slower, slower, slower]);
    assert.equal(await page.locator("#filter-told").innerText(), `${slower} of 47 steps`);
  }));

// The verdict on one candidate is a sentence, those on several are a table.
async function verdictsAre(page, json) {
  if (json.candidates.length === 1) {
    assert.deepEqual(await page.locator("p.verdict").allInnerTexts(), [json.candidates[0].verdict]);
    return;
  }
  const rows = await page.locator("table.candidates").evaluate((table) => {
    const heads = Array.from(table.tHead.rows[0].cells, (head) => head.innerText.trim());
    const wanted = ["Slower", "Faster", "Same", "Unclear"].map((head) => heads.indexOf(head));
    return Array.from(table.tBodies[0].rows, (row) =>
      [0, ...wanted].map((at) => row.cells[at].innerText.trim().split("\n")[0]));
  });
  const wanted = json.candidates.map((c) => [c.system, ...[c.n_slower, c.n_faster, c.n_same, c.n_unclear].map(String)]);
  assert.deepEqual(rows, wanted);
}

// What the page shows of a base: step, system, ratio, interval and verdict.
const summaryCells = (page) =>
  page.$$eval("table.summary tr.step", (rows) =>
    rows.map((row) => ({
      step: row.cells[0].querySelector("a").innerText.trim(),
      cells: Array.from(row.querySelectorAll("td.rqps"), (cell) => cell.textContent.replace(/\s+/g, " ").trim()),
      verdicts: Array.from(row.querySelectorAll(".verdict-word"), (word) => word.textContent.trim()),
    })),
  );

test("takes another base as rqps report --base has it", () =>
  opened("demo.html", {}, async (page) => {
    const own = await page.locator("[data-part='summary']").innerHTML();
    const heads = await page.locator("p.verdict").allInnerTexts();
    const labels = figures("demo.json").systems.map((s) => s.label);
    for (const base of [1, 2]) {
      await page.getByLabel("Base", { exact: true }).selectOption(String(base));
      await page.getByText("now relative to").waitFor();
      await page.waitForFunction((label) => document.querySelector("#base-told").textContent.includes(label), labels[base]);
      const json = figures(`demo.base${base}.json`);
      assert.equal(json.base, labels[base]);
      const seen = await summaryCells(page);
      for (const step of json.steps) {
        const title = step.name;
        const row = seen.find((one) => one.step === title);
        assert.ok(row, title);
        const measured = step.systems.filter((r) => r.rqps);
        assert.equal(row.cells.length, step.systems.length - 1, title);
        const shown = row.cells.filter((text) => /^\d/.test(text) && /\[|n=1/.test(text));
        assert.equal(shown.length, measured.length, title);
        measured.forEach((result, n) => {
          const text = shown[n];
          // Shown with as many digits as the interval supports: never off by more than half of the last.
          const near = (value, word) => {
            const decimals = (word.split(".")[1] || "").length;
            const slack = 0.5000001 * 10 ** -decimals;
            assert.ok(Math.abs(Number(word) - value) <= slack, `${title}: ${word} for ${value}`);
          };
          near(result.rqps.point, /^[\d.]+/.exec(text)[0]);
          const ends = /\[([\d.]+), ([\d.]+)\]/.exec(text);
          assert.equal(ends === null, result.rqps.interval === null, title);
          if (ends) {
            near(result.rqps.interval[0], ends[1]);
            near(result.rqps.interval[1], ends[2]);
          }
          if (result.verdict) assert.ok(text.includes(result.verdict), `${title}: ${text} lacks ${result.verdict}`);
        });
      }
      await verdictsAre(page, json);
      // Steps are filtered by the verdicts of this base.
      const slower = await page.$$eval("details.step", (all) => all.map((step) => step.classList.contains("any-slower")));
      assert.deepEqual(slower, json.steps.map((step) => step.systems.some((r) => r.verdict === "slower")));
      // Steps' details, too.
      const step = page.locator("details.step").nth(1);
      await step.evaluate((d) => (d.open = true));
      const table = await step.locator("table").first().innerText();
      assert.ok(/base/.test(table.split("\n").find((line) => line.includes(labels[base]))), table);
    }
    await page.getByLabel("Base", { exact: true }).selectOption("0");
    assert.deepEqual(await page.locator("p.verdict").allInnerTexts(), heads);
    assert.equal(await page.locator("#base-told").innerText(), "");
    const back = await page.locator("[data-part='summary']").innerHTML();
    assert.equal(back.replace(/ hidden=""/g, ""), own.replace(/ hidden=""/g, ""));
  }));

test("takes any of many systems as the base", () =>
  opened("many.html", {}, async (page) => {
    assert.deepEqual(await page.locator("#charts figcaption").allInnerTexts(), ["Point queries"]);
    const options = await page.locator("#base option").allTextContents();
    assert.equal(options.length, 12);
    await page.getByLabel("Base", { exact: true }).selectOption("11");
    await page.waitForFunction((label) => document.querySelector("#base-told").textContent.includes(label), options[11]);
    // The mean and each step have a lane for all but the base.
    const rows = await page.$$eval("#charts .rows li", (all) =>
      all.map((row) => Array.from(row.querySelectorAll(".names .value"), (name) => name.textContent.trim())),
    );
    assert.equal(rows.length, 4);
    for (const names of rows) assert.deepEqual(names, options.slice(0, 11));
  }));

test("takes a system of another run as the base", () =>
  opened("compare.html", {}, async (page) => {
    const base = () => page.locator("#runs tr", { has: page.locator(".badge") }).locator("th").innerText();
    assert.match(await base(), /^20261121-/);
    await page.getByLabel("Base", { exact: true }).selectOption("2");
    await page.getByText("now relative to my8033.small@20261123").waitFor();
    assert.match(await base(), /^20261123-/);
  }));

test("zooms a series and leaves systems out", () =>
  opened("suite.html", {}, async (page) => {
    const step = page.locator("details.step").nth(3);
    await step.locator("summary").first().click();
    const charts = step.locator(".zoomable canvas");
    await charts.nth(1).waitFor();
    assert.equal(await charts.count(), 2);
    const place = step.locator("[data-charts]");
    const range = async () => [Number(await place.getAttribute("data-from")), Number(await place.getAttribute("data-to"))];
    assert.deepEqual(await range(), [0, 180]);
    const over = step.locator(".u-over").first();
    await over.scrollIntoViewIfNeeded();
    const box = await over.boundingBox();
    const y = box.y + box.height / 2;
    await page.mouse.move(box.x + box.width * 0.25, y);
    await page.mouse.down();
    await page.mouse.move(box.x + box.width * 0.4, y, { steps: 4 });
    await page.mouse.move(box.x + box.width * 0.5, y, { steps: 4 });
    await page.mouse.up();
    const [from, to] = await range();
    assert.ok(Math.abs(from - 45) < 3 && Math.abs(to - 90) < 3, `${from} to ${to}`);
    assert.match(await step.locator(".series-tools [role=status]").innerText(), /Seconds \d+ to \d+ of 180/);
    // What is drawn changes with it.
    const picture = () => charts.first().evaluate((canvas) => canvas.toDataURL());
    const zoomed = await picture();
    await step.getByRole("button", { name: "Show all", exact: true }).press("Enter");
    assert.deepEqual(await range(), [0, 180]);
    const whole = await picture();
    assert.notEqual(zoomed, whole);
    await step.getByRole("button", { name: "Zoom in" }).press("Enter");
    assert.deepEqual(await range(), [45, 135]);
    await step.getByRole("button", { name: "Later" }).press("Space");
    assert.deepEqual(await range(), [90, 180]);
    await over.dblclick();
    assert.deepEqual(await range(), [0, 180]);
    const toggle = step.locator(".series-systems button").nth(1);
    await toggle.press("Enter");
    assert.equal(await toggle.getAttribute("aria-pressed"), "false");
    assert.notEqual(await picture(), whole);
    await toggle.press("Enter");
    assert.equal(await picture(), whole);
  }));

test("works with the keyboard alone", () =>
  opened("pair.html", {}, async (page) => {
    await page.keyboard.press("Tab");
    assert.equal(await page.evaluate(() => document.activeElement.className), "skip");
    await page.keyboard.press("Enter");
    assert.equal(await page.evaluate(() => location.hash), "#rqps");
    const reach = async (wanted, limit = 40) => {
      for (let n = 0; n < limit; n += 1) {
        await page.keyboard.press("Tab");
        if (await page.evaluate((selector) => document.activeElement.matches(selector), wanted)) return;
      }
      assert.fail(`${wanted} was not reached by Tab`);
    };
    await reach("#filter-text");
    await page.keyboard.type("scan");
    assert.equal(await page.locator("table.summary tr.step:visible").count(), 1);
    await page.keyboard.press("Control+A");
    await page.keyboard.press("Delete");
    await reach("button.sort");
    await page.keyboard.press("Enter");
    assert.equal(await page.locator("th[aria-sort]").count(), 1);
    // Where the focus is can be seen.
    const outline = await page.evaluate(() => getComputedStyle(document.activeElement).outlineStyle);
    assert.notEqual(outline, "none");
    await reach("details.step > summary", 200);
    await page.keyboard.press("Enter");
    assert.equal(await page.locator("details.step[open]").count(), 1);
  }));

test("opens the step that a link names", () =>
  opened("pair.html", {}, async (page) => {
    await page.locator("table.summary tr.step a").nth(1).click();
    await page.locator("details.step[open]").waitFor();
    assert.equal(await page.locator("details.step[open]").getAttribute("id"), "step-1");
  }));

test("gives its figures as files", () =>
  opened("demo.html", {}, async (page) => {
    for (const [name, wanted] of [["CSV", "demo.csv"], ["JSON", "demo.json"]]) {
      const waiting = page.waitForEvent("download");
      await page.getByRole("link", { name, exact: true }).click();
      const download = await waiting;
      assert.match(download.suggestedFilename(), new RegExp(`\\.${name.toLowerCase()}$`));
      assert.equal(readFileSync(await download.path(), "utf8"), readFileSync(join(pages, wanted), "utf8"));
    }
  }));

test("says everything without script", () =>
  opened("demo.html", { script: false }, async (page) => {
    const json = figures("demo.json");
    assert.equal(await page.locator("table.summary tr.step:visible").count(), json.steps.length);
    await verdictsAre(page, json);
    // Nothing is offered that would not work.
    assert.equal(await page.locator("#base:visible, #filter-text:visible, #open-all:visible, button:visible").count(), 0);
    await page.locator("#show-slower").check();
    const slower = json.steps.filter((s) => s.systems.some((r) => r.verdict === "slower")).length;
    assert.equal(await page.locator("table.summary tr.step:visible").count(), slower);
    await page.locator("#show-all").check();
    const step = page.locator("details.step").nth(1);
    await step.locator("summary").first().click();
    assert.ok(await step.locator("figure.series svg path.track").first().isVisible());
    const waiting = page.waitForEvent("download");
    await page.getByRole("link", { name: "CSV", exact: true }).click();
    assert.match((await waiting).suggestedFilename(), /\.csv\.gz$/);
  }));

// Pages, and how many of their steps are opened. The main ones have every part that there is: axe looks at them on
// a phone and a desktop, in light and dark, and screenshots are kept of all four. At the others it looks on a phone.
const PAGES = [["demo", 2], ["insert", 1], ["compare", 1], ["stacks", 1], ["history", 0], ["blocks", 1], ["suite", 1], ["large", 1], ["many", 1], ["unfinished", 1], ["long", 1], ["hostile", 1]];
const MAIN = ["demo", "insert", "compare", "stacks", "history"];
const ON_PHONE = [["light", "phone"], ["dark", "phone"]];
const ALL_LOOKS = [...ON_PHONE, ["light", "desktop"], ["dark", "desktop"]];
// Too tall for one picture: names of 300 characters, a whole suite.
const TALL = ["long", "suite", "large", "many"];

const look = async (page, [scheme, words]) => {
  await page.emulateMedia({ colorScheme: scheme });
  await page.setViewportSize(words === "phone" ? PHONE : DESKTOP);
  await page.waitForTimeout(50);
};

for (const [name, n] of PAGES) {
  test(`${name}: WCAG AA in light and dark, no sideways scrolling at 390 px`, () =>
    opened(`${name}.html`, { size: PHONE }, async (page) => {
      assert.ok((await sidewaysBy(page)) <= 0, `${await sidewaysBy(page)} px too wide`);
      // Open what is folded, so that it is looked at, too; of a large page once it is unpacked.
      await page.evaluate((n) => {
        document.querySelectorAll("details.step").forEach((step, at) => (step.open = n > 0 && at <= n));
      }, n);
      await page.waitForFunction(() => !document.querySelector("details.step[open] .body[data-packed]"));
      await page.evaluate(() => {
        document.querySelectorAll("details.step[open] details, details:not(.step):not(.step details)").forEach((d) => (d.open = true));
      });
      if (await page.locator("details.step[open] [data-charts] figure.series").count()) {
        await page.locator(".zoomable canvas").first().waitFor();
      }
      assert.ok((await sidewaysBy(page)) <= 0, `opened: ${await sidewaysBy(page)} px too wide`);
      const isMain = MAIN.includes(name);
      for (const each of isMain ? ALL_LOOKS : ON_PHONE) {
        await look(page, each);
        // Nothing but colours depends on the scheme.
        const rules = each[0] === "light" ? WCAG : ["color-contrast"];
        assert.deepEqual(await violations(page, rules), [], each.join(", "));
      }
      await page.evaluate(() => document.querySelectorAll("details.step").forEach((step, at) => (step.open = at === 1)));
      for (const each of isMain ? ALL_LOOKS : [["dark", "phone"], ["light", "desktop"]]) {
        await look(page, each);
        await page.screenshot({ path: join(shots, `${name}-${each.join("-")}.png`), fullPage: !TALL.includes(name) });
      }
    }));
}

test("a style that the page does not bring is refused, and no such refusal is overlooked", async () => {
  const own = pathToFileURL(join(pages, "demo.html")).href;
  const { context, page, errors } = await newPage(browser, {}, (url) => url === own);
  await page.goto(own);
  assert.deepEqual(errors, []);
  await page.evaluate(() => {
    document.body.setAttribute("style", "color: rgb(1, 2, 3)");
    const added = document.createElement("style");
    added.textContent = "body { color: rgb(1, 2, 3) }";
    document.head.append(added);
  });
  const refused = () => errors.filter((error) => error.startsWith("refused: ")).sort();
  for (let n = 0; n < 200 && refused().length < 2; n += 1) await page.waitForTimeout(50);
  assert.deepEqual(refused(), ["refused: style-src-attr inline", "refused: style-src-elem inline"]);
  assert.notEqual(await page.evaluate(() => getComputedStyle(document.body).color), "rgb(1, 2, 3)");
  await context.close();
});

test("hostile text stays text", () =>
  opened("hostile.html", {}, async (page) => {
    // `opened` fails on any dialog, error or request.
    const label = "<script>alert(1)</script>";
    assert.ok((await page.locator("body").innerText()).includes(label));
    assert.ok((await page.locator("#base option").allInnerTexts()).some((text) => text.includes(label)));
    await page.getByLabel("Base", { exact: true }).selectOption("1");
    await page.getByText("now relative to").waitFor();
    await page.locator("details.step").nth(1).locator("summary").first().click();
    await page.locator(".zoomable canvas").first().waitFor();
    const strange = await page.evaluate(() => document.querySelectorAll("img, iframe, object, embed, script[src]").length);
    assert.equal(strange, 0);
    assert.equal(await page.evaluate(() => document.scripts.length), await page.evaluate(() => document.querySelectorAll("body > script").length));
  }));

test("unpacks the details of a large page when they are wanted", () =>
  opened("large.html", {}, async (page) => {
    assert.equal(await page.locator("details.step .body[data-packed]").count(), 47);
    const step = page.locator("details.step").nth(3);
    await step.locator("summary").first().click();
    await step.locator("table.numbers").first().waitFor();
    await step.locator(".zoomable canvas").first().waitFor();
    assert.equal(await page.locator("details.step .body[data-packed]").count(), 46);
    const rows = () => step.locator("table").first().innerText();
    const own = await rows();
    // Another base meets the details of steps that were not opened yet as well.
    await page.getByLabel("Base", { exact: true }).selectOption("1");
    await page.getByText("now relative to").waitFor();
    assert.equal(await page.locator("details.step .body[data-packed]").count(), 0);
    await page.getByLabel("Base", { exact: true }).selectOption("0");
    await page.waitForFunction(() => document.querySelector("#base-told").textContent === "");
    assert.equal(await rows(), own);
  }));

test("a large page says without script where its details are", () =>
  opened("large.html", { script: false }, async (page) => {
    await page.locator("details.step summary").first().click();
    assert.match(await page.locator("details.step .body").first().innerText(), /details of its steps are packed.*rqps report/s);
  }));

test("a link opens a step of a large page", () =>
  opened("large.html#step-5", {}, async (page) => {
    await page.locator("#step-5 table.numbers").first().waitFor();
  }));

test("prints everything", () =>
  opened("pair.html", {}, async (page) => {
    const pdf = await page.pdf({ format: "A4" });
    assert.ok(pdf.length > 50000, `${pdf.length} bytes`);
    await page.emulateMedia({ media: "print" });
    assert.equal(await page.locator("nav:visible, .controls:visible, .base-choice:visible").count(), 0);
  }));
