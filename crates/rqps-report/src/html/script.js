"use strict";
const steps = () => document.querySelectorAll("details.step");
const show = () => {
  const target = document.getElementById(location.hash.slice(1));
  if (target instanceof HTMLDetailsElement) target.open = true;
};
addEventListener("hashchange", show);
addEventListener("beforeprint", () => steps().forEach((d) => (d.open = true)));
const tools = document.querySelector(".tools");
if (tools) {
  tools.hidden = false;
  for (const [id, open] of [["open-all", true], ["close-all", false]]) {
    document.getElementById(id).addEventListener("click", () => steps().forEach((d) => (d.open = open)));
  }
}
document.addEventListener("click", (e) => {
  if (e.target.closest && e.target.closest("a[href^='#step-']")) setTimeout(show);
});
show();
