"use strict";
// One test by itself, at #test=KEY: everything is made of text nodes, so that no name or message can act.
(() => {
  const { asked, load, draw } = flakeReport;
  const report = document.getElementById("report");
  const own = document.getElementById("own");
  const title = document.title;
  let scrolled = 0;

  const el = (name, attributes = {}, ...inside) => {
    const made = document.createElement(name);
    for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
    made.append(...inside);
    return made;
  };
  const bdi = (text) => el("bdi", {}, text);
  const link = (url, text) => (/^https?:\/\//.test(url) ? el("a", { href: url, rel: "noreferrer" }, text) : document.createTextNode(text));
  const table = (caption, heads, rows) => {
    const head = el("tr", {}, ...heads.map(([words, kind]) => el("th", kind ? { scope: "col", class: kind } : { scope: "col" }, words)));
    return el("div", { class: "wide", tabindex: "0", role: "region", "aria-label": caption },
      el("table", {}, el("thead", {}, head), el("tbody", {}, ...rows)));
  };

  const portion = async (number) =>
    number ? load("details", number) : JSON.parse(document.getElementById("details").textContent);

  const runs = (test, shared) => {
    const text = (at) => shared.texts[at];
    const told = test.cells.filter((cell) => cell[0] === 2).reverse();
    return told.map(([, order, verdict, attempts]) => {
      const [label, commit, date, url] = shared.builds[order];
      const tried = attempts.map((attempt) => {
        const [outcome, victim, lost, agent, retry, signature, fingerprint, message, job] = attempt;
        const word = el("b", {}, shared.outcomes[outcome]);
        const where = [text(agent), text(retry), lost ? "job lost: it does not count" : ""].filter(Boolean).join(" · ");
        const said = [victim ? "by the environment: " + text(signature) : text(signature), text(message), text(fingerprint) && "[" + text(fingerprint) + "]"];
        const line = el("p", {}, word, " ", bdi(where));
        if (text(job) && url) line.append(" · ", link(url + "#" + text(job), "job"));
        const more = said.filter(Boolean).join(" · ");
        return more ? [line, el("p", {}, bdi(more))] : [line];
      });
      return el("tr", { id: "run-" + order },
        el("th", { scope: "row" }, link(url, label), el("p", {}, commit + " · " + date)),
        el("td", {}, el("b", {}, shared.verdicts[verdict])),
        el("td", {}, ...tried.flat()));
    });
  };

  const failures = (test, shared) => {
    const text = (at) => shared.texts[at];
    const made = [];
    if (test.prints.length) {
      made.push(el("h3", {}, "Failed attempts by fingerprint"), table("Failed attempts by fingerprint",
        [["Attempts", "n"], ["Fingerprint"], ["Signature"], ["Message"]],
        test.prints.map(([fingerprint, signature, count, message]) => el("tr", {},
          el("td", { class: "n" }, String(count)), el("td", {}, el("code", {}, text(fingerprint) || "none")),
          el("td", {}, bdi(text(signature))), el("td", {}, bdi(text(message)))))));
    }
    if (test.agents.length) {
      made.push(el("h3", {}, "Failed attempts by agent"), table("Failed attempts by agent", [["Attempts", "n"], ["Agent"]],
        test.agents.map(([agent, count]) => el("tr", {}, el("td", { class: "n" }, String(count)), el("td", {}, bdi(text(agent) || "unknown"))))));
    }
    return made;
  };

  const legend = () => el("p", { class: "legend drawn" }, ...[["passed", "passed"], ["failed", "failed"], ["victim", "failed by the environment"], ["lost", "job lost"], ["skip", "skipped"], ["pass", "plain passes, counted"]]
    .map(([kind, words]) => el("span", {}, draw.swatch(kind), words)));

  const siblings = (row) => {
    const name = row.cells[0].querySelector("bdi").textContent;
    const same = [...row.parentElement.rows].filter((one) => one !== row && one.cells[0].querySelector("bdi").textContent === name);
    if (!same.length) return [];
    return [el("h3", {}, "The same test elsewhere"), el("ul", { class: "list" }, ...same.slice(0, 30).map((one) =>
      el("li", {}, el("a", { href: "#test=" + one.dataset.k }, bdi(one.cells[0].querySelector("p").textContent)), " " + one.cells[1].textContent.trim())))];
  };

  const fill = async (key) => {
    const row = flakeReport.row ? await flakeReport.row(key) : undefined;
    if (!row) {
      own.replaceChildren(back(), el("h2", {}, "No such test"), el("p", { class: "empty" }, "This report has no test by that address: it may have left the window."));
      return;
    }
    const name = row.cells[0].querySelector("bdi").textContent;
    const [where, why] = row.cells[0].querySelectorAll("p");
    const head = [back(), el("h2", {}, bdi(name)), where.cloneNode(true), why.cloneNode(true)];
    document.title = name + " · " + title;
    let shared;
    try {
      shared = await portion(Number(row.dataset.c));
    } catch (error) {
      own.replaceChildren(...head, el("p", { class: "empty" }, error.message + " holds the runs of this test and could not be read: keep it beside this page."));
      return;
    }
    const test = shared.tests[key];
    if (!test) {
      own.replaceChildren(...head, el("p", { class: "empty" }, "Nothing more is known of this test."));
      return;
    }
    const pick = (order) => {
      for (const one of own.querySelectorAll("tr.at")) one.classList.remove("at");
      const run = document.getElementById("run-" + order);
      run.classList.add("at");
      run.scrollIntoView({ block: "center" });
    };
    const parts = [...head, el("ul", { class: "list" }, ...test.about.map((line) => el("li", {}, line)))];
    if (test.before) parts.push(el("p", { class: "note" }, test.before + " earlier runs that failed are not drawn; the numbers count them."));
    const strip = el("div", { class: "drawn", tabindex: "0", role: "region", "aria-label": "Strip of runs" }, draw.strip(test, shared, pick));
    parts.push(el("h3", {}, "Runs, oldest first; attempts from top to bottom"), strip, legend());
    if (test.segments.length > 1) {
      parts.push(el("h3", {}, "Segments"), el("ul", { class: "list" }, ...test.segments.map((one) => el("li", {}, one[7]))));
    }
    if (test.weeks.length) {
      parts.push(el("h3", {}, "First attempts that failed, by week, with the 95 % band"),
        el("div", { class: "drawn", tabindex: "0", role: "region", "aria-label": "Rate by week" }, draw.rate(test.weeks)));
    }
    parts.push(...failures(test, shared));
    const told = runs(test, shared);
    if (told.length) parts.push(el("h3", {}, "Runs that need telling, newest first"), table("Runs", [["Build"], ["Verdict"], ["Attempts"]], told));
    parts.push(...siblings(row));
    own.replaceChildren(...parts);
    strip.scrollLeft = strip.scrollWidth;
  };
  const back = () => {
    const made = el("a", { href: "#worst" }, "← all tests");
    made.addEventListener("click", (event) => {
      event.preventDefault();
      leave();
    });
    return el("p", {}, made);
  };
  const leave = () => {
    if (cameFrom !== null) history.back();
    else location.hash = "worst";
  };
  let cameFrom = null;

  const follow = async (event) => {
    const key = asked().get("test");
    if (key === null) {
      const was = !own.hidden;
      own.hidden = true;
      report.hidden = false;
      document.title = title;
      cameFrom = null;
      if (was) {
        const target = location.hash && !location.hash.includes("=") ? document.getElementById(location.hash.slice(1)) : null;
        if (target) target.scrollIntoView();
        else window.scrollTo(0, scrolled);
      }
      return;
    }
    if (own.hidden) {
      scrolled = window.scrollY;
      cameFrom = event ? true : null;
    }
    await fill(key);
    report.hidden = true;
    own.hidden = false;
    window.scrollTo(0, 0);
    const strip = own.querySelector(".drawn");
    if (strip) strip.scrollLeft = strip.scrollWidth;
    own.focus({ preventScroll: true });
  };
  window.addEventListener("hashchange", follow);
  document.addEventListener("keydown", (event) => {
    if (event.key === "Escape" && !own.hidden) leave();
  });
  follow(null);
})();
