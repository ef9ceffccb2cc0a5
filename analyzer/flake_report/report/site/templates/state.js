"use strict";
// What is looked at stands in the address after "#", so that a link says it all: filters, order, or one test.
window.flakeReport = (() => {
  const asked = () => new URLSearchParams(location.hash.includes("=") ? location.hash.slice(1) : "");
  const put = (state, remember) => {
    const text = state.toString();
    const address = location.pathname + location.search + (text ? "#" + text : "");
    history[remember ? "pushState" : "replaceState"](null, "", address);
  };
  // Scripts beside the page bring more tests: they call rows() and details() with what they hold.
  const arrived = { rows: new Map(), details: new Map() };
  const waiting = new Map();
  const receive = (kind) => (number, what) => arrived[kind].set(number, what);
  const load = (kind, number) => {
    const name = kind + "-" + number + ".js";
    if (arrived[kind].has(number)) return Promise.resolve(arrived[kind].get(number));
    if (!waiting.has(name)) {
      waiting.set(name, new Promise((done, failed) => {
        const script = document.createElement("script");
        script.src = name;
        script.onload = () => (arrived[kind].has(number) ? done(arrived[kind].get(number)) : failed(new Error(name)));
        script.onerror = () => { waiting.delete(name); failed(new Error(name)); };
        document.head.append(script);
      }));
    }
    return waiting.get(name);
  };
  return { asked, put, load, rows: receive("rows"), details: receive("details") };
})();
