// Filters by name and group: rows of the summary, of the charts, and steps, wherever they stand.
const filterText = document.getElementById("filter-text");
const filterGroup = document.getElementById("filter-group");
const shownSteps = () => {
  const chosen = document.querySelector(".filter input[name='show']:checked");
  const verdict = chosen && chosen.id !== "show-all" ? "any-" + chosen.id.slice("show-".length) : "";
  const words = filterText.value.trim().toLowerCase().split(/\s+/).filter((word) => word !== "");
  const group = filterGroup ? filterGroup.value : "";
  const shown = new Set();
  for (const step of steps()) {
    const name = step.querySelector("h3").textContent.toLowerCase();
    const isNamed = words.every((word) => name.includes(word)) && (group === "" || step.dataset.group === group);
    if (isNamed) shown.add(step.dataset.step);
  }
  const counted = steps().filter((step) => shown.has(step.dataset.step) && (verdict === "" || step.classList.contains(verdict)));
  return { shown, n: counted.length };
};
const applyFilter = () => {
  if (!filterText) return;
  const { shown, n } = shownSteps();
  for (const row of all("[data-step]")) row.hidden = !shown.has(row.dataset.step);
  // A group's heading goes with the last of its rows.
  for (const body of all("table.summary > tbody")) {
    const heading = body.querySelector("tr.group");
    if (heading) heading.hidden = !all("tr[data-step]", body).some((row) => !row.hidden);
  }
  for (const chart of all("#charts .chart")) {
    const rows = all("[data-step]", chart);
    chart.hidden = rows.length > 0 && rows.every((row) => row.hidden);
  }
  const total = steps().length;
  document.getElementById("filter-told").textContent = n === total ? "" : `${n} of ${total} steps`;
};
if (filterText) {
  filterText.closest(".filter-more").hidden = false;
  filterText.addEventListener("input", applyFilter);
  if (filterGroup) filterGroup.addEventListener("change", applyFilter);
  for (const radio of all(".filter input[name='show']")) radio.addEventListener("change", applyFilter);
}
// Charts: the order of the suite, or by how much the steps lost or gained.
const chartOrder = document.getElementById("chart-order");
const orderCharts = () => {
  if (!chartOrder) return;
  const byEffect = chartOrder.querySelector("input[value='effect']").checked;
  for (const list of all("#charts .rows")) {
    const key = (row) => (byEffect ? Number(row.dataset.effect ?? Infinity) : Number(row.dataset.step));
    list.append(...Array.from(list.children).sort((a, b) => key(a) - key(b)));
  }
};
if (chartOrder) {
  chartOrder.hidden = false;
  chartOrder.addEventListener("change", orderCharts);
}
