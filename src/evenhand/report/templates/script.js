"use strict";
(() => {
  const root = document.documentElement, tip = document.getElementById("tip");
  const all = (selector, from = document) => [...from.querySelectorAll(selector)];
  root.classList.add("js");

  // Theme: the system decides until the reader does.
  document.getElementById("theme").addEventListener("click", () => {
    const dark = root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
    root.dataset.theme = dark ? "light" : "dark";
  });

  // A figure's title is its accessible name; as a child element it would also pop up over every mark.
  all("svg > title").forEach((title) => {
    title.parentNode.setAttribute("aria-label", title.textContent);
    title.remove();
  });

  // Tooltips: on hover, on focus, on tap.
  const words = (target) => {
    if (target.dataset.tip) return target.dataset.tip;
    const row = target.closest("tr"), table = target.closest("table"), head = table.tHead.rows[0].cells[target.cellIndex];
    const value = [...target.childNodes].filter((n) => n.nodeType === 3).map((n) => n.data).join("").trim();
    return [`${row.cells[0].innerText.trim()} · ${head ? head.innerText.trim() : ""}`, value, target.dataset.note].filter(Boolean).join("\n");
  };
  let shown = null;
  const hide = () => { tip.hidden = true; shown = null; };
  const show = (target) => {
    shown = target;
    tip.textContent = words(target);
    tip.hidden = false;
    const box = target.getBoundingClientRect(), own = tip.getBoundingClientRect();
    const above = box.top > own.height + 12;
    tip.style.left = `${Math.max(8, Math.min(box.left + box.width / 2 - own.width / 2, innerWidth - own.width - 8))}px`;
    tip.style.top = `${above ? box.top - own.height - 8 : box.bottom + 8}px`;
    target.setAttribute("aria-describedby", "tip");
  };
  const told = (event) => event.target.closest && event.target.closest("[data-tip], table[data-grid] tbody td, td[data-note]");
  for (const kind of ["mouseover", "focusin", "click"])
    document.addEventListener(kind, (event) => { const target = told(event); if (target) show(target); else hide(); });
  document.addEventListener("focusout", hide);
  document.addEventListener("keydown", (event) => { if (event.key === "Escape") hide(); });
  // moving the focus may scroll: the tip then follows the focused cell, and leaves with any other scrolling
  addEventListener("scroll", () => { if (shown && shown === document.activeElement) show(shown); else hide(); }, { passive: true, capture: true });

  // Tables of cells: one tab stop each, arrow keys inside.
  all("table[data-grid]").forEach((table) => {
    const first = table.querySelector("tbody td");
    if (first) first.tabIndex = 0;
    table.addEventListener("keydown", (event) => {
      const step = { ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0] }[event.key];
      if (!step || event.target.tagName !== "TD") return;
      const rows = [...table.tBodies[0].rows].filter((row) => row.offsetParent !== null);
      const row = rows[rows.indexOf(event.target.parentNode) + step[0]];
      const next = row && row.cells[event.target.cellIndex + step[1]];
      if (!next || next.tagName !== "TD") return;
      event.preventDefault();
      event.target.tabIndex = -1;
      next.tabIndex = 0;
      next.focus();
    });
  });

  // Sorting: numbers as numbers, dashes always last.
  const key = (row, column) => {
    const text = row.cells[column].textContent.trim(), x = parseFloat(text.replace(/[<>+,]/g, "").replace("−", "-").replace("∞", "Infinity"));
    return { text, x: /^[<>+−\d∞]/.test(text) ? x : NaN, none: text === "–" || text === "" };
  };
  const sort = (head) => {
    const table = head.closest("table"), column = head.cellIndex, body = table.tBodies[0];
    const numeric = head.classList.contains("num"), now = head.getAttribute("aria-sort");
    const down = now ? now === "ascending" : numeric;
    all("th[aria-sort]", table).forEach((th) => th.removeAttribute("aria-sort"));
    head.setAttribute("aria-sort", down ? "descending" : "ascending");
    const rows = [...body.rows].filter((row) => !("fixed" in row.dataset)).map((row) => [key(row, column), row]);
    rows.sort(([a], [b]) => {
      if (a.none || b.none) return a.none - b.none;
      const order = isNaN(a.x) || isNaN(b.x) ? a.text.localeCompare(b.text) : a.x - b.x;
      return down ? -order : order;
    });
    const hidden = body.querySelectorAll(".extra").length;
    rows.forEach(([, row], i) => { row.classList.toggle("extra", i >= rows.length - hidden); body.append(row); });
  };
  all("th .sort").forEach((button) => button.addEventListener("click", () => sort(button.closest("th"))));

  // Search and family: every word must occur in the row.
  all("form[data-filter]").forEach((form) => {
    const table = document.getElementById(form.dataset.filter), out = form.querySelector("output");
    const unit = out.textContent.trim().split(" ").pop();
    const apply = () => {
      const wanted = form.words.value.toLowerCase().split(/\s+/).filter(Boolean), family = form.family.value;
      const rows = [...table.tBodies[0].rows];
      rows.forEach((row) => {
        const text = row.textContent.toLowerCase();
        row.hidden = !(wanted.every((word) => text.includes(word)) && (!family || row.dataset.family === family));
      });
      table.classList.toggle("filtered", Boolean(wanted.length || family));
      out.textContent = `${rows.filter((row) => !row.hidden).length} ${unit}`;
    };
    form.addEventListener("input", apply);
    form.addEventListener("submit", (event) => event.preventDefault());
  });

  all("[data-more]").forEach((button) => button.addEventListener("click", () => {
    button.closest(".block").querySelector("table").classList.add("whole");
    button.parentNode.remove();
  }));

  // One panel of several.
  all(".switched").forEach((group) => {
    const buttons = all("[data-show]", group);
    const pick = (wanted) => {
      buttons.forEach((button) => button.setAttribute("aria-pressed", button === wanted));
      all("[data-panel]", group).forEach((panel) => { panel.hidden = panel.dataset.panel !== wanted.dataset.show; });
    };
    buttons.forEach((button) => button.addEventListener("click", () => pick(button)));
    if (buttons.length) pick(buttons[0]);
  });

  // The section in view.
  const links = new Map(all("nav a").map((link) => [link.hash.slice(1), link]));
  const seen = new IntersectionObserver((entries) => entries.filter((e) => e.isIntersecting).forEach((e) => {
    links.forEach((link) => link.removeAttribute("aria-current"));
    if (links.has(e.target.id)) links.get(e.target.id).setAttribute("aria-current", "true");
  }), { rootMargin: "-15% 0px -75% 0px" });
  all("main section[id]").forEach((section) => seen.observe(section));
})();
