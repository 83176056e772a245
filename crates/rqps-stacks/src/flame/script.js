"use strict";
for (const graph of document.querySelectorAll("svg.flame:not(.swatch)")) {
  const name = (frame) => frame.firstElementChild.textContent.split("\n")[0];
  const frames = Array.from(graph.querySelectorAll("svg"), (own) => ({
    own,
    x: parseFloat(own.getAttribute("x")),
    y: +own.getAttribute("y"),
    width: parseFloat(own.getAttribute("width")),
  }));
  const zoom = (to) => {
    const end = to.x + to.width;
    for (const frame of frames) {
      const isCaller = frame.y < to.y && frame.x <= to.x + 0.001 && end <= frame.x + frame.width + 0.001;
      const isInside = frame.y >= to.y && frame.x >= to.x - 0.001 && frame.x + frame.width <= end + 0.001;
      frame.own.style.display = isCaller || isInside ? "" : "none";
      frame.own.classList.toggle("past", isCaller && frame !== to);
      const x = isCaller ? 0 : ((frame.x - to.x) / to.width) * 100;
      const width = isCaller ? 100 : (frame.width / to.width) * 100;
      frame.own.setAttribute("x", x + "%");
      frame.own.setAttribute("width", width + "%");
      if (width >= 1.2 && !frame.own.querySelector("text")) {
        const text = document.createElementNS("http://www.w3.org/2000/svg", "text");
        text.setAttribute("x", "3");
        text.setAttribute("y", "12.5");
        text.textContent = name(frame.own);
        frame.own.append(text);
      }
    }
  };
  const search = (words, told) => {
    const wanted = words.trim().toLowerCase();
    let share = 0;
    let n = 0;
    const covered = [];
    for (const frame of frames) {
      const isHit = wanted !== "" && name(frame.own).toLowerCase().includes(wanted);
      frame.own.querySelector("rect").classList.toggle("hit", isHit);
      // A frame inside another that was found is a part of it.
      const isPart = covered.some((c) => frame.x >= c.x - 0.001 && frame.x + frame.width <= c.x + c.width + 0.001);
      if (isHit) n += 1;
      if (isHit && !isPart) {
        covered.push(frame);
        share += frame.width;
      }
    }
    told.textContent = wanted === "" ? "" : `${n} frames, ${share.toFixed(1)}% of the width`;
  };
  graph.addEventListener("click", (event) => {
    const own = event.target.closest("svg.flame svg");
    const frame = frames.find((f) => f.own === own);
    if (frame) zoom(frame);
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
  const told = document.createElement("span");
  told.setAttribute("role", "status");
  const hint = document.createElement("span");
  hint.textContent = "Click a frame to widen it.";
  input.addEventListener("input", () => search(input.value, told));
  whole.addEventListener("click", () => zoom(frames[0]));
  tools.append(input, whole, told, hint);
  graph.before(tools);
}
