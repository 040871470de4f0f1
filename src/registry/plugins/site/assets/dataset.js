// The page of a dataset: go to a sample by its link or by keys, copy code.
"use strict";
(() => {
  const samples = [...document.querySelectorAll("article.sample")];
  const go = (sample) => {
    for (const other of document.querySelectorAll("article.current")) other.classList.remove("current");
    sample.classList.add("current");
    sample.focus({ preventScroll: true });
    sample.scrollIntoView({ block: "start" });
  };

  // `#sample=ID`, so that a link stays right if samples are inserted before it; or `#sample-NUMBER`.
  const follow = () => {
    const numbered = document.getElementById(location.hash.slice(1));
    if (samples.includes(numbered)) go(numbered);
    const match = /^#sample=(.*)$/s.exec(location.hash);
    if (!match) return;
    let id = match[1];
    try {
      id = decodeURIComponent(id);
    } catch {
      // taken as it is
    }
    const found = samples.find((sample) => sample.dataset.id === id);
    const status = document.getElementById("sample-status");
    if (found) go(found);
    else if (status) status.textContent = `The sample ${id} is not on this page.`;
  };

  const step = (by) => {
    if (!samples.length) return;
    const at = samples.indexOf(document.querySelector("article.current"));
    const next = at < 0 ? (by > 0 ? 0 : samples.length - 1) : at + by;
    const link = document.querySelector(next < 0 ? "a[rel=prev]" : "a[rel=next]");
    if (link && !samples[next]) {
      location.assign(`${link.href}#sample-${link.dataset.sample}`); // on the page before or after
      return;
    }
    go(samples[Math.max(0, Math.min(samples.length - 1, next))]);
  };

  const copy = async (button) => {
    const code = document.getElementById(button.dataset.copies);
    try {
      const lines = [...code.querySelectorAll(".line")].map((line) => line.textContent);
      await navigator.clipboard.writeText(lines.length ? `${lines.join("\n")}\n` : code.textContent);
      button.textContent = "Copied";
    } catch {
      getSelection().selectAllChildren(code); // no permission: it is selected, to be copied by hand
      button.textContent = "Selected";
    }
    setTimeout(() => (button.textContent = "Copy"), 2000);
  };

  for (const button of document.querySelectorAll("button[data-copies]")) {
    button.addEventListener("click", () => copy(button));
  }
  follow();
  addEventListener("hashchange", follow);
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.target.closest("input, textarea, select")) return;
    if (event.key === "j") step(1);
    else if (event.key === "k") step(-1);
  });
})();
