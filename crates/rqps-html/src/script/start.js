// Everything that was waiting for the page.
const opened = (details) => {
  const isStep = details.classList.contains("step");
  if (isStep) putBody(details);
  makeAllSortable(details);
  // What is there is shown before its charts are drawn.
  if (isStep) requestAnimationFrame(() => setTimeout(() => openSeries(details)));
};
document.addEventListener("toggle", (event) => {
  if (!(event.target instanceof HTMLDetailsElement) || !event.target.open) return;
  // Paper has the drawings.
  if (!isPrinting) opened(event.target);
}, true);
makeAllSortable(document);
applyFilter();
showTarget();
// Those that were opened before their details were unpacked.
unpackBodies().then(() => steps().filter((step) => step.open).forEach(opened));
