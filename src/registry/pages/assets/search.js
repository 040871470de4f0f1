// Search the catalog while the user types. The rows are in scripts, as pages of file:// can't fetch.
"use strict";
(() => {
  const MOST = 100; // results that are shown
  const input = document.getElementById("search");
  const list = document.getElementById("results");
  const status = document.getElementById("search-status");
  const rest = document.getElementById("rest"); // pages and tags, which stand below without a search
  const chunks = Number(input.dataset.chunks);
  const untouched = [...list.children];
  const rows = [];
  let loaded = 0;
  let asked = false;

  // Each chunk calls this with rows of [name, description, tags, license, samples, states, columns].
  globalThis.registryRows = (added) => {
    for (const [name, description, tags, license, samples, states, columns] of added) {
      const texts = [name, description, license, tags.join(" "), columns.join(" ")];
      rows.push({
        name, description, tags, license, samples, states, columns,
        text: texts.join("\n").toLowerCase(),
      });
    }
  };

  const load = () => {
    if (asked) return;
    asked = true;
    for (let number = 0; number < chunks; number += 1) {
      const script = document.createElement("script");
      script.src = `search/${number}.js`;
      script.addEventListener("load", () => {
        loaded += 1;
        search();
      });
      script.addEventListener("error", () => {
        status.textContent = `A part of the search index, ${script.src}, can't be read.`;
      });
      document.head.append(script);
    }
  };

  // A space would end the word that is searched for.
  const asWord = (text) => text.toLowerCase().trim().split(/\s+/).join("_");

  const KEYS = {
    tag: (row, value) => row.tags.some((tag) => asWord(tag) === value),
    license: (row, value) => asWord(row.license) === value,
    column: (row, value) => row.columns.some((column) => asWord(column).includes(value)),
    is: (row, value) => row.states.includes(value),
  };

  const test = (word) => {
    const [, key, value] = /^([a-z]+):(.+)$/.exec(word) || [];
    return Object.hasOwn(KEYS, key) ? (row) => KEYS[key](row, value) : (row) => row.text.includes(word);
  };

  // Names first, then tags, then whatever else has the words.
  const rank = (row, words) => {
    let total = 0;
    for (const word of words) {
      if (row.name === word) total += 0;
      else if (row.name.startsWith(word)) total += 1;
      else if (row.name.includes(word)) total += 2;
      else if (row.tags.includes(word)) total += 3;
      else total += 4;
    }
    return total;
  };

  const count = (number, word) => `${number.toLocaleString("en")} ${word}${number === 1 ? "" : "s"}`;

  const element = (tag, className, text) => {
    const made = document.createElement(tag);
    if (className) made.className = className;
    if (text !== undefined) made.textContent = text;
    return made;
  };

  const item = (row) => {
    const made = element("li", "result");
    const head = element("div", "result-head");
    const link = element("a", "name", row.name);
    link.href = `datasets/${row.name}.html`;
    head.append(link);
    if (row.states.includes("broken")) head.append(element("span", "state bad", "broken"));
    if (row.samples !== null) {
      head.append(element("span", "quiet small", count(row.samples, "sample")));
    }
    if (row.license) head.append(element("span", "quiet small", row.license));
    made.append(head);
    if (row.description) made.append(element("p", "", row.description));
    if (row.tags.length) {
      const tags = element("ul", "tags");
      tags.setAttribute("aria-label", "Tags");
      for (const tag of row.tags) {
        const entry = element("li");
        const to = element("a", "tag", tag);
        to.href = `#q=${encodeURIComponent(`tag:${asWord(tag)}`)}`;
        entry.append(to);
        tags.append(entry);
      }
      made.append(tags);
    }
    return made;
  };

  const search = () => {
    const text = input.value.trim().toLowerCase();
    const words = text.split(/\s+/).filter(Boolean);
    rest.hidden = words.length > 0;
    if (!words.length) {
      list.replaceChildren(...untouched);
      status.textContent = "";
      return;
    }
    load();
    const tests = words.map(test);
    const found = rows.filter((row) => tests.every((one) => one(row)));
    found.sort((a, b) => rank(a, words) - rank(b, words) || (a.name < b.name ? -1 : 1));
    list.replaceChildren(...found.slice(0, MOST).map(item));
    const more = found.length > MOST ? `, the first ${MOST} are shown` : "";
    status.textContent = loaded < chunks ? "Reading the index ..." : `${count(found.length, "dataset")}${more}`;
  };

  const remember = () => {
    const query = input.value.trim();
    history.replaceState(null, "", query ? `#q=${encodeURIComponent(query)}` : location.pathname);
  };

  const follow = () => {
    const match = /^#q=(.*)$/s.exec(location.hash);
    if (!match) return;
    try {
      input.value = decodeURIComponent(match[1]);
    } catch {
      input.value = match[1];
    }
    search();
    scrollTo(0, 0);
  };

  input.addEventListener("focus", load);
  input.addEventListener("input", () => {
    search();
    remember();
  });
  addEventListener("hashchange", follow);
  follow();

  const links = () => [...list.querySelectorAll("a.name")];
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const typing = event.target === input;
    if (event.key === "/" && !typing) {
      event.preventDefault();
      input.focus();
      input.select();
    } else if (event.key === "Escape" && typing) {
      input.value = "";
      search();
      remember();
    } else if (event.key === "Enter" && typing) {
      const first = links()[0];
      if (first) first.click();
    } else if (event.key === "ArrowDown" || event.key === "ArrowUp") {
      const all = links();
      const at = all.indexOf(document.activeElement);
      if (at < 0 && !(typing && event.key === "ArrowDown")) return;
      event.preventDefault();
      const next = at + (event.key === "ArrowDown" ? 1 : -1);
      if (next < 0) input.focus();
      else if (next < all.length) all[next].focus();
    }
  });
})();
