"use strict";
const startFlame = (graph) => {
  const frames = Array.from(graph.querySelectorAll("svg"), (own) => ({
    own,
    x: parseFloat(own.getAttribute("x")),
    y: +own.getAttribute("y"),
    width: parseFloat(own.getAttribute("width")),
  }));
  const row = +frames[0].own.getAttribute("height") + 1;
  const byElement = new Map(frames.map((frame) => [frame.own, frame]));
  const frameOf = (element) => byElement.get(element.closest("svg.flame svg"));
  const lines = (frame) => frame.own.firstElementChild.textContent.split("\n");
  const name = (frame) => lines(frame)[0];
  // Places have three decimals.
  const isInside = (inner, outer) => inner.x >= outer.x - 0.001 && inner.x + inner.width <= outer.x + outer.width + 0.001;
  const isShown = (frame) => frame.own.style.display !== "none";

  // Below the graph, which it must not move by the lines that it takes.
  const readout = document.createElement("p");
  readout.className = "flame-readout";
  readout.setAttribute("role", "status");
  let told = null;
  const tell = (frame) => {
    if (frame === told) return;
    told = frame;
    const [first, ...numbers] = lines(frame);
    const strong = document.createElement("strong");
    strong.textContent = first;
    readout.replaceChildren(strong, ` ${numbers.join(" · ")}`);
  };

  // The one frame that Tab reaches; arrow keys make it another.
  let current = null;
  const reach = (frame) => {
    const before = current;
    if (frame === before) return;
    current = frame;
    frame.own.setAttribute("tabindex", "0");
    frame.own.setAttribute("role", "button");
    frame.own.setAttribute("aria-label", name(frame));
    if (before) ["tabindex", "role", "aria-label"].forEach((attribute) => before.own.removeAttribute(attribute));
  };
  const go = (frame) => {
    if (!frame) return;
    reach(frame);
    frame.own.focus();
    // The readout keeps to the end of the window and may lie over it.
    const covered = frame.own.getBoundingClientRect().bottom - readout.getBoundingClientRect().top;
    if (covered > 0) window.scrollBy(0, covered);
  };

  const zoom = (to) => {
    for (const frame of frames) {
      const isCaller = frame.y < to.y && isInside(to, frame);
      const isPart = frame.y >= to.y && isInside(frame, to);
      frame.own.style.display = isCaller || isPart ? "" : "none";
      frame.own.classList.toggle("past", isCaller && frame !== to);
      const x = isCaller ? 0 : ((frame.x - to.x) / to.width) * 100;
      const width = isCaller ? 100 : (frame.width / to.width) * 100;
      frame.own.setAttribute("x", x + "%");
      frame.own.setAttribute("width", width + "%");
      if (width >= 1.2 && !frame.own.querySelector("text")) {
        const text = document.createElementNS("http://www.w3.org/2000/svg", "text");
        text.setAttribute("x", "3");
        text.setAttribute("y", "12.5");
        text.textContent = name(frame);
        frame.own.append(text);
      }
    }
    if (!isShown(current)) reach(to);
  };

  const search = (words, found) => {
    const wanted = words.trim().toLowerCase();
    let share = 0;
    let n = 0;
    const covered = [];
    for (const frame of frames) {
      const isHit = wanted !== "" && name(frame).toLowerCase().includes(wanted);
      frame.own.querySelector("rect").classList.toggle("hit", isHit);
      if (isHit) n += 1;
      // A frame inside another that was found is a part of it.
      if (isHit && !covered.some((other) => isInside(frame, other))) {
        covered.push(frame);
        share += frame.width;
      }
    }
    found.textContent = wanted === "" ? "" : `${n} frames, ${share.toFixed(1)}% of the width`;
  };

  // Callers are above; of what a frame calls the widest is gone to.
  const caller = (of) => frames.find((frame) => frame.y === of.y - row && isShown(frame) && isInside(of, frame));
  const callee = (of) => {
    const all = frames.filter((frame) => frame.y === of.y + row && isShown(frame) && isInside(frame, of));
    return all.sort((a, b) => b.width - a.width)[0];
  };
  const beside = (of, by) => {
    const all = frames.filter((frame) => frame.y === of.y && isShown(frame)).sort((a, b) => a.x - b.x);
    return all[all.indexOf(of) + by];
  };
  const keys = {
    ArrowUp: (frame) => go(caller(frame)),
    ArrowDown: (frame) => go(callee(frame)),
    ArrowLeft: (frame) => go(beside(frame, -1)),
    ArrowRight: (frame) => go(beside(frame, 1)),
    Enter: zoom,
    " ": zoom,
    Escape: () => zoom(frames[0]),
  };
  graph.addEventListener("keydown", (event) => {
    const act = keys[event.key];
    if (!act || event.altKey || event.ctrlKey || event.metaKey) return;
    event.preventDefault();
    act(current);
  });
  // Not of the graph itself: an SVG that listens to the focus is one more stop of Tab.
  graph.parentElement.addEventListener("focusin", (event) => {
    const frame = frameOf(event.target);
    if (frame) tell(frame);
  });
  graph.addEventListener("pointerover", (event) => {
    const frame = frameOf(event.target);
    if (frame && event.pointerType !== "touch") tell(frame);
  });
  // A finger cannot point: its first tap on a frame tells, the second widens.
  let tapped = null;
  graph.addEventListener("pointerdown", (event) => {
    tapped = event.pointerType === "touch" ? { before: told } : null;
  });
  graph.addEventListener("click", (event) => {
    const frame = frameOf(event.target);
    if (!frame) return;
    const isFirstTap = tapped !== null && tapped.before !== frame;
    tapped = null;
    reach(frame);
    frame.own.focus({ preventScroll: true });
    tell(frame);
    if (!isFirstTap) zoom(frame);
  });

  const tools = document.createElement("div");
  tools.className = "flame-tools";
  const input = document.createElement("input");
  input.type = "search";
  input.placeholder = "Search functions";
  input.setAttribute("aria-label", "Search functions: " + (graph.getAttribute("aria-label") || ""));
  const whole = document.createElement("button");
  whole.type = "button";
  whole.textContent = "Show all";
  const found = document.createElement("span");
  found.setAttribute("role", "status");
  const hint = document.createElement("span");
  hint.textContent = matchMedia("(hover: none)").matches
    ? "Tap a frame for its numbers, once more to widen it."
    : "Click a frame to widen it. By keyboard: arrow keys go from frame to frame, Enter widens, Escape shows all.";
  input.addEventListener("input", () => search(input.value, found));
  whole.addEventListener("click", () => zoom(frames[0]));
  tools.append(input, whole, found, hint);
  graph.before(tools);
  graph.after(readout);
  // No longer one picture: its frames are gone through.
  graph.setAttribute("role", "application");
  graph.setAttribute("aria-roledescription", "flame graph");
  reach(frames[0]);
};
const startedFlames = new WeakSet();
const startFlames = () => {
  for (const graph of document.querySelectorAll("svg.flame:not(.swatch)")) {
    if (startedFlames.has(graph)) continue;
    startedFlames.add(graph);
    startFlame(graph);
  }
};
startFlames();
// Of a large page the details of a step come when it is opened.
document.addEventListener("toggle", startFlames, true);
