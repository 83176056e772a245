"use strict";
// Fetches the page of this address with the token, and puts it in the place of this one. The token comes after
// `#token=`, leaves the address, and stays in this tab until it is closed; links load this page again.
// In a block: what it names must not be in the way of the scripts of that page.
{
  const FRAGMENT = "#token=";
  const KEY = "rqps-token";
  const say = (text) => {
    document.getElementById("said").textContent = text;
  };

  const show = async () => {
    if (location.hash.startsWith(FRAGMENT)) {
      sessionStorage.setItem(KEY, location.hash.slice(FRAGMENT.length));
      history.replaceState(null, "", location.pathname + location.search);
    }
    const token = sessionStorage.getItem(KEY);
    if (!token) return;
    const headers = { Authorization: `Bearer ${token}` };
    const answer = await fetch(location.pathname + location.search, { headers, cache: "no-store" });
    if (answer.status === 401) {
      sessionStorage.removeItem(KEY);
      say("That is not the token. Add #token=TOKEN to the address, with the token that the server was started with.");
      return;
    }
    const [, name] = /filename="(.+)"/.exec(answer.headers.get("content-disposition")) ?? [];
    if (name) {
      const link = document.createElement("a");
      link.href = URL.createObjectURL(await answer.blob());
      link.download = name;
      link.click();
      say(`${name} was downloaded.`);
      return;
    }
    const text = await answer.text();
    if (answer.headers.get("content-type").startsWith("text/html")) {
      document.open();
      document.write(text);
      document.close();
    } else {
      const plain = document.createElement("pre");
      plain.textContent = text;
      document.body.replaceChildren(plain);
    }
  };

  const start = () => show().catch((error) => say(`The page could not be fetched: ${error.message}.`));
  addEventListener("hashchange", start);
  start();
}
