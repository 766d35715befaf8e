// Tables that sort, filter and grow.

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
