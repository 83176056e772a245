// Tables: a click on a heading sorts by its column, up, down, and back to the order of the run.
const RANKS = ["slower", "unclear", "same", "faster"];
const UNITS = { bytes: 1, KB: 1024, MB: 1024 ** 2, GB: 1024 ** 3, TB: 1024 ** 4 };
// What a cell is sorted by: a verdict's rank, its first number, or its words; null for nothing.
const sortKey = (cell) => {
  const text = cell ? cell.textContent.trim() : "";
  if (text === "" || text === "–") return null;
  const word = cell.querySelector(".verdict-word");
  if (word && cell.firstElementChild === word) {
    const rank = RANKS.findIndex((known) => word.classList.contains(known));
    return rank < 0 ? null : rank;
  }
  if (cell.tagName === "TH" || cell.classList.contains("word")) return text.toLowerCase();
  if (/^inf/.test(text)) return Infinity;
  if (/^n=\d/.test(text)) return null;
  const found = /^[^\d\-−+]*?([\-−+]?(?:\d[\d.]*|\.\d+)(?:e[+-]?\d+)?)[\s\u2007\u00a0]*(bytes|[KMGT]B)?/.exec(text);
  return found ? Number(found[1].replace("−", "-")) * (UNITS[found[2]] || 1) : text.toLowerCase();
};
const compareKeys = (a, b) => {
  if (typeof a === "string") return a.localeCompare(b, "en", { numeric: true });
  return a === b ? 0 : a - b;
};
// The heading of each column: the lowest one that stands over it alone.
const columnHeads = (table) => {
  const rows = table.tHead ? Array.from(table.tHead.rows) : [];
  const grid = rows.map(() => []);
  rows.forEach((row, y) => {
    let x = 0;
    for (const cell of row.cells) {
      while (grid[y][x]) x += 1;
      for (let dy = 0; dy < cell.rowSpan && y + dy < rows.length; dy += 1) {
        for (let dx = 0; dx < cell.colSpan; dx += 1) grid[y + dy][x + dx] = cell;
      }
      x += cell.colSpan;
    }
  });
  const last = grid[grid.length - 1] || [];
  return last.map((cell) => (cell && cell.colSpan === 1 ? cell : null));
};
const isPlain = (row) => !row.classList.contains("group") && Array.from(row.cells).every((cell) => cell.colSpan === 1);
const makeSortable = (table) => {
  if (table.dataset.sortable) return;
  const bodies = Array.from(table.tBodies);
  const order = bodies.map((body) => Array.from(body.rows));
  // Steps are one list whatever their group; rows of other tables stay with the heading they have.
  const isOneList = table.classList.contains("summary") && bodies.length > 1;
  const lengths = (isOneList ? [order.flat()] : order).map((rows) => rows.filter(isPlain).length);
  if (Math.max(0, ...lengths) < 2) return;
  table.dataset.sortable = "yes";
  const heads = columnHeads(table);
  const put = (at, direction) => {
    heads.forEach((head) => head && head.removeAttribute("aria-sort"));
    table.classList.toggle("sorted", direction !== 0);
    if (direction === 0) {
      bodies.forEach((body, n) => body.append(...order[n]));
      // Headings of groups went with their rows.
      applyFilter();
      return;
    }
    heads[at].setAttribute("aria-sort", direction > 0 ? "ascending" : "descending");
    const sorted = (rows) => {
      const keyed = rows.map((row) => [sortKey(row.cells[at]), row]);
      // Words among numbers say why there is none.
      const type = keyed.some(([key]) => typeof key === "number") ? "number" : "string";
      const known = keyed.filter(([key]) => typeof key === type);
      known.sort(([a], [b]) => direction * compareKeys(a, b));
      return [...known, ...keyed.filter(([key]) => typeof key !== type)].map(([, row]) => row);
    };
    if (isOneList) {
      bodies[0].append(...sorted(order.flat().filter(isPlain)));
    } else {
      bodies.forEach((body, n) => body.append(...sorted(order[n].filter(isPlain))));
    }
  };
  let now = [-1, 0];
  heads.forEach((head, at) => {
    if (!head || head.textContent.trim() === "") return;
    const button = document.createElement("button");
    button.type = "button";
    button.className = "sort";
    if (head.querySelector("a")) {
      // A link in a button would be neither.
      button.textContent = "↕";
      button.setAttribute("aria-label", `Sort by ${head.textContent.trim()}`);
      button.classList.add("beside");
      head.append(" ", button);
    } else {
      button.append(...head.childNodes);
      head.append(button);
    }
    button.addEventListener("click", () => {
      const direction = now[0] !== at ? 1 : now[1] === 1 ? -1 : 0;
      now = direction === 0 ? [-1, 0] : [at, direction];
      put(at, direction);
    });
  });
};
// Tables of closed steps wait until they are opened.
const makeAllSortable = (root) => {
  for (const table of all("table.numbers", root)) {
    const step = table.closest("details.step");
    if (!step || step.open) makeSortable(table);
  }
};
