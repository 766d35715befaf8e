// Figures: values by pointer and keys, series that toggle, a budget that moves what is infeasible.

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
