// The page is whole without this. It keeps ages and numbers true, tells that a newer scan is there, and filters and
// sorts without a new page; nothing moves by itself.
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
  const passed = () => (performance.now() - loaded) / 1000;
  function takeAges(part) {
    for (const time of part.querySelectorAll("time[data-ago]")) {
      const [number, unit, minutes] = time.textContent.split(" ");
      const size = { days: 86400, h: 3600, min: 60, s: 1 }[unit];
      ages.set(time, number * size + (unit === "h" ? minutes * 60 : 0) - passed());
    }
  }
  takeAges(document);
  setInterval(() => {
    for (const [time, age] of ages) {
      const text = showDuration(age + passed());
      if (time.textContent !== text) time.textContent = text;
    }
  }, 5000);

  // The server filters, sorts and folds: a link or a form that only does that is asked for, and its parts are swapped in.
  let turn = 0;  // of what the reader has asked for last: older answers are dropped
  async function ask(url) {
    const answer = await fetch(url);
    if (!answer.ok) throw new Error(answer.status);
    return new DOMParser().parseFromString(await answer.text(), "text/html");
  }
  async function show(url, again) {
    const mine = ++turn;
    try {
      const page = await ask(url);
      if (mine !== turn) return;
      for (const part of document.querySelectorAll(".part")) {
        part.replaceChildren(...(page.getElementById(part.id)?.childNodes ?? []));
        takeAges(part);
      }
      addCopyButtons();
      for (const hidden of document.querySelectorAll(".filter input[type=hidden]")) hidden.remove();
      document.querySelector(".filter")?.append(...page.querySelectorAll(".filter input[type=hidden]"));
      history.replaceState(null, "", url);
      again?.();
    } catch {
      location.href = url;
    }
  }
  function fold(link) {
    const body = link.closest("tbody");
    const opens = link.getAttribute("aria-expanded") === "false";
    link.setAttribute("aria-expanded", opens);
    const rows = [...body.rows].slice(1);
    for (const row of rows) row.hidden = !opens;
    if (opens && !rows.length) {
      ask(link.href).then((page) => {
        const fresh = [...page.querySelectorAll("tbody[data-project]")];
        body.append(...[...fresh.find((other) => other.dataset.project === body.dataset.project).rows].slice(1));
      }).catch(() => { location.href = link.href; });
    }
  }
  document.addEventListener("click", (event) => {
    const link = event.target.closest("a");
    if (!link || event.ctrlKey || event.metaKey || event.shiftKey) return;
    if (link.matches("[aria-expanded]")) {
      event.preventDefault();
      fold(link);
    } else if (link.matches("[data-swap], .share a[href^='?']")) {
      event.preventDefault();
      const column = link.closest("th")?.className;
      show(link.href, () => column && document.querySelector(`th.${column} a`)?.focus());
    }
  });
  const form = document.querySelector("main:has(.part) .filter");
  const asked = () => `?${new URLSearchParams([...new FormData(form)].filter(([, value]) => value))}`;
  let typing;
  form?.addEventListener("input", (event) => {
    clearTimeout(typing);
    if (tail) return hideOthers();
    typing = setTimeout(() => show(asked()), event.target.type === "search" ? 250 : 0);
  });
  form?.addEventListener("submit", (event) => {
    event.preventDefault();
    clearTimeout(typing);
    if (!tail) show(asked());
  });

  // The log as it comes, until its button or the server ends it, or nobody has looked for ten minutes.
  const UNSEEN_MS = 600000;
  const LINES_KEPT = 2000;
  const tailButton = document.querySelector("[data-tail]");
  let tail = null;
  let unseen;
  function make(tag, className, text) {
    const element = document.createElement(tag);
    element.className = className;
    element.textContent = text;
    return element;
  }
  function hideOthers(from = 0) {
    const words = form.elements.find.value.toLowerCase();
    for (const line of [...document.querySelectorAll("#lines .line")].slice(from)) {
      line.hidden = !line.textContent.toLowerCase().includes(words);
    }
  }
  function endTail(words) {
    tail?.close();
    tail = null;
    tailButton.setAttribute("aria-pressed", false);
    tailButton.nextElementSibling.textContent = words;
  }
  function startTail() {
    const box = make("div", "log", "");
    const text = box.appendChild(document.createElement("pre"));
    box.tabIndex = 0;
    box.role = "region";
    box.ariaLabel = "Log lines, the newest last";
    document.getElementById("lines").replaceChildren(box);
    addCopyButtons();
    form.elements.part.value = "newest";
    tailButton.setAttribute("aria-pressed", true);
    tailButton.nextElementSibling.textContent = "New lines are shown as they come.";
    tail = new EventSource(tailButton.dataset.tail);
    tail.addEventListener("lines", (event) => {
      const now = JSON.parse(event.data);
      if (now.first) text.replaceChildren();
      if (now.gap) text.append(make("span", "dim", "⋯ some lines came faster than they could be read\n"));
      const before = text.children.length;
      text.append(...now.lines.map(([at, level, words]) => {
        const line = make("span", `line ${level}`, "");
        line.append(make("span", "dim", at), ` ${words}\n`);
        return line;
      }));
      if (form.elements.find.value) hideOthers(before);
      for (let extra = text.children.length - LINES_KEPT; extra > 0; extra--) text.firstChild.remove();
    });
    tail.addEventListener("end", (event) => endTail(`${JSON.parse(event.data).message}.`));
    tail.addEventListener("error", () => tail?.readyState === 2 && endTail("The log cannot be read as it comes now."));
  }
  if (tailButton) {
    tailButton.parentElement.hidden = false;
    tailButton.addEventListener("click", () => (tail ? endTail("") : startTail()));
    document.addEventListener("visibilitychange", () => {
      clearTimeout(unseen);
      if (document.hidden) unseen = setTimeout(() => tail && endTail("Ended: nobody has looked for 10 minutes."), UNSEEN_MS);
    });
    addEventListener("pagehide", () => endTail(""));
  }

  // What can be copied has a button; where the browser gives no clipboard (plain http), the text is selected instead.
  async function copy(button) {
    const source = button.nextElementSibling;
    try {
      await navigator.clipboard.writeText(source.innerText);
      button.ariaLabel = "Copied";
      setTimeout(() => { button.ariaLabel = "Copy"; }, 2000);
    } catch {
      getSelection().selectAllChildren(source);
    }
  }
  function addCopyButtons() {
    for (const source of document.querySelectorAll(".log:not(.copy + *)")) {
      const button = make("button", "copy", "");
      button.type = "button";
      button.ariaLabel = "Copy";
      button.addEventListener("click", () => copy(button));
      source.before(button);
    }
  }
  addCopyButtons();

  // A newer scan: the numbers of the rows that are shown and what says "now", each in its place.
  async function renew() {
    const rows = new Map([...document.querySelectorAll("tr[data-row]")].map((row) => [row.dataset.row, row]));
    const parts = document.querySelectorAll(".renewed");
    if (document.hidden || !(rows.size || parts.length)) return;
    const url = new URL(location.href);
    if (document.querySelector("[data-project] tr[data-row]")) url.searchParams.set("open", "*");
    const mine = turn;
    const page = await ask(url).catch(() => null);
    if (!page || mine !== turn) return;
    for (const part of parts) part.replaceChildren(...(page.getElementById(part.id)?.childNodes ?? []));
    for (const fresh of page.querySelectorAll("tr[data-row]")) {
      const row = rows.get(fresh.dataset.row);
      if (row) [2, 3, 4, 5].forEach((at) => row.cells[at].replaceWith(fresh.cells[2]));
    }
  }

  function mark(names) {
    const changed = new Set(names);
    for (const row of document.querySelectorAll("[data-row]")) {
      if (changed.has(row.dataset.row)) row.classList.add("changed");
    }
  }

  let scans = 0;  // that this page has heard of: the first is the one it shows
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
    if (scans++) renew();
    news.hidden = now.state === body.dataset.state;
    if (news.hidden) return;
    const count = document.querySelectorAll(".changed").length;
    news.querySelector("span").textContent = count ? `Something has changed: ${count} on this page.` : "Something has changed.";
    if (document.hidden && !tail) location.reload();  // nobody reads it now
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
