// All samples of a dataset as a table: search, filter, sort, choose columns, go through the pages.
// The samples are in scripts beside the page, or a server answers each question.
"use strict";
(() => {
  const root = document.getElementById("explorer");
  if (!root) return;
  const PER_PAGE = 25;
  const SHORT = 300; // characters of a cell
  const LONG = 60; // characters that need a wide one
  const OPEN_COLUMNS = 7;
  const OPEN_FACETS = 6;
  const OPEN_GROUPS = 8;
  const { stem, starts, shown } = root.dataset;
  const [find, status, table] = ["find", "find-status", "table"].map((id) => document.getElementById(id));
  const place = document.getElementById("table-place");
  const [previous, next] = ["table-previous", "table-next"].map((id) => document.getElementById(id));
  const question = { words: [], chosen: new Map(), sort: -1, descending: false, first: 0 };
  const hiddenColumns = new Set();
  let head = null;
  let total = 0;
  let asked = 0;

  const element = (tag, className = "", text) => {
    const made = document.createElement(tag);
    if (className) made.className = className;
    if (text !== undefined) made.textContent = text;
    return made;
  };
  const button = (text, onClick) => {
    const made = element("button", "", text);
    made.type = "button";
    made.addEventListener("click", onClick);
    return made;
  };
  const number = (value) => value.toLocaleString("en");
  const textOf = (value) => (value === null ? "" : String(value));

  // --- where the answers come from ---

  const script = (part) =>
    new Promise((done, fail) => {
      const made = document.createElement("script");
      made.src = `../tables/${stem}@${part}.js`;
      made.addEventListener("load", done);
      made.addEventListener("error", () => fail(new Error(`${made.src} can't be read`)));
      document.head.append(made);
    });

  // Answers from the scripts: the same questions as `SampleTable.answer` does, with the same results.
  const here = () => {
    const rows = [];
    const codes = [];
    let texts = []; // of each sample, in lower case
    const orders = new Map();
    let loading = null;
    globalThis.registryTable = (given) => (head = given);
    globalThis.registryPart = (part) => {
      for (const [cells, groups] of part) {
        rows.push(cells);
        codes.push(groups);
      }
    };
    const all = async () => {
      for (let part = 1; part < head.parts; part += 1) {
        status.textContent = `Loading the samples: ${part} of ${head.parts - 1} parts`;
        await script(part);
      }
      texts = rows.map((cells) => cells.filter((cell) => typeof cell === "string").join("\n").toLowerCase());
    };
    const orderOf = (column, descending) => {
      const key = `${column} ${descending}`;
      if (!orders.has(key)) {
        const order = rows.map((_, at) => at);
        if (column >= 0) {
          const values = rows.map((cells) => cells[column]);
          const sign = descending ? -1 : 1;
          order.sort((a, b) => {
            const [x, y] = [values[a], values[b]];
            if (x === y) return 0;
            if (x === null) return 1;
            if (y === null) return -1;
            return x < y ? -sign : sign;
          });
        } else if (descending) order.reverse();
        orders.set(key, order);
      }
      return orders.get(key);
    };
    const isFirst = ({ words, chosen, sort, descending, first }) =>
      !words.length && !chosen.size && sort < 0 && !descending && !first;
    return {
      start: async () => {
        await script(0);
        return head;
      },
      ask: async (wanted) => {
        if (isFirst(wanted) && !loading && rows.length < head.rows && rows.length < PER_PAGE) loading = all();
        if (!isFirst(wanted) || loading) await (loading ??= all());
        const words = wanted.words.map((word) => word.toLowerCase());
        const counts = head.facets.map(({ groups }) => groups.map(() => 0));
        const chosen = [...wanted.chosen];
        const selected = new Uint8Array(rows.length);
        let found = 0;
        if (isFirst(wanted)) {
          head.facets.forEach(({ groups }, at) => (counts[at] = groups.map(([, count]) => count)));
          found = head.rows;
          selected.fill(1);
        } else {
          for (let at = 0; at < rows.length; at += 1) {
            if (!words.every((word) => texts[at].includes(word))) continue;
            const misses = chosen.filter(([facet, groups]) => !groups.has(codes[at][facet]));
            if (misses.length > 1) continue;
            codes[at].forEach((group, facet) => {
              if (!misses.length || misses[0][0] === facet) counts[facet][group] += 1;
            });
            if (misses.length) continue;
            selected[at] = 1;
            found += 1;
          }
        }
        const answer = [];
        let skip = wanted.first;
        for (const at of orderOf(wanted.sort, wanted.descending)) {
          if (!selected[at]) continue;
          if (skip > 0) skip -= 1;
          else if (answer.length < PER_PAGE) answer.push([at + 1, ...rows[at]]);
          else break;
        }
        return { total: found, rows: answer, counts };
      },
    };
  };

  const source = globalThis.registryServer?.(stem) ?? here();

  // --- what is shown ---

  const sampleLink = (at) => {
    if (starts === undefined) return at > 1 ? `../samples/${stem}@${at}.html#sample-${at}` : "#sample-1";
    const first = starts.split(",").map(Number).filter((one) => one <= at).pop();
    if (at > Number(shown) || !first) return "";
    return first > 1 ? `../samples/${stem}@${first}.html#sample-${at}` : `#sample-${at}`;
  };

  const details = (cells, columns) => {
    const row = element("tr", "whole");
    const cell = element("td");
    cell.colSpan = columns + 1;
    const link = sampleLink(cells[0]);
    if (link) {
      const open = element("a", "", `Sample ${number(cells[0])} as a page shows it`);
      open.href = link;
      cell.append(open);
    }
    const list = element("dl", "fields");
    head.columns.forEach((name, at) => {
      if (cells[at + 1] === null) return;
      const value = element("dd", "", textOf(cells[at + 1]));
      value.dir = "auto";
      list.append(element("dt", "", name), value);
    });
    cell.append(list);
    row.append(cell);
    return row;
  };

  const visibleColumns = () => head.columns.map((_, at) => at).filter((at) => !hiddenColumns.has(at));

  const rowOf = (cells) => {
    const row = element("tr");
    const first = element("th");
    first.scope = "row";
    const columns = visibleColumns();
    const open = button(number(cells[0]), () => {
      const isOpen = open.getAttribute("aria-expanded") === "true";
      open.setAttribute("aria-expanded", String(!isOpen));
      if (isOpen) row.nextSibling.remove();
      else row.after(details(cells, columns.length));
    });
    open.setAttribute("aria-expanded", "false");
    open.setAttribute("aria-label", `Sample ${cells[0]}, all of it`);
    first.append(open);
    row.append(first);
    for (const at of columns) {
      const text = textOf(cells[at + 1]);
      const cell = element("td", typeof cells[at + 1] === "number" ? "number" : "");
      const clamp = element("div", text.length > LONG ? "clamp long" : "clamp", text.length > SHORT ? `${text.slice(0, SHORT)}\u2026` : text);
      clamp.dir = "auto";
      cell.append(clamp);
      row.append(cell);
    }
    return row;
  };

  const headOf = () => {
    const row = element("tr");
    for (const at of [-1, ...visibleColumns()]) {
      const cell = element("th");
      cell.scope = "col";
      const isSorted = question.sort === at;
      if (isSorted) cell.setAttribute("aria-sort", question.descending ? "descending" : "ascending");
      const mark = isSorted ? (question.descending ? " \u2193" : " \u2191") : "";
      const sort = button(`${at < 0 ? "#" : head.columns[at]}${mark}`, () => {
        question.descending = isSorted && !question.descending;
        question.sort = at;
        ask(0).then(() => table.tHead.rows[0].cells[[-1, ...visibleColumns()].indexOf(at)].firstChild.focus());
      });
      sort.setAttribute("aria-label", `Sort by ${at < 0 ? "number" : head.columns[at]}`);
      cell.append(sort);
      row.append(cell);
    }
    return row;
  };

  const counters = []; // of each facet, of each group: how to show another count

  const facetOf = (facet, at) => {
    const made = element("fieldset", "facet");
    made.append(element("legend", "", facet.title));
    counters[at] = facet.groups.map(([label, count], group) => {
      const line = element("label");
      const box = element("input");
      box.type = "checkbox";
      box.addEventListener("change", () => {
        const groups = question.chosen.get(at) ?? new Set();
        if (box.checked) groups.add(group);
        else groups.delete(group);
        if (groups.size) question.chosen.set(at, groups);
        else question.chosen.delete(at);
        ask(0);
      });
      const text = element("span", "group", label);
      text.dir = "auto";
      const tally = element("span", "quiet", number(count));
      const bar = element("span", "bar");
      line.append(box, text, tally, bar);
      line.hidden = group >= OPEN_GROUPS;
      made.append(line);
      return {
        box,
        show: (now, most) => {
          tally.textContent = number(now);
          bar.style.width = `${most ? (100 * now) / most : 0}%`;
        },
      };
    });
    if (facet.groups.length > OPEN_GROUPS) {
      const more = button(`${facet.groups.length - OPEN_GROUPS} more`, () => {
        for (const line of made.querySelectorAll("label")) line.hidden = false;
        more.remove();
        counters[at][OPEN_GROUPS].box.focus();
      });
      made.append(more);
    }
    if (facet.note) made.append(element("p", "quiet small", facet.note));
    return made;
  };

  const showFacets = () => {
    const all = head.facets.map(facetOf);
    document.getElementById("facets").append(...all.slice(0, OPEN_FACETS));
    const rest = document.getElementById("more-facets");
    rest.append(...all.slice(OPEN_FACETS));
    rest.parentElement.hidden = all.length <= OPEN_FACETS;
  };

  const showColumns = () => {
    const set = document.getElementById("table-columns");
    head.columns.forEach((name, at) => {
      if (at >= OPEN_COLUMNS) hiddenColumns.add(at);
      const line = element("label");
      const box = element("input");
      box.type = "checkbox";
      box.checked = at < OPEN_COLUMNS;
      box.addEventListener("change", () => {
        if (box.checked) hiddenColumns.delete(at);
        else hiddenColumns.add(at);
        ask(question.first);
      });
      line.append(box, ` ${name}`);
      set.append(line);
    });
  };

  const show = (answer) => {
    total = answer.total;
    const part = `${number(Math.min(question.first + 1, total))} to ${number(Math.min(question.first + PER_PAGE, total))}`;
    place.textContent = total ? `${part} of ${number(total)}` : "";
    status.textContent = question.words.length || question.chosen.size
      ? `${number(total)} of ${number(head.rows)} samples` : "";
    previous.disabled = question.first === 0;
    next.disabled = question.first + PER_PAGE >= total;
    const [top, body] = [element("thead"), element("tbody")];
    top.append(headOf());
    body.append(...answer.rows.map(rowOf));
    table.replaceChildren(top, body);
    answer.counts.forEach((groups, facet) => {
      const most = Math.max(...groups);
      groups.forEach((count, group) => counters[facet][group].show(count, most));
    });
  };

  // The address has the question, so that it can be sent to someone.
  const remember = () => {
    const kept = new URLSearchParams();
    kept.set("find", question.words.join(" "));
    for (const [facet, groups] of question.chosen) for (const group of groups) kept.append("in", `${facet}.${group}`);
    if (question.sort >= 0) kept.set("sort", question.sort);
    if (question.descending) kept.set("order", "descending");
    const isEmpty = [...kept].every(([key, value]) => key === "find" && !value);
    if (isEmpty && !location.hash.startsWith("#find=")) return;
    history.replaceState(null, "", isEmpty ? location.pathname + location.search : `#${kept}`);
  };

  const follow = () => {
    if (!location.hash.startsWith("#find=")) return false;
    const kept = new URLSearchParams(location.hash.slice(1));
    find.value = kept.get("find");
    question.words = find.value.split(/\s+/).filter(Boolean);
    for (const one of kept.getAll("in")) {
      const [facet, group] = one.split(".").map(Number);
      const counter = counters[facet]?.[group];
      if (!counter) continue;
      counter.box.checked = true;
      question.chosen.set(facet, (question.chosen.get(facet) ?? new Set()).add(group));
    }
    question.sort = head.columns.keys().find((at) => String(at) === kept.get("sort")) ?? -1;
    question.descending = kept.get("order") === "descending";
    return true;
  };

  const ask = async (first) => {
    question.first = first;
    asked += 1;
    const mine = asked;
    remember();
    try {
      const answer = await source.ask(question);
      if (mine === asked) show(answer);
    } catch (error) {
      status.textContent = `The samples can't be read: ${error.message}`;
    }
  };

  find.addEventListener("input", () => {
    question.words = find.value.split(/\s+/).filter(Boolean);
    ask(0);
  });
  previous.addEventListener("click", () => ask(Math.max(question.first - PER_PAGE, 0)));
  next.addEventListener("click", () => ask(question.first + PER_PAGE));
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key === "Escape" && event.target === find) {
      find.value = "";
      find.dispatchEvent(new Event("input"));
    } else if (event.key === "/" && !event.target.closest("input, textarea, select")) {
      event.preventDefault();
      find.focus();
    }
  });

  source.start().then(
    (given) => {
      head = given;
      showFacets();
      showColumns();
      const isLinked = follow();
      ask(0);
      if (isLinked) root.scrollIntoView();
      if (head.rows < head.total) {
        const note = document.getElementById("table-note");
        note.textContent = `The table has the first ${number(head.rows)} of ${number(head.total)} samples, as many as there is room for.`;
        note.hidden = false;
        return; // else the groups say what the plots do
      }
      for (const plot of document.querySelectorAll("figure[data-counted]")) plot.hidden = true;
      const statistics = document.querySelector("section[aria-labelledby=statistics]");
      const isEmpty = statistics && !statistics.querySelector("figure:not([hidden])");
      for (const one of isEmpty ? [statistics, document.querySelector("a[href='#statistics']")] : []) one.hidden = true;
    },
    (error) => (status.textContent = `The samples can't be read: ${error.message}`),
  );
})();
