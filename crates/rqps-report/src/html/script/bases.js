// Another base: takes what was computed and rendered for it with the page. Nothing is computed here.
const chooseBase = document.getElementById("base");
const takeBase = async () => {
  const told = document.getElementById("base-told");
  const packed = await unpacked(document.getElementById("bases").textContent);
  if (packed === null) {
    told.textContent = "This browser cannot unpack the other bases.";
    return;
  }
  await unpackBodies();
  steps().forEach(putBody);
  const { bases, details, parts } = JSON.parse(packed);
  const places = new Map(all("[data-part]").map((place) => [place.dataset.part, place]));
  const own = new Map(parts.map(([name]) => [name, Array.from(places.get(name).childNodes)]));
  const put = () => {
    const at = bases.indexOf(Number(chooseBase.value));
    for (const [name, texts] of parts) {
      const place = places.get(name);
      if (at < 0) {
        place.replaceChildren(...own.get(name));
      } else {
        const template = document.createElement("template");
        template.innerHTML = texts[at];
        place.replaceChildren(template.content);
      }
    }
    all(".other-base").forEach((note) => (note.hidden = details || at < 0));
    // Verdicts are filtered by what they are now.
    for (const row of all("#rqps tr[data-step]")) {
      const step = document.getElementById("step-" + row.dataset.step);
      for (const name of ["any-slower", "any-faster", "any-open"]) {
        step.classList.toggle(name, row.classList.contains(name));
      }
    }
    const label = chooseBase.selectedOptions[0].textContent;
    const what = details ? "Ratios, verdicts and causes are" : "Verdicts, tables and charts are";
    told.textContent = at < 0 ? "" : `${what} now relative to ${label}.`;
    all("[data-part]").forEach(makeAllSortable);
    orderCharts();
    applyFilter();
  };
  put();
  chooseBase.onchange = put;
};
if (chooseBase && "DecompressionStream" in window) {
  chooseBase.closest(".base-choice").hidden = false;
  chooseBase.addEventListener("change", takeBase, { once: true });
}
