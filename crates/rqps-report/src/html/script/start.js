// Everything that was waiting for the page.
document.addEventListener("toggle", (event) => {
  if (!(event.target instanceof HTMLDetailsElement) || !event.target.open) return;
  // Paper has the drawings.
  if (isPrinting) return;
  makeAllSortable(event.target);
  if (event.target.classList.contains("step")) openSeries(event.target);
}, true);
makeAllSortable(document);
applyFilter();
showTarget();
