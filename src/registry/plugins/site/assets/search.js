// Search the catalog while the user types. The rows are in scripts, as pages of file:// can't fetch.
"use strict";
(() => {
  const STEP = 100; // results that are shown before the button is used
  const input = document.getElementById("search");
  const list = document.getElementById("results");
  const status = document.getElementById("search-status");
  const rest = document.querySelectorAll(".unsearched"); // pages and tags, which are there without a search
  const chunks = Number(input.dataset.chunks);
  const untouched = [...list.children];
  const rows = [];
  let loaded = 0;
  let asked = false;
  let vocabulary = []; // the words of all rows, made when one that is typed is found nowhere
  let counted = 0; // rows that it has
  let most = STEP;
  let last = ""; // the query that they belong to
  const sort = document.getElementById("sort");
  const ORDERS = {
    samples: (a, b) => (b.samples ?? -1) - (a.samples ?? -1),
    changed: (a, b) => (a.changed === b.changed ? 0 : a.changed > b.changed ? -1 : 1),
  };
  const more = document.createElement("button");
  more.type = "button";
  more.hidden = true;
  list.after(more);

  const languageNames = new Intl.DisplayNames(["en"], { type: "language" });
  const languageName = (tag) => languageNames.of(tag);
  for (const link of document.querySelectorAll("[aria-labelledby=filter-language] a")) {
    link.firstChild.textContent = `${languageName(link.firstChild.textContent.trim())} `;
  }

  // Each chunk calls this with rows as `_line` of home_page.py writes them.
  globalThis.registryRows = (added) => {
    for (const [name, description, tags, license, samples, states, columns, source, lock, changed, family, languages] of added) {
      const texts = [name, description, license, tags.join(" "), languages.map(languageName).join(" "), columns.join(" ")];
      rows.push({
        name, description, tags, license, samples, states, columns, source, lock, changed, family, languages,
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
    license: (row, value) => asWord(row.license || "none") === value,
    language: (row, value) => row.languages.some((language) => asWord(language) === value),
    source: (row, value) => row.source === value,
    lock: (row, value) => row.lock === value,
    family: (row, value) => row.family === value || row.name === value,
    column: (row, value) => row.columns.some((column) => asWord(column).includes(value)),
    is: (row, value) => row.states.includes(value),
  };

  // How many letters to add, drop, change or swap until a word begins a text; both are short.
  const distance = (word, text) => {
    let beforeLast = [];
    let last = Array.from({ length: text.length + 1 }, (_, at) => at);
    for (let i = 0; i < word.length; i += 1) {
      const next = [i + 1];
      for (let j = 0; j < text.length; j += 1) {
        const changed = last[j] + (word[i] === text[j] ? 0 : 1);
        const isSwap = i && j && word[i] === text[j - 1] && word[i - 1] === text[j];
        const swapped = isSwap ? beforeLast[j - 1] + 1 : Infinity;
        next.push(Math.min(changed, last[j + 1] + 1, next[j] + 1, swapped));
      }
      [beforeLast, last] = [last, next];
    }
    return Math.min(...last);
  };

  // The words and names of the catalog that are most like one that is found nowhere.
  const nearest = (word) => {
    if (counted < rows.length) {
      const wordsOf = (row) => [row.name, ...(row.text.match(/[\p{L}\p{N}]{4,40}/gu) || [])];
      vocabulary = [...new Set(rows.flatMap(wordsOf))];
      counted = rows.length;
    }
    let least = word.length < 8 ? 1 : 2;
    let found = [];
    for (const one of word.length < 4 || word.length > 60 ? [] : vocabulary) {
      const far = one.length < word.length - least ? Infinity : distance(word, one.slice(0, word.length + least));
      if (far < least) found = [];
      if (far <= least) found.push(one);
      least = Math.min(far, least);
    }
    return found.sort((a, b) => a.length - b.length).slice(0, 3);
  };

  // What a word of the query finds: what it names, the rows that have it, or words that are like it.
  const meant = (word) => {
    const [, key, value] = /^([a-z]+):(.+)$/.exec(word) || [];
    if (Object.hasOwn(KEYS, key)) return { words: [word], test: (row) => KEYS[key](row, value) };
    const isFound = loaded < chunks || rows.some((row) => row.text.includes(word));
    const near = isFound ? [] : nearest(word);
    const words = near.length ? near : [word];
    return { words, like: near.length ? word : "", test: (row) => words.some((one) => row.text.includes(one)) };
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
    link.href = `datasets/${row.name.replace(":", "+")}.html`;
    head.append(link);
    if (row.states.includes("broken")) head.append(element("span", "state bad", "broken"));
    if (row.samples !== null) {
      head.append(element("span", "quiet small", count(row.samples, "sample")));
    }
    if (row.changed) head.append(element("span", "quiet small", `changed ${row.changed}`));
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
    for (const one of rest) one.hidden = words.length > 0 || sort.value !== "name";
    if (text !== last) most = STEP;
    last = text;
    more.hidden = true;
    if (!words.length && sort.value === "name") {
      list.replaceChildren(...untouched);
      status.textContent = "";
      return;
    }
    load();
    const all = words.map(meant);
    const meantWords = all.flatMap((one) => one.words);
    const found = rows.filter((row) => all.every((one) => one.test(row)));
    const order = ORDERS[sort.value] ?? ((a, b) => rank(a, meantWords) - rank(b, meantWords));
    found.sort((a, b) => order(a, b) || (a.name < b.name ? -1 : 1));
    list.replaceChildren(...found.slice(0, most).map(item));
    more.hidden = found.length <= most;
    more.textContent = `Show all ${count(found.length, "dataset")}`;
    const part = more.hidden ? "" : `, the first ${most.toLocaleString("en")} are shown`;
    const like = all.filter((one) => one.like).map((one) => `. No dataset has \u201c${one.like}\u201d: showing ${one.words.join(", ")}`);
    const told = `${count(found.length, "dataset")}${part}${like.join("")}`;
    status.textContent = loaded < chunks ? "Reading the index ..." : told;
  };

  const remember = () => {
    const query = input.value.trim();
    history.replaceState(null, "", query ? `#q=${encodeURIComponent(query)}` : location.pathname);
  };

  const follow = () => {
    const match = /^(?:#q=(.*))?$/s.exec(location.hash);
    if (!match) return; // the link to the content
    const query = match[1] || "";
    try {
      input.value = decodeURIComponent(query);
    } catch {
      input.value = query;
    }
    search();
    if (query) scrollTo(0, 0);
  };

  sort.addEventListener("change", () => search());
  input.addEventListener("focus", load);
  input.addEventListener("input", () => {
    search();
    remember();
  });
  // A filter is added to the query, or taken out of it.
  document.getElementById("filters")?.addEventListener("click", (event) => {
    const link = event.target.closest("a");
    if (!link) return;
    event.preventDefault();
    const word = new URLSearchParams(link.hash.slice(1)).get("q");
    const words = input.value.split(/\s+/).filter(Boolean);
    input.value = (words.includes(word) ? words.filter((one) => one !== word) : [...words, word]).join(" ");
    search();
    remember();
  });
  addEventListener("hashchange", follow);
  follow();

  const links = () => [...list.querySelectorAll("a.name")];
  more.addEventListener("click", () => {
    const next = most;
    most = Infinity;
    search();
    links()[next].focus();
  });
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
