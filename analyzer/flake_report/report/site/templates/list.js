"use strict";
// The table of tests: search, filters and order, and as many rows as were asked for.
(() => {
  const { asked, put, load } = flakeReport;
  const table = document.getElementById("tests");
  if (!table) return;
  const form = document.getElementById("filters");
  const body = table.tBodies[0];
  const [count, more, tail, none] = ["count", "more", "tail", "none"].map((id) => document.getElementById(id));
  const STEP = 50;
  const COLUMNS = ["name", "rate", "high", "low", "runs", "retry", "env", "", "cause", "pool", "since"];
  const FILTERS = ["verdict", "queue", "owner", "signature"];
  const UPWARD = new Set(["name", "cause", "pool"]);
  let shown = STEP;
  let texts = new Map();
  let files = 0;
  const normal = form.elements.verdict.querySelector('option[value="flaky"]') ? "flaky" : "";

  const textOf = (row) => {
    if (!texts.has(row)) texts.set(row, row.textContent.toLowerCase());
    return texts.get(row);
  };
  const valueOf = (row, column) => {
    const cell = row.cells[column];
    if (UPWARD.has(COLUMNS[column])) return cell.textContent.toLowerCase();
    return cell.dataset.s ? Number(cell.dataset.s) : -1;
  };
  const read = () => {
    const state = asked();
    const value = (name, other) => (state.has(name) ? state.get(name) : other);
    form.elements.q.value = value("q", "");
    for (const name of FILTERS) {
      form.elements[name].value = value(name, name === "verdict" ? normal : "");
      if (form.elements[name].selectedIndex < 0) form.elements[name].value = "";
    }
    const sort = COLUMNS.includes(state.get("sort")) && state.get("sort") ? state.get("sort") : "low";
    const up = state.has("up") ? state.get("up") === "1" : UPWARD.has(sort);
    return { sort, up };
  };
  const write = (order) => {
    const state = new URLSearchParams();
    if (form.elements.q.value.trim()) state.set("q", form.elements.q.value.trim());
    for (const name of FILTERS) {
      const value = form.elements[name].value;
      if (value !== (name === "verdict" ? normal : "")) state.set(name, value);
    }
    if (order.sort !== "low" || order.up) state.set("sort", order.sort);
    if (order.up !== UPWARD.has(order.sort)) state.set("up", order.up ? "1" : "0");
    put(state, false);
  };
  let order = { sort: "low", up: false };
  let sorted = "low false 0";

  const arrange = () => {
    const wanted = order.sort + " " + order.up + " " + files;
    if (wanted !== sorted) {
      const column = COLUMNS.indexOf(order.sort);
      const way = order.up ? 1 : -1;
      const keyed = [...body.rows].map((row) => [valueOf(row, column), row]);
      keyed.sort(([a], [b]) => (a < b ? -way : a > b ? way : 0));
      body.append(...keyed.map(([, row]) => row));
      sorted = wanted;
    }
    for (const button of table.tHead.querySelectorAll("button")) {
      const here = button.dataset.sort === order.sort;
      if (here) button.parentElement.setAttribute("aria-sort", order.up ? "ascending" : "descending");
      else button.parentElement.removeAttribute("aria-sort");
    }
  };
  const apply = () => {
    arrange();
    const words = form.elements.q.value.toLowerCase().split(/\s+/).filter(Boolean);
    const filters = FILTERS.map((name, at) => [at, form.elements[name].selectedIndex - 1]).filter(([, place]) => place >= 0);
    let fit = 0;
    for (const row of body.rows) {
      const fits = filters.every(([at, place]) => Number(row.dataset.f.split(" ")[at]) === place)
        && words.every((word) => textOf(row).includes(word));
      fit += fits;
      row.hidden = !fits || fit > shown;
    }
    count.textContent = fit.toLocaleString("en") + " of " + body.rows.length.toLocaleString("en")
      + (body.rows.length === 1 ? " test" : " tests") + (fit > shown ? ", " + shown + " shown" : "");
    more.hidden = fit <= shown;
    none.hidden = fit > 0;
  };
  const change = () => { shown = STEP; write(order); apply(); };

  form.addEventListener("input", change);
  form.addEventListener("submit", (event) => event.preventDefault());
  form.addEventListener("reset", (event) => {
    event.preventDefault();
    for (const one of form.querySelectorAll("input, select")) one.value = one.name === "verdict" ? normal : "";
    order = { sort: "low", up: false };
    change();
  });
  table.tHead.addEventListener("click", (event) => {
    const button = event.target.closest("button");
    if (!button) return;
    const sort = button.dataset.sort;
    order = { sort, up: sort === order.sort ? !order.up : UPWARD.has(sort) };
    write(order);
    apply();
  });
  more.addEventListener("click", () => { shown += STEP * 2; apply(); });

  // The next file of tests beside the page; rows are our own markup, made where names were escaped.
  const next = async () => {
    const html = await load("rows", files + 1);
    files += 1;
    body.insertAdjacentHTML("beforeend", html);
    tail.hidden = files >= Number(tail.dataset.files);
    apply();
  };
  tail.addEventListener("click", async () => {
    try {
      while (!tail.hidden) await next();
    } catch (error) {
      count.textContent = error.message + " could not be read: keep it beside this page";
    }
  });
  flakeReport.row = async (key) => {
    const find = () => [...body.rows].find((row) => row.dataset.k === key);
    while (!find() && files < Number(tail.dataset.files)) await next();
    return find();
  };
  const follow = () => {
    if (asked().has("test") || (location.hash && !location.hash.includes("="))) return;
    order = read();
    apply();
  };
  window.addEventListener("hashchange", follow);
  window.addEventListener("popstate", follow);
  order = read();
  apply();
})();
