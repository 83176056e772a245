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

// An event source cannot send the token, so the stream is read here: `event: NAME`, `data: JSON`, a blank line.
const events = async function* (path) {
  const token = sessionStorage.getItem("rqps-token");
  const headers = token ? { Authorization: `Bearer ${token}` } : {};
  const answer = await fetch(path, { headers, cache: "no-store" });
  if (!answer.ok) throw Object.assign(new Error(), { isRefused: true });
  const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader();
  let text = "";
  for (;;) {
    const { value, done } = await reader.read();
    if (done) return;
    const blocks = (text + value).split("\n\n");
    text = blocks.pop();
    for (const block of blocks) {
      const [, name, data] = /^event: (\w+)\ndata: (.*)$/s.exec(block) ?? [];
      if (name) yield { name, data };
    }
  }
};

const follow = async (path) => {
  for (;;) {
    try {
      for await (const { name, data } of events(path)) {
        if (name === "over") return note("The run is over; this page no longer changes.");
        for (const [id, html] of Object.entries(JSON.parse(data))) {
          const part = document.getElementById(id);
          if (part) part.innerHTML = html;
        }
        note("Follows the run, about once a second.");
      }
    } catch (error) {
      if (error.isRefused) return note("The server does not let this page follow; load it again.");
    }
    note("The connection broke off; trying again. What is shown may be old.");
    await new Promise((resolve) => setTimeout(resolve, 3000));
  }
};
if (root && root.dataset.events) follow(root.dataset.events);
