// The page of a diff: show the classes of change that are chosen, and go from change to change.
"use strict";
(() => {
  const bar = document.querySelector(".toolbar");
  if (!bar) return;
  const boxes = [...bar.querySelectorAll("input[type=checkbox]")];
  const changes = [...document.querySelectorAll("section.change")];
  const stops = [...document.querySelectorAll("section.change, article.example")];
  const links = [...document.querySelectorAll("nav.datasets li")]; // one for each of `changes`, or none
  const place = document.getElementById("place");
  const none = document.getElementById("none");
  let current = null;

  const visible = (some) => some.filter((stop) => !stop.closest("[hidden]"));

  const tell = () => {
    const shown = visible(stops);
    place.textContent = shown.length ? `${shown.indexOf(current) + 1} of ${shown.length}` : "";
    none.hidden = shown.length > 0;
  };

  const filter = () => {
    const chosen = new Set(boxes.filter((box) => box.checked).map((box) => box.value));
    for (const change of changes) {
      change.hidden = !change.dataset.kinds.split(";").some((kind) => chosen.has(kind));
    }
    links.forEach((link, at) => (link.hidden = changes[at].hidden));
    tell();
  };

  const go = (stop) => {
    if (current) current.classList.remove("current");
    current = stop;
    stop.classList.add("current");
    stop.focus({ preventScroll: true });
    stop.scrollIntoView({ block: "start" });
    tell();
  };

  const step = (by, some = stops) => {
    const shown = visible(some);
    if (!shown.length) return;
    let next = shown.indexOf(current) + by;
    if (current && !shown.includes(current)) {
      // Hidden by a filter, or a sample on the way to another dataset: go on from where it is.
      const after = shown.findIndex((stop) => current.compareDocumentPosition(stop) & Node.DOCUMENT_POSITION_FOLLOWING);
      const first = after < 0 ? shown.length : after;
      next = by > 0 ? first : first - 1;
    } else if (!current && by < 0) next = shown.length - 1;
    go(shown[Math.max(0, Math.min(shown.length - 1, next))]);
  };

  for (const box of boxes) box.addEventListener("change", filter);
  document.getElementById("previous").addEventListener("click", () => step(-1));
  document.getElementById("next").addEventListener("click", () => step(1));
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    // A checkbox takes no letters.
    if (event.target.closest("input:not([type=checkbox]), textarea, select")) return;
    if (event.key === "j") step(1);
    else if (event.key === "k") step(-1);
    else if (event.key === "J") step(1, changes);
    else if (event.key === "K") step(-1, changes);
  });
  const follow = () => {
    const linked = document.getElementById(location.hash.slice(1))?.closest("section.change");
    if (linked) go(linked);
  };
  addEventListener("hashchange", follow);
  bar.hidden = false;
  tell();
  follow();
})();
