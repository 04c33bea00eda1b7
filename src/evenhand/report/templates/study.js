"use strict";
(() => {
  const all = (selector, from = document) => [...from.querySelectorAll(selector)];

  // Choices: a part of the page shows the panels of the chosen problem and metric.
  all(".pick").forEach((part) => {
    const selects = all("select[data-pick]", part);
    const apply = () => selects.forEach((select) => {
      const kind = select.dataset.pick;
      all(`[data-at-${kind}]`, part).forEach((panel) => { panel.hidden = panel.getAttribute(`data-at-${kind}`) !== select.value; });
    });
    selects.forEach((select) => select.addEventListener("change", apply));
    apply();
  });

  // Runs: a mark holds only a number; what it is stands in the list beside the figure.
  all(".plot").forEach((plot) => {
    const list = JSON.parse(document.getElementById(plot.dataset.runs).textContent);
    const tell = (mark) => {
      if (mark.dataset.tip) return;
      const [method, setting, seed, selected, ...values] = list.runs[+mark.dataset.i];
      const lines = [`${list.methods[method]} · ${typeof seed === "number" ? `seed ${seed}` : seed}`, list.settings[setting]];
      values.forEach((x, i) => lines.push(`${list.keys[i]} ${x === null ? "–" : x.toFixed(4)}`));
      mark.dataset.tip = [...lines, selected ? "selected setting" : ""].filter(Boolean).join("\n");
    };
    const found = (event) => event.target.closest && event.target.closest("[data-i]");
    for (const kind of ["mouseover", "focusin", "click"])
      plot.addEventListener(kind, (event) => { const mark = found(event); if (mark) tell(mark); });

    // Arrow keys: left and right along accuracy, up and down from method to method.
    all(".runs", plot).forEach((figure) => {
      const order = all("[data-i]", figure).map((mark) => ({ mark, run: list.runs[+mark.dataset.i] }));
      order.sort((a, b) => a.run[0] - b.run[0] || a.run[4] - b.run[4]);
      let at = -1;
      figure.addEventListener("keydown", (event) => {
        const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key], jump = { ArrowDown: 1, ArrowUp: -1 }[event.key];
        if (!(step || jump) || !order.length) return;
        event.preventDefault();
        if (at < 0) at = 0;
        else if (step) at = (at + step + order.length) % order.length;
        else {
          const now = order[at].run[0], methods = [...new Set(order.map((one) => one.run[0]))];
          const next = methods[(methods.indexOf(now) + jump + methods.length) % methods.length];
          at = order.findIndex((one) => one.run[0] === next);
        }
        const mark = order[at].mark;
        mark.setAttribute("tabindex", "-1");
        mark.focus({ preventScroll: true });
      });
    });

    // A method by itself: on hover or focus of its name; a click keeps it.
    const buttons = all("[data-of]", plot);
    const show = (button) => all("g[data-series]", plot).forEach((group) =>
      group.classList.toggle("dim", Boolean(button) && group.dataset.series !== button.dataset.of));
    const kept = () => buttons.find((button) => button.getAttribute("aria-pressed") === "true");
    buttons.forEach((button) => {
      for (const kind of ["mouseenter", "focus"]) button.addEventListener(kind, () => show(button));
      for (const kind of ["mouseleave", "blur"]) button.addEventListener(kind, () => show(kept()));
      button.addEventListener("click", () => {
        const now = button.getAttribute("aria-pressed") !== "true";
        buttons.forEach((other) => other.setAttribute("aria-pressed", now && other === button));
        show(kept());
      });
    });
  });
})();
