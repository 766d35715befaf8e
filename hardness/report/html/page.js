"use strict";
// The page is whole without this script, which adds sorting, filters, toggles, values and downloads.
// Texts of the report reach the document by textContent and setAttribute alone, and nothing is
// looked up in an object by a name of the report's.
(() => {
  const STEP = 100; // rows of a table that are shown at a time
  const NEAR = 28; // pixels from a mark within which its value is shown
  const LONG = 56;
  const SVG = "http://www.w3.org/2000/svg";
  const data = JSON.parse(document.getElementById("data").textContent);
  const all = (selector, root = document) => [...root.querySelectorAll(selector)];

  function make(tag, attributes = {}, ...children) {
    const element = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
    element.append(...children);
    return element;
  }

  function button(label, act) {
    const element = make("button", { type: "button" }, label);
    element.addEventListener("click", act);
    return element;
  }

  // As `harmless`, `name` and `figures` of hardness/report/html/text.py.
  const harmless = (text) =>
    text.replace(/[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu, (c) => {
      const code = c.codePointAt(0).toString(16).toUpperCase().padStart(4, "0");
      return `‹U+${code}›`;
    });

  function short(text) {
    const shown = harmless(text);
    return shown.length <= LONG ? shown : `${shown.slice(0, LONG)}…`;
  }

  function named(text) {
    const shown = harmless(text);
    const head = make("bdi", { class: "name" }, short(text));
    if (shown.length <= LONG) return head;
    const body = make("bdi", { class: "name whole" }, shown);
    return make("details", { class: "long" }, make("summary", {}, head), body);
  }

  function figures(value) {
    if (Number.isSafeInteger(value)) {
      return Math.abs(value) < 10000 ? String(value) : value.toLocaleString("en-US");
    }
    const size = Math.abs(value);
    if (size >= 1e-4 && size < 1e4) return String(Number(value.toPrecision(4)));
    return value.toExponential(3).replace(/\.?0+e/, "e").replace(/e([+-])(\d)$/, "e$10$2");
  }

  // ---------------------------------------------------------------- downloads

  function download(name, type, content) {
    const blob = content instanceof Blob ? content : new Blob([content], { type });
    const address = URL.createObjectURL(blob);
    const link = make("a", { href: address, download: name, hidden: "" });
    document.body.append(link);
    link.click();
    link.remove();
    setTimeout(() => URL.revokeObjectURL(address), 60000);
  }

  // As `cell` of hardness/compare/store/export.py: no text is a formula.
  function csvCell(value) {
    if (value === null) return "";
    if (typeof value === "number") return String(value);
    const text = /^[=+\-@\t\r]/.test(value) ? `'${value}` : value;
    return /[",\n\r]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
  }

  const csv = (rows) => rows.map((row) => `${row.map(csvCell).join(",")}\n`).join("");

  async function unpack(packed) {
    const bytes = Uint8Array.from(atob(packed), (c) => c.charCodeAt(0));
    const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
    return JSON.parse(await new Response(stream).text());
  }

  // A picture of an SVG at three times its size, on white.
  function painted(svg) {
    return new Promise((resolve, reject) => {
      const image = new Image();
      const address = URL.createObjectURL(new Blob([svg], { type: "image/svg+xml" }));
      image.onload = () => {
        const canvas = make("canvas", { width: image.width * 3, height: image.height * 3 });
        const context = canvas.getContext("2d");
        context.fillStyle = "#ffffff";
        context.fillRect(0, 0, canvas.width, canvas.height);
        context.drawImage(image, 0, 0, canvas.width, canvas.height);
        URL.revokeObjectURL(address);
        canvas.toBlob((blob) => (blob ? resolve(blob) : reject(new Error("too large"))));
      };
      image.onerror = () => reject(new Error("the picture could not be drawn"));
      image.src = address;
    });
  }

  // ---------------------------------------------------------------- tables

  const order = new Intl.Collator("en", { numeric: true });

  // What has no value comes last, up or down; numbers come before texts.
  function compare(a, b, way) {
    if (a === null || b === null) return (a === null) - (b === null);
    if (typeof a === "number" && typeof b === "number") return way * (a - b);
    if (typeof a !== typeof b) return way * (typeof a === "number" ? -1 : 1);
    return way * order.compare(a, b);
  }

  // A table of rows {values, node()}: sorted by a column, filtered by words and by values.
  class Grid {
    constructor(root, header, rows, selects) {
      Object.assign(this, { root, header, rows, shown: STEP, column: -1, way: 1 });
      this.body = root.querySelector("tbody");
      this.heads = all("th", root);
      this.search = root.querySelector("input");
      this.count = root.querySelector(".count");
      this.more = root.querySelector(".more");
      this.sorted = rows;
      this.words = new Map();
      this.selects = selects.map((column) => this.select(column));
      this.heads.forEach((head, column) => {
        const label = head.textContent.trim();
        head.replaceChildren(button(label, () => this.sort(column)));
      });
      this.search.addEventListener("input", () => this.filter());
      this.next = button(`Show ${STEP} more`, () => this.show(this.shown + STEP));
      this.rest = button("Show all", () => this.show(this.found.length));
      this.more.append(this.next, this.rest);
      const save = button("CSV of these rows", () => this.save());
      root.querySelector(".controls").append(save);
      root.querySelector(".controls").hidden = false;
      this.filter();
    }

    select(column) {
      const values = [...new Set(this.rows.map((row) => row.values[column]))];
      values.sort((a, b) => compare(a, b, 1));
      const options = values.map((value, place) =>
        make("option", { value: String(place) }, value === null ? "–" : short(String(value))),
      );
      const element = make("select", {}, make("option", { value: "" }, "any"), ...options);
      const label = make("label", {}, short(this.header[column]), element);
      this.root.querySelector(".selects").append(label);
      element.addEventListener("input", () => this.filter());
      return { column, values, element };
    }

    sort(column) {
      this.way = this.column === column ? -this.way : 1;
      this.column = column;
      this.heads.forEach((head, place) => {
        if (place !== column) head.removeAttribute("aria-sort");
        else head.setAttribute("aria-sort", this.way > 0 ? "ascending" : "descending");
      });
      const by = (a, b) => compare(a.values[column], b.values[column], this.way);
      this.sorted = [...this.rows].sort(by);
      this.filter(false);
    }

    text(row) {
      if (!this.words.has(row)) this.words.set(row, row.values.join("\n").toLowerCase());
      return this.words.get(row);
    }

    filter(anew = true) {
      const words = this.search.value.toLowerCase().split(/\s+/).filter(Boolean);
      const wanted = this.selects
        .filter(({ element }) => element.value !== "")
        .map(({ column, values, element }) => [column, values[Number(element.value)]]);
      this.found = this.sorted.filter(
        (row) =>
          wanted.every(([column, value]) => row.values[column] === value) &&
          words.every((word) => this.text(row).includes(word)),
      );
      this.show(anew ? STEP : this.shown);
    }

    show(rows) {
      this.shown = Math.max(rows, STEP);
      const nodes = this.found.slice(0, this.shown).map((row) => row.node());
      this.body.replaceChildren(...nodes);
      const of = this.found.length === this.rows.length ? "" : ` of ${figures(this.rows.length)}`;
      const part = nodes.length < this.found.length ? `, ${figures(nodes.length)} shown` : "";
      const noun = this.rows.length === 1 ? "row" : "rows";
      this.count.textContent = `${figures(this.found.length)}${of} ${noun}${part}`;
      this.more.hidden = nodes.length >= this.found.length;
    }

    save() {
      const rows = [this.header, ...this.found.map((row) => row.values)];
      download(this.root.dataset.file, "text/csv", csv(rows));
    }
  }

  // A table that stands in the page whole: its rows are moved.
  function standing(root) {
    const number = /^-?\d[\d,]*(\.\d+)?(e[+-]?\d+)?$/;
    const read = (cell) => {
      const text = (cell.querySelector(".whole") || cell).textContent.trim();
      if (text === "–") return null;
      return cell.classList.contains("n") && number.test(text)
        ? Number(text.replaceAll(",", ""))
        : text;
    };
    const rows = all("tbody tr", root).map((row) => ({
      values: all("td", row).map(read),
      node: () => row,
    }));
    const header = all("th", root).map((head) => head.textContent.trim());
    return new Grid(root, header, rows, root.dataset.select.split(" ").map(Number));
  }

  // The table of all runs: made from the data, a row when it is first shown.
  function held(root, columns) {
    const values = columns.map((c) => (c.texts ? c.places.map((place) => c.texts[place]) : c.values));
    const right = all("th", root).map((head) => head.classList.contains("n"));
    const cell = (value, column) => {
      const content = value === null ? "–" : typeof value === "number" ? figures(value) : named(value);
      return make("td", right[column] ? { class: "n" } : {}, content);
    };
    const rows = Array.from({ length: values[0].length }, (_, place) => {
      const row = { values: values.map((column) => column[place]) };
      row.node = () => (row.made ??= make("tr", {}, ...row.values.map(cell)));
      return row;
    });
    const few = (c) => c.texts && c.texts.length > 1 && c.texts.length <= 200;
    const selects = ["family", "spec", "problem", "learner", "budget", "outcome"].flatMap((name) => {
      const column = columns.findIndex((c) => c.name === name);
      return column >= 0 && few(columns[column]) ? [column] : [];
    });
    const header = columns.map((c) => c.name);
    return new Grid(root, header, rows, selects);
  }

  // ---------------------------------------------------------------- figures

  // The marks of one pair of axes: the nearest one is read by pointer, each one by arrow keys.
  class Panel {
    constructor(element, told, chart, place) {
      Object.assign(this, { element, told, chart });
      this.svg = element.querySelector("svg");
      this.hidden = new Set();
      const points = chart.told.plane?.points[place] ?? told.points;
      if (!points.length) return;
      this.tip = make("div", { class: "tip", hidden: "" });
      this.cursor = document.createElementNS(SVG, "circle");
      this.cursor.setAttribute("class", "cursor");
      this.cursor.setAttribute("r", "5.5");
      element.append(this.tip);
      this.points = points
        .map(([series, x, y, text]) => ({ series, x, y, text }))
        .sort((a, b) => a.series - b.series || a.x - b.x || b.y - a.y);
      element.setAttribute("tabindex", "0");
      element.setAttribute("role", "application");
      element.setAttribute("aria-roledescription", "figure, read by arrow keys");
      element.addEventListener("pointermove", (event) => this.point(event));
      element.addEventListener("pointerdown", (event) => this.point(event));
      element.addEventListener("pointerleave", () => this.leave());
      element.addEventListener("keydown", (event) => this.key(event));
      element.addEventListener("blur", () => this.leave());
    }

    visible() {
      return this.points.filter((point) => !this.hidden.has(point.series));
    }

    scale() {
      return this.svg.getBoundingClientRect().width / this.svg.viewBox.baseVal.width;
    }

    point(event) {
      const box = this.svg.getBoundingClientRect();
      const scale = this.scale();
      const [x, y] = [(event.clientX - box.left) / scale, (event.clientY - box.top) / scale];
      let [best, least] = [null, NEAR / scale];
      for (const point of this.visible()) {
        const far = Math.hypot(point.x - x, point.y - y);
        if (far < least) [best, least] = [point, far];
      }
      if (best) this.show(best, false);
      else this.leave();
    }

    key(event) {
      const points = this.visible();
      const last = points.length - 1;
      if (last < 0) return;
      const here = points.indexOf(this.current);
      const series = here < 0 ? -1 : points[here].series;
      const nearest = (way) => {
        const other = points.filter((p) => way * (p.series - series) > 0);
        const next = other.length && (way > 0 ? other[0] : other[other.length - 1]).series;
        const far = (p) => Math.abs(p.x - points[here].x);
        const of = other.filter((p) => p.series === next);
        return of.reduce((a, b) => (far(b) < far(a) ? b : a), of[0] ?? points[here]);
      };
      const moves = new Map([
        ["ArrowRight", () => points[Math.min(here + 1, last)]],
        ["ArrowLeft", () => points[Math.max(here - 1, 0)]],
        ["ArrowDown", () => (here < 0 ? points[0] : nearest(1))],
        ["ArrowUp", () => (here < 0 ? points[0] : nearest(-1))],
        ["Home", () => points[0]],
        ["End", () => points[last]],
      ]);
      if (event.key === "Escape") this.leave();
      if (!moves.has(event.key)) return;
      event.preventDefault();
      this.show(moves.get(event.key)(), true);
    }

    show(point, aloud) {
      this.current = point;
      this.cursor.setAttribute("cx", point.x);
      this.cursor.setAttribute("cy", point.y);
      this.svg.append(this.cursor);
      this.tip.textContent = point.text;
      this.tip.hidden = false;
      const [scale, box] = [this.scale(), this.element.getBoundingClientRect()];
      const svg = this.svg.getBoundingClientRect();
      const left = svg.left - box.left + point.x * scale - this.tip.offsetWidth / 2;
      const room = box.width - this.tip.offsetWidth;
      const above = svg.top - box.top + point.y * scale - this.tip.offsetHeight - 12;
      this.tip.style.left = `${Math.max(0, Math.min(left, room))}px`;
      this.tip.style.top = `${above < -20 ? above + this.tip.offsetHeight + 26 : above}px`;
      if (aloud) this.chart.reading.textContent = point.text;
    }

    leave() {
      this.current = null;
      this.cursor.remove();
      this.tip.hidden = true;
    }

    toggle(series, on) {
      if (on) this.hidden.delete(series);
      else this.hidden.add(series);
      for (const group of all(`.series[data-series="${series}"]`, this.svg)) {
        group.classList.toggle("off", !on);
      }
    }
  }

  class Chart {
    constructor(told) {
      this.told = told;
      this.figure = document.getElementById(`figure-${told.key}`);
      this.reading = this.figure.querySelector(".reading");
      const elements = all(".panel", this.figure);
      this.panels = elements.map((element, place) => new Panel(element, told.panels[place], this, place));
      this.toggles();
      this.downloads();
      if (told.plane) this.budget(told.plane);
    }

    toggles() {
      const legend = this.figure.querySelector(".legend");
      if (!legend) return;
      legend.classList.add("toggles");
      all("li", legend).forEach((item, place) => { // in the order of the series
        const toggle = button("", () => {
          const on = toggle.getAttribute("aria-pressed") !== "true";
          toggle.setAttribute("aria-pressed", String(on));
          this.panels.forEach((panel) => panel.toggle(place, on));
        });
        toggle.setAttribute("aria-pressed", "true");
        toggle.append(...item.childNodes);
        item.append(toggle);
      });
    }

    // What is certified infeasible, at another budget of queries than that of the figure.
    budget(plane) {
      const input = make("input", { inputmode: "numeric", size: "14", value: plane.budget });
      const say = make("span", { class: "count", role: "status" });
      const label = make("label", {}, "Budget of queries", input);
      this.figure.querySelector(".panels").before(make("p", { class: "budget" }, label, " ", say));
      const known = plane.certified.flat().filter((value) => value !== null).map(BigInt);
      label.parentElement.hidden = !known.length;
      const own = () => all(`.series[data-series="${plane.series}"]`, this.figure);
      const told = (budget) => {
        const number = known.filter((value) => value > budget).length;
        const verb = known.length === 1 ? "problem needs" : "problems need";
        say.textContent = `${number} of ${known.length} ${verb} more, certified`;
      };
      told(BigInt(plane.budget));
      input.addEventListener("input", () => {
        const text = input.value.replace(/[\s,_]/g, "").replace(/^(\d+)e(\d{1,3})$/i, (_, a, b) => a + "0".repeat(b));
        const valid = /^\d+$/.test(text);
        input.setAttribute("aria-invalid", String(!valid));
        if (!valid) {
          say.textContent = "a whole number, as 1000000 or 1e6";
          return;
        }
        const budget = BigInt(text);
        for (const group of own()) group.remove();
        this.panels.forEach((panel, place) => this.mark(panel.svg, plane, place, budget));
        told(budget);
      });
    }

    // Hatch the cells above the budget, or draw the edge of their region, dashed.
    mark(svg, plane, place, budget) {
      const frame = plane.frames[place] ?? [];
      if (!frame.length) return;
      const [left, top, width, height] = frame;
      const [rows, columns] = [plane.certified.length, plane.certified[0].length];
      const [w, h] = [width / columns, height / rows];
      const above = (i, j) => plane.certified[i]?.[j] != null && BigInt(plane.certified[i][j]) > budget;
      const inside = (i, j) => i >= 0 && i < rows && j >= 0 && j < columns;
      let path = "";
      for (let i = 0; i < rows; i += 1) {
        for (let j = 0; j < columns; j += 1) {
          if (!above(i, j)) continue;
          const [x, y] = [left + j * w, top + height - (i + 1) * h];
          if (plane.hatched[place]) {
            for (const part of [0.3, 0.6]) { // beside the number in the middle
              path += `M${x} ${y + part * h}L${x + part * w} ${y}`;
              path += `M${x + part * w} ${y + h}L${x + w} ${y + part * h}`;
            }
            continue;
          }
          const sides = [
            [0, 1, `M${x + w} ${y}v${h}`],
            [0, -1, `M${x} ${y}v${h}`],
            [1, 0, `M${x} ${y}h${w}`],
            [-1, 0, `M${x} ${y + h}h${w}`],
          ];
          for (const [di, dj, side] of sides) {
            if (inside(i + di, j + dj) && !above(i + di, j + dj)) path += side;
          }
        }
      }
      for (const kind of ["halo", plane.hatched[place] ? "bound" : "bound edge"]) {
        const drawn = document.createElementNS(SVG, "path");
        drawn.setAttribute("d", path);
        drawn.setAttribute("class", `series ${kind}`);
        drawn.setAttribute("data-series", plane.series);
        drawn.classList.toggle("off", this.panels[place].hidden.has(plane.series));
        svg.append(drawn);
      }
    }

    downloads() {
      const place = this.figure.querySelector(".downloads");
      const { key, packed } = this.told;
      const say = make("span", { role: "status" });
      const offer = (label, act) =>
        button(label, async () => {
          say.textContent = "";
          try {
            await act(await (this.content ??= unpack(packed)));
          } catch (error) {
            say.textContent = `Not possible in this browser: ${error.message}`;
          }
        });
      const svg = (files) => download(`${key}.svg`, "image/svg+xml", files.svg);
      const png = async (files) => download(`${key}.png`, "", await painted(files.svg));
      const table = (files) => download(`${key}.csv`, "text/csv", files.csv);
      const buttons = [offer("SVG", svg), offer("PNG", png), offer("CSV", table)];
      place.append("Download ", ...buttons, say);
      place.hidden = false;
    }
  }

  // Of several charts of a section one is shown at a time.
  function choose(section) {
    const chooser = section.querySelector(".chooser");
    if (!chooser) return;
    const select = chooser.querySelector("select");
    const charts = all("figure.chart", section);
    const show = () => {
      for (const chart of charts) chart.hidden = chart.dataset.key !== select.value;
    };
    select.addEventListener("input", show);
    chooser.hidden = false;
    show();
  }

  // ---------------------------------------------------------------- the page

  function theme() {
    const dark = matchMedia("(prefers-color-scheme: dark)");
    const toggle = button("", () => set(scheme() === "dark" ? "light" : "dark"));
    const scheme = () => document.documentElement.style.colorScheme || (dark.matches ? "dark" : "light");
    const label = () => {
      toggle.textContent = scheme() === "dark" ? "Light page" : "Dark page";
    };
    const set = (name) => {
      document.documentElement.style.colorScheme = name;
      label();
    };
    toggle.className = "theme";
    dark.addEventListener("change", label);
    label();
    document.body.prepend(toggle);
    document.body.prepend(document.querySelector(".skip"));
  }

  function copies() {
    for (const command of all(".command")) {
      const copy = button("Copy", async () => {
        const code = command.querySelector("code");
        const text = (code.querySelector(".whole") || code).textContent;
        try {
          await navigator.clipboard.writeText(text);
          copy.textContent = "Copied";
        } catch {
          getSelection().selectAllChildren(code); // for the reader's own keys, where pages may not
          copy.textContent = "Selected";
        }
        setTimeout(() => (copy.textContent = "Copy"), 2000);
      });
      command.append(copy);
    }
  }

  // Each part stands alone: what one browser lacks takes no other part with it.
  const parts = [
    theme,
    copies,
    ...data.charts.map((told) => () => new Chart(told)),
    ...all(".charts").map((section) => () => choose(section)),
    ...all('[data-grid="learners"]').map((root) => () => standing(root)),
    ...all('[data-grid="runs"]').map((root) => () => held(root, data.runs)),
  ];
  for (const part of parts) {
    try {
      part();
    } catch (error) {
      console.error(error);
    }
  }
  performance.mark("interactive");
})();
