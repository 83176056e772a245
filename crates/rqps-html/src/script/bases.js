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
  const { bases, details, charts, parts } = JSON.parse(packed);
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
        makeCopyable(place);
      }
    }
    for (const note of all(".other-base")) {
      note.hidden = at < 0 || (note.closest("#charts") ? charts : details);
    }
    // Verdicts are filtered by what they are now, in the table of figures, which no base changes, as well.
    for (const step of steps()) {
      const now = step.querySelector("[data-verdicts]").dataset.verdicts.split(" ");
      for (const shown of [step, ...all(`.absolute [data-step="${step.dataset.step}"]`)]) {
        for (const name of ["any-slower", "any-faster", "any-open"]) shown.classList.toggle(name, now.includes(name));
      }
    }
    const label = chooseBase.selectedOptions[0].textContent;
    const what = details ? "Ratios, verdicts and causes are" : charts ? "Verdicts, tables and charts are" : "Verdicts and tables are";
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
