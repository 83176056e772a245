// Details of the steps of a large page: unpacked with the page, put in when a step is opened.
let bodyTexts = null;
const packedBodies = document.getElementById("bodies");
const putBody = (step) => {
  const body = bodyTexts && step.querySelector(".body[data-packed]");
  if (!body) return;
  const template = document.createElement("template");
  template.innerHTML = bodyTexts[step.dataset.step];
  body.replaceChildren(template.content);
  body.removeAttribute("data-packed");
  makeCopyable(body);
};
const unpackBodies = async () => {
  if (!packedBodies || bodyTexts) return;
  const text = await unpacked(packedBodies.textContent);
  if (text !== null) bodyTexts = JSON.parse(text);
};
