"use strict";
// Drawings of one test: its runs as a strip, its segments below, and its rate by week. Text is set as text alone.
flakeReport.draw = (() => {
  const SVG = "http://www.w3.org/2000/svg";
  const WIDEST = 12; // cells that a stretch of plain runs takes at most; the count stands above it
  const make = (name, attributes = {}, text) => {
    const made = document.createElementNS(SVG, name);
    for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
    if (text !== undefined) made.textContent = text;
    return made;
  };
  const canvas = (width, height, told) =>
    make("svg", { width, height, viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": told });

  // How an attempt looks: one that the environment failed, or whose job was lost, says nothing of the test.
  const look = (attempt, outcomes) => {
    const [outcome, victim, lost] = attempt;
    if (lost) return "lost";
    if (victim) return "victim";
    const word = outcomes[outcome];
    if (["failed", "error", "crashed"].includes(word)) return "failed";
    return word === "skipped" ? "skip" : "passed";
  };

  // Every build that a cell covers gets its place from left to right; segments are drawn by the same places.
  const strip = (test, shared, pick) => {
    const cells = test.cells.reduce((sum, cell) => sum + (cell[0] === 2 ? 1 : Math.min(cell[3], WIDEST)), 0);
    const CELL = Math.max(9, Math.min(16, Math.floor(900 / Math.max(cells, 1))));
    const marks = [];
    let x = 2;
    const deepest = Math.max(1, ...test.cells.map((cell) => (cell[0] === 2 ? cell[3].length : 1)));
    const shownRows = Math.min(deepest, 6);
    const top = 16;
    const drawn = [];
    for (const cell of test.cells) {
      if (cell[0] === 2) {
        const [, order, verdict, attempts] = cell;
        const group = make("g", { "data-order": order });
        const build = shared.builds[order];
        group.append(make("title", {}, `${build[0]} ${build[1]}: ${shared.verdicts[verdict]}`));
        const shown = attempts.length ? attempts.slice(0, shownRows) : [];
        shown.forEach((attempt, at) => group.append(make("rect", {
          x: x + 1, y: top + at * CELL, width: CELL - 2, height: CELL - 2, class: look(attempt, shared.outcomes),
        })));
        group.addEventListener("click", () => pick(order));
        drawn.push(group);
        marks.push([order, order, x, x + CELL]);
        x += CELL;
      } else {
        const [kind, first, last, count] = cell;
        const width = CELL * Math.min(count, WIDEST);
        const bar = make("rect", { x: x + 1, y: top, width: width - 2, height: CELL - 2, class: kind ? "skip" : "pass" });
        bar.append(make("title", {}, `${count} ${kind ? "skipped" : "passed"}, ${shared.builds[first][0]} to ${shared.builds[last][0]}`));
        drawn.push(bar);
        if (count > 3) drawn.push(make("text", { x: x + width / 2, y: 11, "text-anchor": "middle" }, String(count)));
        marks.push([first, last, x, x + width]);
        x += width;
      }
    }
    const base = top + shownRows * CELL + 6;
    const svg = canvas(x + 2, base + (test.segments.length > 1 ? 18 : 0), "runs from the oldest to the newest, attempts from top to bottom; the table of runs says the same");
    svg.append(...drawn);
    const place = (order, end) => {
      const inside = marks.filter(([first, last]) => first <= order && order <= last);
      if (inside.length) {
        const [first, last, from, to] = inside[0];
        const part = last > first ? (order - first + (end ? 1 : 0)) / (last - first + 1) : end ? 1 : 0;
        return from + (to - from) * part;
      }
      const before = marks.filter(([, last]) => last < order);
      return before.length ? before[before.length - 1][3] : 2;
    };
    if (test.segments.length > 1) {
      for (const [first, last, breakage, , , earliest, latest, told] of test.segments) {
        const line = make("path", { d: `M${place(first, false) + 1} ${base + 3}H${place(last, true) - 1}`, class: breakage ? "seg breakage" : "seg" });
        line.append(make("title", {}, told));
        svg.append(line);
        if (earliest === null) continue;
        const [from, to] = [place(earliest, false), Math.max(place(latest, true), place(earliest, false) + 2)];
        svg.append(make("path", { d: `M${from} ${base + 8}v8M${from} ${base + 12}H${to}M${to} ${base + 8}v8`, class: "change" }));
      }
    }
    return svg;
  };

  // The first-attempt failure rate of each week with its 95 % band; weeks without a run have neither.
  const rate = (weeks) => {
    const [left, top, height, gap] = [44, 8, 100, Math.max(46, Math.min(90, 640 / weeks.length))];
    const width = left + gap * weeks.length;
    const ran = weeks.map((week, at) => [...week, left + gap * (at + 0.5)]).filter((week) => week[1] > 0);
    const most = Math.min(1, Math.max(0.02, ...ran.map((week) => week[6])));
    const y = (share) => top + height * (1 - share / most);
    const told = weeks.map((week) => `${week[0]}: ${week[2]} of ${week[1]}`).join(", ");
    const svg = canvas(width, top + height + 34, `first attempts that failed by week: ${told}`);
    for (const share of [0, most / 2, most]) {
      svg.append(make("path", { d: `M${left} ${y(share)}H${width}`, class: "axis" }));
      svg.append(make("text", { x: left - 6, y: y(share) + 4, "text-anchor": "end" }, (share * 100).toFixed(share && most < 0.1 ? 1 : 0) + " %"));
    }
    const there = ran.map((week) => `${week[7]} ${y(week[6])}`);
    const back = ran.map((week) => `${week[7]} ${y(week[5])}`).reverse();
    if (ran.length > 1) {
      svg.append(make("path", { d: `M${[...there, ...back].join("L")}Z`, class: "area" }));
      svg.append(make("path", { d: `M${ran.map((week) => `${week[7]} ${y(week[4])}`).join("L")}`, class: "rate" }));
    }
    for (const week of ran) {
      const x = week[7];
      if (ran.length === 1) svg.append(make("path", { d: `M${x} ${y(week[5])}V${y(week[6])}`, class: "rate" }));
      const dot = make("circle", { cx: x, cy: y(week[4]), r: 3.5, class: "dot" });
      dot.append(make("title", {}, `${week[0]}: ${(week[4] * 100).toFixed(1)} %, 95 % ${(week[5] * 100).toFixed(1)}–${(week[6] * 100).toFixed(1)}`));
      svg.append(dot);
    }
    weeks.forEach((week, at) => {
      const x = left + gap * (at + 0.5);
      svg.append(make("text", { x, y: top + height + 16, "text-anchor": "middle" }, week[0].slice(5)));
      svg.append(make("text", { x, y: top + height + 30, "text-anchor": "middle" }, `${week[2]}/${week[1]}`));
    });
    return svg;
  };
  const swatch = (kind) => {
    const svg = make("svg", { width: 10, height: 10, "aria-hidden": "true" });
    svg.append(make("rect", { x: 0.5, y: 0.5, width: 9, height: 9, class: kind }));
    return svg;
  };
  return { strip, rate, look, swatch };
})();
