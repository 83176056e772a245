"use strict";
// While one types, rows without the words go; the button sends the search to the server as ever.
const field = document.getElementById("q");
const rows = [...document.querySelectorAll("tr[data-words]")];
const told = document.getElementById("n-shown");
if (field && rows.length) {
  const show = () => {
    const words = field.value.toLowerCase().split(/\s+/).filter(Boolean);
    let n = 0;
    for (const row of rows) {
      const fits = words.every((word) => row.dataset.words.includes(word));
      row.hidden = !fits;
      n += fits;
    }
    if (told) told.textContent = n === rows.length ? "" : `${n} of the ${rows.length} runs below`;
  };
  field.addEventListener("input", show);
}
const chosen = document.getElementById("n-chosen");
const boxes = [...document.querySelectorAll("input[name=s]")];
if (chosen && boxes.length) {
  // As they were ticked: the first is the base.
  let order = [];
  const count = () => {
    const n = boxes.filter((box) => box.checked).length;
    chosen.textContent = n === 0 ? "" : n === 1 ? "1 system chosen" : `${n} systems chosen`;
    offer();
  };
  // Beside the other systems a link: the second click shows the comparison.
  const offer = () => {
    order = [...order.filter((box) => box.checked), ...boxes.filter((box) => box.checked && !order.includes(box))];
    const ticked = order.map((box) => box.value);
    for (const box of boxes) {
      const item = box.closest("li");
      let link = item.querySelector("a.against");
      if (!ticked.length || box.checked) {
        link?.remove();
        continue;
      }
      if (!link) {
        link = document.createElement("a");
        link.className = "against";
        link.textContent = "compare";
        link.setAttribute("aria-label", `compare with ${item.querySelector("bdi").textContent}`);
        item.append(" ", link);
      }
      link.href = "/compare?" + [...ticked, box.value].map((value) => "s=" + encodeURIComponent(value)).join("&");
    }
  };
  for (const box of boxes) box.addEventListener("change", count);
  addEventListener("pageshow", count);
}
