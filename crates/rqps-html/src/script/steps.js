"use strict";
// Steps: opened by links to them, all at once, and for print.
const all = (selector, root = document) => Array.from(root.querySelectorAll(selector));
const steps = () => all("details.step");
const showTarget = () => {
  const target = document.getElementById(decodeURIComponent(location.hash.slice(1)));
  if (target instanceof HTMLDetailsElement) target.open = true;
};
addEventListener("hashchange", showTarget);
// What was closed before a print is closed after it.
let closedBefore = [];
let isPrinting = false;
addEventListener("beforeprint", () => {
  isPrinting = true;
  closedBefore = steps().filter((step) => !step.open);
  steps().forEach(putBody);
  closedBefore.forEach((step) => (step.open = true));
});
addEventListener("afterprint", () => {
  isPrinting = false;
  closedBefore.splice(0).forEach((step) => (step.open = false));
});
const tools = document.querySelector(".tools");
if (tools) {
  tools.hidden = false;
  for (const [id, open] of [["open-all", true], ["close-all", false]]) {
    document.getElementById(id).addEventListener("click", () => steps().forEach((step) => (step.open = open)));
  }
}
document.addEventListener("click", (event) => {
  if (event.target.closest && event.target.closest("a[href^='#step-']")) setTimeout(showTarget);
});
// Bytes of what is inside the page as base64 and gzip; null where the browser cannot unpack.
const unpacked = async (base64) => {
  if (!("DecompressionStream" in window)) return null;
  const bytes = Uint8Array.from(atob(base64), (letter) => letter.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  return new Response(stream).text();
};
