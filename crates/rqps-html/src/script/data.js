// Files inside the page are saved unpacked where the browser can.
for (const link of all(".data a[download]")) {
  link.addEventListener("click", async (event) => {
    if (!("DecompressionStream" in window)) return;
    event.preventDefault();
    const text = await unpacked(link.getAttribute("href").split(",")[1]);
    const file = document.createElement("a");
    file.download = link.download.replace(/\.gz$/, "");
    file.href = URL.createObjectURL(new Blob([text], { type: "text/plain" }));
    file.click();
    setTimeout(() => URL.revokeObjectURL(file.href), 60000);
  });
}
// Commands are copied by a click beside them.
const makeCopyable = (root) => {
  for (const command of all("pre.command", root)) {
    if (!navigator.clipboard) return;
    const button = document.createElement("button");
    button.type = "button";
    button.className = "copy";
    button.textContent = "Copy";
    button.addEventListener("click", async () => {
      await navigator.clipboard.writeText(command.textContent);
      button.textContent = "Copied";
      setTimeout(() => (button.textContent = "Copy"), 2000);
    });
    command.after(button);
  }
};
makeCopyable(document);
