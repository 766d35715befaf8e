"use strict";
// The page is whole without this script: it adds sorting, filters, choosers and charts that answer.
// What the report says reaches the page by textContent alone.
(() => {
const data = JSON.parse(document.getElementById("data").textContent);
const all = (selector, root = document) => [...root.querySelectorAll(selector)];
const STEP = 100; // rows of a table that are shown at a time
const LONG = 56; // characters of a name in a table
const WIDE = 380; // pixels that a panel of a chart needs

function make(tag, className, ...children) {
  const element = document.createElement(tag);
  if (className) element.className = className;
  element.append(...children);
  return element;
}

function button(label, act) {
  const element = make("button", "", label);
  element.type = "button";
  element.addEventListener("click", act);
  return element;
}

// As `name` and `figures` of hardness/report/page/text.py, of texts that are harmless already.
function named(text) {
  if (text.length <= LONG) return make("bdi", "name", text);
  const head = make("bdi", "name", `${text.slice(0, LONG)}…`);
  return make("details", "long", make("summary", "", head), make("bdi", "name whole", text));
}

function figures(value) {
  if (Number.isSafeInteger(value)) {
    return Math.abs(value) < 10000 ? String(value) : value.toLocaleString("en-US");
  }
  const size = Math.abs(value);
  if (size >= 1e-4 && size < 1e4) return String(Number(value.toPrecision(4)));
  return value.toExponential(3).replace(/\.?0+e/, "e").replace(/e([+-])(\d)$/, "e$10$2");
}

// What has no value comes last, up or down; numbers come before texts.
const order = new Intl.Collator("en", { numeric: true });
function compare(a, b, way) {
  if (a === null || b === null) return (a === null) - (b === null);
  if (typeof a === "number" && typeof b === "number") return way * (a - b);
  if (typeof a !== typeof b) return way * (typeof a === "number" ? -1 : 1);
  return way * order.compare(a, b);
}

// A formula of a spreadsheet begins with one of these; a number as text is none.
function csvCell(value) {
  if (typeof value !== "string") return value === null ? "" : String(value);
  const formula = /^[=+\-@\t\r\n\ufeff\uff1d\uff0b\uff0d\uff20]/.test(value) && !/^[+-]?\d+(\/\d+)?$/.test(value);
  const text = formula ? `'${value}` : value;
  return /[",\n\r]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

function grid(root) {
  const columns = data.tables[root.dataset.grid];
  const values = columns.map((c) => (c.texts ? c.places.map((place) => c.texts[place]) : c.values));
  const rows = Array.from({ length: values[0]?.length ?? 0 }, (_, i) => values.map((c) => c[i]));
  const [body, count, search] = ["tbody", ".count", "input"].map((s) => root.querySelector(s));
  const heads = all("th", root);
  const right = heads.map((head) => head.classList.contains("n"));
  const words = new Map();
  let [sorted, found, shown, by, way] = [rows, rows, STEP, -1, 1];
  const next = button(`Show ${STEP} more`, () => show(shown + STEP));
  const rest = button("Show all", () => show(found.length));

  const text = (row) => {
    if (!words.has(row)) words.set(row, row.join("\n").toLowerCase());
    return words.get(row);
  };
  const cell = (value, column) => {
    const content = value === null ? "–" : typeof value === "number" ? figures(value) : named(value);
    return make("td", right[column] ? "n" : "", content);
  };
  function show(number) {
    shown = Math.max(number, STEP);
    const part = found.slice(0, shown);
    body.replaceChildren(...part.map((row) => make("tr", "", ...row.map(cell))));
    const of = found.length < rows.length ? ` of ${figures(rows.length)}` : "";
    const few = part.length < found.length ? `, ${figures(part.length)} shown` : "";
    count.textContent = `${figures(found.length)}${of} row${rows.length === 1 ? "" : "s"}${few}`;
    next.hidden = rest.hidden = part.length === found.length;
  }
  function filter() {
    const wanted = search.value.toLowerCase().split(/\s+/).filter(Boolean);
    found = sorted.filter((row) => wanted.every((word) => text(row).includes(word)));
    show(STEP);
  }
  function sort(column) {
    [way, by] = [by === column ? -way : 1, column];
    heads.forEach((head, place) => {
      if (place === column) head.setAttribute("aria-sort", way > 0 ? "ascending" : "descending");
      else head.removeAttribute("aria-sort");
    });
    sorted = [...rows].sort((a, b) => compare(a[column], b[column], way));
    filter();
  }
  function save() {
    const lines = [columns.map((c) => c.name), ...found].map((row) => row.map(csvCell).join(","));
    const address = URL.createObjectURL(new Blob([lines.join("\n"), "\n"], { type: "text/csv" }));
    Object.assign(make("a"), { href: address, download: `${root.dataset.grid}.csv` }).click();
    setTimeout(() => URL.revokeObjectURL(address), 60000);
  }
  heads.forEach((head, column) => head.replaceChildren(button(head.textContent, () => sort(column))));
  search.addEventListener("input", filter);
  const controls = root.querySelector(".controls");
  controls.append(next, rest, button("CSV of these rows", save));
  controls.hidden = false;
  root.querySelector(".rest")?.remove();
  filter();
}

// Vega draws without eval: expressions are interpreted, so the page's policy needs no exception.
function embed(figure) {
  const spec = data.charts[figure.dataset.key];
  const columns = Math.max(1, Math.floor(innerWidth / WIDE));
  if (columns < 3) {
    const folded = (notes) => notes.flatMap((line) => line.match(/.{1,56}(\s|$)/g) ?? [line]);
    const notes = spec.title?.subtitle;
    if (Array.isArray(notes)) spec.title.subtitle = folded(notes);
    const titles = spec.params?.find((one) => one.name === "titles"); // at each step of a slider
    if (titles) titles.value = titles.value.map(folded);
    spec.columns = spec.config.legend.columns = columns;
    spec.config.legend.labelLimit = 240;
  }
  const actions = { export: true, source: false, compiled: false, editor: false };
  const options = { ast: true, renderer: "svg", actions, downloadFileName: figure.dataset.key };
  const drawing = make("div", "drawing");
  return vegaEmbed(drawing, spec, options).then(() => {
    figure.querySelector(".drawing").replaceWith(drawing);
    const svg = drawing.querySelector("svg"); // on a small screen it scrolls before it is too small
    svg.style.minWidth = `${0.7 * svg.viewBox.baseVal.width}px`;
    figure.dataset.drawn = "yes";
  });
}

const seen = new IntersectionObserver((entries) => {
  for (const { isIntersecting, target } of entries) {
    if (!isIntersecting) continue;
    seen.unobserve(target);
    embed(target).catch((error) => console.error(error)); // the picture stays as it stood
  }
}, { rootMargin: "400px" });

all("[data-grid]").forEach(grid);
all(".charts").forEach((section) => {
  const [select, figures] = [section.querySelector("select"), all("figure.chart", section)];
  select?.addEventListener("input", () => {
    for (const one of figures) one.hidden = one.dataset.key !== select.value;
  });
  figures.forEach((one) => seen.observe(one));
});
performance.mark("interactive");
})();
