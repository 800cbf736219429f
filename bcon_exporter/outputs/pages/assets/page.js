// The page is whole without this. It keeps ages true, and tells that a newer scan is there; nothing moves by itself.
"use strict";
(() => {
  const body = document.body;
  const news = document.querySelector(".news");
  const sentence = document.getElementById("sentence");
  const UNITS = [[172800, 86400, "days"], [7200, 3600, "h"], [120, 60, "min"], [0, 1, "s"]];

  // As the server writes it: "90 s", "45 min", "3 h 20 min", "4 days".
  function showDuration(seconds) {
    const total = Math.max(0, Math.round(seconds));
    const [, size, unit] = UNITS.find(([from]) => total >= from);
    const rest = unit === "h" ? ` ${Math.floor((total % 3600) / 60)} min` : "";
    return `${Math.floor(total / size)} ${unit}${rest}`;
  }

  // The server's clock is not the browser's: ages grow from what the server has said.
  const loaded = performance.now();
  const ages = new Map();
  for (const time of document.querySelectorAll("time[data-ago]")) {
    const [number, unit, minutes] = time.textContent.split(" ");
    const size = { days: 86400, h: 3600, min: 60, s: 1 }[unit];
    ages.set(time, number * size + (unit === "h" ? minutes * 60 : 0));
  }
  const passed = () => (performance.now() - loaded) / 1000;
  setInterval(() => {
    for (const [time, age] of ages) {
      const text = showDuration(age + passed());
      if (time.textContent !== text) time.textContent = text;
    }
  }, 5000);

  function mark(names) {
    const changed = new Set(names);
    for (const row of document.querySelectorAll("[data-row]")) {
      if (changed.has(row.dataset.row)) row.classList.add("changed");
    }
  }

  function tell(now) {
    document.querySelector("link[rel=icon]").href = now.favicon;
    for (const sign of document.querySelectorAll(".sign, .hero")) {
      sign.classList.remove("good", "unknown", "warning", "bad");
      sign.classList.add(now.tone);
    }
    for (const path of document.querySelectorAll(".sign path")) path.setAttribute("d", now.sign);
    if (sentence && sentence.textContent.trim() !== now.parts.join(" ")) {
      sentence.replaceChildren(...now.parts.flatMap((part) => {
        const span = document.createElement("span");
        span.textContent = part;
        return [span, " "];
      }));
    }
    for (const time of document.querySelectorAll("time[data-scan]")) ages.set(time, now.age - passed());
    mark(now.changed);
    news.hidden = now.state === body.dataset.state;
    if (news.hidden) return;
    const count = document.querySelectorAll(".changed").length;
    news.querySelector("span").textContent = count ? `Something has changed: ${count} on this page.` : "Something has changed.";
    if (document.hidden) location.reload();  // nobody reads it now
  }

  document.addEventListener("keydown", (event) => {
    const search = document.querySelector("input[type=search]");
    const writes = ["INPUT", "SELECT", "TEXTAREA"].includes(document.activeElement?.tagName);
    if (event.key !== "/" || event.ctrlKey || event.metaKey || event.altKey || writes || !search) return;
    event.preventDefault();
    search.focus();
  });

  // A browser has six connections to a server: a tab that nobody sees asks once a minute and holds none.
  let stream = null;
  function rest() {
    stream?.close();
    stream = null;
  }
  function listen() {
    if (stream) return;
    stream = new EventSource(body.dataset.live);
    stream.addEventListener("scan", (event) => {
      if (document.hidden) rest();
      tell(JSON.parse(event.data));
    });
  }
  setInterval(() => document.hidden && listen(), 60000);
  document.addEventListener("visibilitychange", () => (document.hidden ? rest() : listen()));
  addEventListener("pagehide", rest);
  addEventListener("pageshow", listen);
})();
