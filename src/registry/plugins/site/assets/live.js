// A page of `registry browse`: it is loaded again when what it shows has changed.
"use strict";
(() => {
  const { search } = new URL(document.currentScript.src);
  const base = document.currentScript.src.replace(/assets\/live\.js.*$/, "");
  const source = new EventSource(`${base}events${search}`);

  const notice = document.createElement("p");
  notice.className = "notice warn";
  notice.setAttribute("role", "status");
  notice.textContent = "registry browse does not answer: this page may be out of date.";

  source.addEventListener("changed", () => {
    source.close();
    location.reload();
  });
  source.addEventListener("summary", (event) => {
    if (event.data) document.getElementById("summary").textContent = event.data;
  });
  source.addEventListener("open", () => notice.remove());
  source.addEventListener("error", () => document.getElementById("main").prepend(notice));
  // Else the connection of a page that is left counts among the few that a browser makes.
  addEventListener("pagehide", () => source.close());
})();
