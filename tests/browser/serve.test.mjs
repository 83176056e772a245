// Looks at `rqps serve` in headless Chromium: a run under way to its end, the list, comparisons, history.
//
// `node --test serve.test.mjs` with RQPS_URL (the server), RQPS_DONE and RQPS_OTHER (runs that have
// finished), RQPS_LIVE (one that is under way, of two systems in turns), RQPS_SEEN (a file to make when the run under way has been seen and may
// end), RQPS_LOCKED and RQPS_TOKEN (a server of the same results that needs a token), RQPS_SHOTS and RQPS_CHROMIUM. Run by `cargo test -p rqps`.

import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { DESKTOP, PHONE, WCAG, launched, newPage, shots, sidewaysBy, violations } from "./browser.mjs";

const { RQPS_URL: url, RQPS_DONE: done, RQPS_OTHER: other, RQPS_LIVE: live, RQPS_SEEN: seen } = process.env;
const { RQPS_LOCKED: locked, RQPS_TOKEN: token } = process.env;

let browser;
before(async () => {
  browser = await launched();
});
after(() => browser?.close());

// A page of the server, which may ask for nothing elsewhere.
const opened = async (path, options, act) => {
  const { context, page, asked, errors } = await newPage(browser, options, (asked) => asked.startsWith(`${url}/`));
  await page.goto(url + path);
  try {
    await act(page);
    assert.deepEqual(asked, [], "a request left the machine");
    assert.deepEqual(errors, []);
  } finally {
    await context.close();
  }
};

const shot = (page, name) => page.screenshot({ path: join(shots, `serve-${name}.png`), fullPage: true });

test("a run is followed while it goes on, and its end is told", { timeout: 1_500_000 }, () =>
  opened(`/runs/${live}/live`, {}, async (page) => {
    // As long as the run has not got there; the host may be busy with anything.
    const patient = { timeout: 600_000 };
    await page.getByText("Follows the run").waitFor(patient);
    // How fast both are, in one moment.
    await page.waitForFunction(
      () => [...document.querySelectorAll("#now td.now")].filter((cell) => /^\d/.test(cell.innerText.trim())).length === 2,
      null,
      patient,
    );
    await page.locator("#narrowing polygon").first().waitFor(patient);
    assert.match(await page.locator("#state").innerText(), /about .+ left/);
    assert.match(await page.locator("#now").innerText(), /\[\d/);
    // It moves: another figure, another block.
    const before = await page.locator("#now").innerText();
    await page.waitForFunction((before) => document.querySelector("#now").innerText !== before, before, patient);
    assert.deepEqual(await violations(page, WCAG), []);
    await shot(page, "live-light-desktop");
    await page.emulateMedia({ colorScheme: "dark" });
    await page.setViewportSize(PHONE);
    assert.ok((await sidewaysBy(page)) <= 0, `${await sidewaysBy(page)} px too wide`);
    assert.deepEqual(await violations(page, ["color-contrast"]), []);
    await shot(page, "live-dark-phone");
    // With the token the same stream is followed.
    const other = await page.context().newPage();
    await other.goto(`${locked}/runs/${live}/live#token=${token}`);
    await other.getByText("Follows the run").waitFor(patient);
    await other.close();
    writeFileSync(seen, "seen");
    await page.getByText("The run is over; this page no longer changes.").waitFor(patient);
    assert.match(await page.locator("#state").innerText(), /The run was interrupted\./);
  }));

test("finds runs by words while one types", () =>
  opened("/", {}, async (page) => {
    const shown = () => page.locator("tr[data-words]:visible").count();
    const all = await shown();
    assert.ok(all >= 2, `${all} runs`);
    await page.getByLabel("Search").fill("interrupted");
    assert.equal(await shown(), 1);
    assert.match(await page.locator("#n-shown").innerText(), /^1 of the \d+ runs below$/);
    await page.getByLabel("Search").fill("no such words");
    assert.equal(await shown(), 0);
    await page.getByLabel("Search").fill("");
    assert.equal(await shown(), all);
  }));

test("compares the systems that are ticked, of any runs", () =>
  opened("/", {}, async (page) => {
    for (const run of [done, other]) {
      await page.locator(`input[name=s][value="${run}:0"]`).check();
    }
    assert.equal(await page.locator("#n-chosen").innerText(), "2 systems chosen");
    await page.getByRole("button", { name: "Compare" }).click();
    await page.locator("table.summary").first().waitFor();
    const base = page.getByRole("navigation", { name: "Pages" }).locator("strong");
    const before = await base.innerText();
    await page.getByRole("navigation", { name: "Pages" }).locator("a[href^='/compare']").first().click();
    await page.locator("table.summary").first().waitFor();
    assert.notEqual(await base.innerText(), before);
    await page.getByRole("link", { name: "All runs" }).click();
    await page.locator("table.runs").waitFor();
  }));

test("compares two systems with two clicks", () =>
  opened("/", {}, async (page) => {
    await page.locator(`input[name=s][value="${done}:0"]`).check();
    const item = page.locator(`li:has(input[value="${other}:0"])`);
    await item.getByRole("link", { name: /^compare with / }).click();
    await page.locator("table.summary").first().waitFor();
    assert.match(page.url(), /\/compare\?s=/);
  }));

test("leads from the list to a run's report, to what it is made of and a step's history", () =>
  opened("/", {}, async (page) => {
    await page.locator(`a[href="/runs/${done}"]`).click();
    await page.locator("p.verdict").first().waitFor();
    await page.getByRole("link", { name: /^About / }).click();
    await page.getByRole("link", { name: "point-query", exact: true }).click();
    await page.getByRole("heading", { level: 1 }).waitFor();
    assert.match(page.url(), /\/history\?step=point-query/);
  }));

test("shows pages to who has the token, which leaves the address", async () => {
  const { context, page, asked, errors } = await newPage(browser, {}, (asked) => asked.startsWith(`${locked}/`));
  await page.goto(`${locked}/`);
  await page.getByRole("heading", { name: "Token needed" }).waitFor();
  assert.deepEqual(await violations(page, WCAG), []);
  assert.equal(await page.locator("table.runs").count(), 0);
  await page.goto(`${locked}/#token=not-the-token-of-it`);
  await page.getByText("That is not the token.").waitFor();
  // A new fragment loads nothing by itself.
  await page.goto(`${locked}/#token=${token}`);
  await page.locator("table.runs").waitFor();
  assert.equal(page.url(), `${locked}/`);
  await page.locator(`a[href="/runs/${done}"]`).click();
  await page.locator("p.verdict").first().waitFor();
  // Its script runs, and the page it is in has its style.
  await page.locator("table.summary").first().waitFor();
  assert.ok(await page.evaluate(() => document.querySelector("th button, th[aria-sort]") !== null));
  assert.notEqual(await page.evaluate(() => getComputedStyle(document.body).maxWidth), "none");
  const kept = page.waitForEvent("download");
  await page.locator(`a[href$="/${done}.csv"]`).click();
  assert.equal((await kept).suggestedFilename(), `${done}.csv`);
  await page.goto(`${locked}/runs/${done}/data/${done}.txt`);
  await page.locator("pre").getByText("point-query").first().waitFor();
  assert.deepEqual(asked, []);
  // The pages without the token are 401; no policy refused anything.
  assert.deepEqual(errors.filter((error) => !error.includes("401")), []);
  // Another tab knows nothing.
  const other = await context.newPage();
  await other.goto(`${locked}/runs/${done}`);
  await other.getByRole("heading", { name: "Token needed" }).waitFor();
  await context.close();
});

test("says as much without script", () =>
  opened("/", { script: false }, async (page) => {
    assert.ok((await page.locator("tr[data-words]").count()) >= 2);
    await page.getByLabel("Search").fill("interrupted");
    await page.getByRole("button", { name: "Search" }).click();
    assert.equal(await page.locator("tr[data-words]").count(), 1);
  }));

const PAGES = [
  ["list", "/"],
  ["report", `/runs/${done}`],
  ["over", `/runs/${done}/live`],
  ["about", `/runs/${done}/about`],
  ["compare", `/compare?s=${done}:0&s=${other}:0`],
  ["ask-history", "/history"],
  ["history", "/history?step=point-query"],
];

for (const [name, path] of PAGES) {
  test(`${name}: WCAG AA in light and dark, no sideways scrolling at 390 px`, () =>
    opened(path, { size: PHONE }, async (page) => {
      assert.ok((await sidewaysBy(page)) <= 0, `${await sidewaysBy(page)} px too wide`);
      assert.deepEqual(await violations(page, WCAG), []);
      await shot(page, `${name}-light-phone`);
      await page.emulateMedia({ colorScheme: "dark" });
      assert.deepEqual(await violations(page, ["color-contrast"]), []);
      await page.setViewportSize(DESKTOP);
      await shot(page, `${name}-dark-desktop`);
    }));
}
