// Series: charts that can be zoomed, in place of a step's drawings once it is opened.
let seriesData = null;
const seriesOfSteps = () => {
  const packed = document.getElementById("series");
  if (!packed || typeof uPlot === "undefined") return null;
  seriesData = seriesData || unpacked(packed.textContent).then((text) => text && JSON.parse(text));
  return seriesData;
};
const colour = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
// As the style has them for t0 to t5.
const LINES = [
  ["--muted", []],
  ["--t1", [6, 2]],
  ["--t2", [2, 2]],
  ["--t3", [9, 3, 2, 3]],
  ["--t1", [1, 3]],
  ["--t2", [12, 3]],
];
const shortNumber = (value) => {
  if (value === null || value === undefined) return "–";
  const size = Math.abs(value);
  if (size >= 1e6) return (value / 1e6).toFixed(size >= 1e7 ? 1 : 2) + "M";
  if (size >= 1e4) return (value / 1e3).toFixed(size >= 1e5 ? 0 : 1) + "k";
  return String(Number(value.toPrecision(3)));
};
// The lines of a chart on one axis: slices one after the other, a gap between them.
const linesOf = (chart) => {
  const lengths = [];
  for (const track of chart.tracks) track.mean.forEach((slice, n) => (lengths[n] = Math.max(lengths[n] || 0, slice.length)));
  const xs = [];
  const bounds = [];
  let from = 0;
  lengths.forEach((n, slice) => {
    if (slice > 0) {
      bounds.push(from);
      xs.push(from);
    }
    for (let at = 0; at < n; at += 1) xs.push(from + (at + 0.5) * chart.per);
    from += n * chart.per;
  });
  const values = (slices, scale) => {
    const out = [];
    lengths.forEach((n, slice) => {
      if (slice > 0) out.push(null);
      let sum = 0;
      for (let at = 0; at < n; at += 1) {
        const by = slices[slice] ? slices[slice][at] : null;
        if (by === null || by === undefined) {
          out.push(null);
        } else {
          sum += by;
          out.push(chart.log ? Math.exp(sum * scale) : sum * scale);
        }
      }
    });
    return out;
  };
  const lines = [];
  for (const track of chart.tracks) {
    lines.push({ system: track.system, far: false, values: values(track.mean, track.scale) });
    if (track.far) lines.push({ system: track.system, far: true, values: values(track.far, track.scale) });
  }
  return { xs, bounds, lines, length: from };
};
const button = (text, label, act) => {
  const made = document.createElement("button");
  made.type = "button";
  made.textContent = text;
  if (label) made.setAttribute("aria-label", label);
  made.addEventListener("click", act);
  return made;
};
// All charts of a step: they show the same seconds and the same systems.
const drawStep = (place, charts, { labels, base }) => {
  const box = document.createElement("div");
  box.className = "zoomable";
  const plots = [];
  const hiddenSystems = new Set();
  let shown = null;
  const views = charts.map((chart) => ({ chart, ...linesOf(chart) }));
  const length = Math.max(...views.map((one) => one.length));
  const unit = charts[0].blocks ? "block" : "s";
  const told = document.createElement("span");
  told.setAttribute("role", "status");
  const show = (from, to) => {
    const width = Math.min(Math.max(to - from, 2 * charts[0].per), length);
    const start = Math.min(Math.max(from, 0), length - width);
    shown = [start, start + width];
    plots.forEach((plot) => plot.setScale("x", { min: shown[0], max: shown[1] }));
    place.dataset.from = shown[0].toFixed(1);
    place.dataset.to = shown[1].toFixed(1);
    const whole = width >= length;
    told.textContent = whole ? "" : `${unit === "s" ? "Seconds" : "Blocks"} ${Math.round(shown[0])} to ${Math.round(shown[1])} of ${length}`;
  };
  const zoom = (by) => {
    const [from, to] = shown;
    const half = ((to - from) / 2) * by;
    show((from + to) / 2 - half, (from + to) / 2 + half);
  };
  const move = (by) => show(shown[0] + (shown[1] - shown[0]) * by, shown[1] + (shown[1] - shown[0]) * by);
  const systems = document.createElement("div");
  systems.className = "series-systems";
  systems.setAttribute("role", "group");
  systems.setAttribute("aria-label", "Systems in the charts");
  for (const system of new Set(views.flatMap((one) => one.lines.map((line) => line.system)))) {
    const toggle = button("", "", () => {
      const isShown = hiddenSystems.delete(system) || (hiddenSystems.add(system), false);
      toggle.setAttribute("aria-pressed", String(isShown));
      plots.forEach((plot, n) => {
        views[n].lines.forEach((own, at) => own.system === system && plot.setSeries(at + 1, { show: isShown }));
      });
    });
    toggle.setAttribute("aria-pressed", "true");
    const name = document.createElement("bdi");
    name.textContent = labels[system];
    toggle.innerHTML = `<svg class="key" width="26" height="10" aria-hidden="true"><line class="track t${system % 6}" x1="0" x2="26" y1="5" y2="5"/></svg>`;
    toggle.append(name);
    systems.append(toggle);
  }
  const tools = document.createElement("div");
  tools.className = "series-tools";
  tools.append(
    button("+", "Zoom in", () => zoom(0.5)),
    button("−", "Zoom out", () => zoom(2)),
    button("◀", "Earlier", () => move(-0.5)),
    button("▶", "Later", () => move(0.5)),
    button("All", "Show all", () => show(0, length)),
    told,
  );
  const hint = document.createElement("p");
  hint.className = "hint";
  const hints = ["Drag across a chart to zoom in, double-click to see all again."];
  if (charts.some((chart) => chart.turns)) {
    hints.push("Seconds are those of a system's own slices; the last one of a block has what is left at its end.");
  }
  if (charts.some((chart) => chart.left_out.length > 0)) {
    hints.push(`Shaded: blocks of a disturbed host, which ratios to ${labels[base]} leave out.`);
  }
  hint.textContent = hints.join(" ");
  box.append(systems, tools, hint);
  const draw = () => {
    plots.splice(0).forEach((plot) => plot.destroy());
    box.querySelectorAll("figure").forEach((figure) => figure.remove());
    for (const { chart, xs, bounds, lines } of views) {
      const figure = document.createElement("figure");
      figure.className = "series";
      const caption = document.createElement("figcaption");
      const what = document.createElement("span");
      const points = chart.per > 1 ? `; means of ${chart.per} ${unit === "s" ? "s" : "blocks"}` : "";
      const thin = !chart.log && chart.per > 1 ? `, thin: the slowest ${unit === "s" ? "second" : "block"} of each` : "";
      const longest = chart.log ? "; thin: the longest" : "";
      const target = chart.target ? `; line across: ${shortNumber(chart.target)}, the rate set` : "";
      what.textContent = `${chart.what}, ${chart.unit}${points}${thin}${longest}${target}`;
      const readout = document.createElement("span");
      readout.className = "readout";
      caption.append(what, readout);
      const holder = document.createElement("div");
      holder.setAttribute("role", "img");
      holder.setAttribute("aria-label", `${chart.what} of ${place.closest("details").querySelector("h3").textContent}`);
      figure.append(caption, holder);
      box.append(figure);
      const axis = { stroke: colour("--muted"), grid: { stroke: colour("--line"), width: 1 }, ticks: { stroke: colour("--line"), width: 1 } };
      const size = () => ({ width: Math.max(200, Math.floor(holder.clientWidth)), height: 190 });
      const plot = new uPlot(
        {
          ...size(),
          legend: { show: false },
          cursor: { drag: { x: true, y: false, setScale: false }, sync: { key: place.dataset.charts }, points: { show: false } },
          scales: {
            x: { time: false },
            y: chart.log ? { distr: 3 } : { range: (_, low, high) => [0, Math.max(high, chart.target || 0) * 1.03 || 1] },
          },
          axes: [
            { ...axis, size: 34, values: (_, ticks) => ticks.map((tick) => `${tick}`) },
            { ...axis, size: 62, values: (_, ticks) => ticks.map((tick) => (tick === null ? null : shortNumber(tick))) },
          ],
          series: [
            {},
            ...lines.map((line) => ({
              label: labels[line.system],
              stroke: colour(LINES[line.system % LINES.length][0]),
              dash: line.far ? undefined : LINES[line.system % LINES.length][1],
              width: line.far ? 0.7 : 1.6,
              points: { show: false },
              show: !hiddenSystems.has(line.system),
            })),
          ],
          hooks: {
            drawClear: [
              (u) => {
                u.ctx.save();
                u.ctx.fillStyle = colour("--band");
                for (const [from, to] of chart.left_out) {
                  const left = Math.max(u.valToPos(from, "x", true), u.bbox.left);
                  const right = Math.min(u.valToPos(to, "x", true), u.bbox.left + u.bbox.width);
                  if (right > left) u.ctx.fillRect(left, u.bbox.top, right - left, u.bbox.height);
                }
                u.ctx.restore();
              },
            ],
            drawAxes: [
              (u) => {
                u.ctx.save();
                u.ctx.strokeStyle = colour("--line");
                u.ctx.lineWidth = 1;
                u.ctx.beginPath();
                for (const bound of bounds) {
                  const x = Math.round(u.valToPos(bound, "x", true));
                  if (x > u.bbox.left && x < u.bbox.left + u.bbox.width) {
                    u.ctx.moveTo(x, u.bbox.top);
                    u.ctx.lineTo(x, u.bbox.top + u.bbox.height);
                  }
                }
                if (chart.target) {
                  const y = Math.round(u.valToPos(chart.target, "y", true));
                  u.ctx.moveTo(u.bbox.left, y);
                  u.ctx.lineTo(u.bbox.left + u.bbox.width, y);
                }
                u.ctx.stroke();
                u.ctx.restore();
              },
            ],
            setSelect: [
              (u) => {
                if (u.select.width < 4) return;
                const from = u.posToVal(u.select.left, "x");
                const to = u.posToVal(u.select.left + u.select.width, "x");
                u.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false);
                show(from, to);
              },
            ],
            setCursor: [
              (u) => {
                const at = u.cursor.idx;
                const values = at === null || at === undefined ? [] : lines
                  .map((line, n) => (line.far || hiddenSystems.has(line.system) || line.values[at] === null ? null : `${labels[line.system]} ${shortNumber(u.data[n + 1][at])}`))
                  .filter((text) => text !== null);
                readout.textContent = values.length === 0 ? "" : `${unit} ${Math.floor(xs[at])}: ${values.join(", ")}`;
              },
            ],
          },
        },
        [xs, ...lines.map((line) => line.values)],
        holder,
      );
      plot.over.addEventListener("dblclick", () => show(0, length));
      new ResizeObserver(() => holder.isConnected && plot.setSize(size())).observe(holder);
      plots.push(plot);
    }
    const [from, to] = shown || [0, length];
    show(from, to);
  };
  place.append(box);
  draw();
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", draw);
};
const openSeries = async (step) => {
  const place = step.querySelector("[data-charts]");
  if (!place || place.dataset.drawn) return;
  const found = seriesOfSteps();
  if (!found) return;
  place.dataset.drawn = "yes";
  const data = await found;
  const charts = data ? data.steps[Number(place.dataset.charts)] : [];
  if (charts.length === 0) return;
  place.classList.add("has-charts");
  drawStep(place, charts, data);
};
