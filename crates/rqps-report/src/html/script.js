"use strict";
const steps = () => document.querySelectorAll("details.step");
const show = () => {
  const target = document.getElementById(location.hash.slice(1));
  if (target instanceof HTMLDetailsElement) target.open = true;
};
addEventListener("hashchange", show);
addEventListener("beforeprint", () => steps().forEach((d) => (d.open = true)));
document.querySelector(".tools").hidden = false;
document.getElementById("open-all").addEventListener("click", () => steps().forEach((d) => (d.open = true)));
document.getElementById("close-all").addEventListener("click", () => steps().forEach((d) => (d.open = false)));
document.addEventListener("click", (e) => {
  if (e.target.closest && e.target.closest("a[href^='#step-']")) setTimeout(show);
});
show();
