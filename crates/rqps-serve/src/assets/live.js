"use strict";
// Puts the parts that the server sends in the place of those that are there. Their text is escaped by the
// server, and the page's policy lets no script run that came with them.
const root = document.getElementById("live");
const note = (text) => {
  let line = document.getElementById("link-state");
  if (!line) {
    line = document.createElement("p");
    line.id = "link-state";
    line.className = "hint";
    line.setAttribute("role", "status");
    root.prepend(line);
  }
  if (line.textContent !== text) line.textContent = text;
};
if (root && root.dataset.events) {
  const source = new EventSource(root.dataset.events);
  source.addEventListener("parts", (event) => {
    for (const [id, html] of Object.entries(JSON.parse(event.data))) {
      const part = document.getElementById(id);
      if (part) part.innerHTML = html;
    }
    note("Follows the run, about once a second.");
  });
  source.addEventListener("over", () => {
    source.close();
    note("The run is over; this page no longer changes.");
  });
  source.addEventListener("error", () =>
    note(source.readyState === EventSource.CLOSED
      ? "The server does not let this page follow; load it again."
      : "The connection broke off; trying again. What is shown may be old."));
}
