"""The report of five thousand runs: its size, the time to make it, and to open and use it.

Prints markdown. Needs the extra `browser` and Chromium with its driver for what a reader waits for.
"""

import os
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from timing import hardness

from tests.browser import Browser

INTRODUCTION = f"""# The report of five thousand runs

Printed by `make report-tables`: real runs of a sweep made for it, {os.cpu_count()} processors,
headless Chromium. *Interactive* is from the start of loading to the end of the page's script;
sorting and filtering, of all runs, from the press to the end of the layout that follows.
"""
SWEEP = """
format = "hardness-sweep/1"
name = "five thousand cheap runs"
seeds = 9
[budget]
examples = 200_000
seconds = 10
[[runs]]
spec = ["parity:m=2", "parity:m=3"]
over = { d = "8..17", noise = ["0", "0.05"] }
learners = ["queries", "elimination", "restricted", "bruteforce", "trivial",
  { learner = "lowdegree", over = { degree = [2, 3] } }]
budget = { examples = [1000, 4000] }
"""
REPEATS = 5

# Of a press or a letter, to the end of the layout that follows.
USE = """
const [what, selector, value] = arguments;
const element = document.querySelector(selector);
element.closest("details").open = true;
document.body.offsetHeight;
const begun = performance.now();
if (what === "press") element.click();
else { element.value = value; element.dispatchEvent(new Event("input")); }
document.body.offsetHeight;
return performance.now() - begun;
"""
OPENED = """
const [page] = performance.getEntriesByType("navigation");
return [page.domContentLoadedEventEnd, performance.getEntriesByName("interactive")[0].startTime];
"""


def main() -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        file, db, out = (folder / name for name in ("runs.toml", "runs.db", "report.html"))
        file.write_text(SWEEP)
        hardness("sweep", "run", file, "--store", db, "--quiet")
        begun, cpu = time.monotonic(), sum(os.times()[:4])
        hardness("report", db, "--out", out, "--json")
        took, cpu = time.monotonic() - begun, sum(os.times()[:4]) - cpu
        html = out.read_text(encoding="utf-8")
        browser = Browser(folder)
        try:
            browser.size(1400)
            rows = [*opening(browser, html), *using(browser)]
        finally:
            browser.driver.quit()
    print(f"{INTRODUCTION}\n| the report of 5040 runs | |\n|---|---:|")
    print(f"| size | {len(html.encode()) / 1e6:.1f} MB |")
    print(f"| made in | {took:.1f} s |")
    print(f"| of processors, all processes | {cpu:.1f} s |")
    for said, milliseconds in rows:
        print(f"| {said} | {milliseconds / 1e3:.2f} s |")


def opening(browser: Browser, html: str) -> list[tuple[str, float]]:
    times = []
    for i in range(REPEATS):
        browser.open(f"report-{i}", html)
        times.append(browser.js(OPENED))
    parsed, ready = map(sorted, zip(*times, strict=True))
    middle = REPEATS // 2
    return [
        ("DOMContentLoaded, median of 5", parsed[middle]),
        ("interactive, median of 5", ready[middle]),
        ("interactive, worst of 5", ready[-1]),
    ]


def using(browser: Browser) -> list[tuple[str, float]]:
    head = "[data-grid=runs] th:nth-child({}) button"
    box = "[data-grid=runs] input"
    acts = [
        ("sort all runs by text", ("press", head.format(1), "")),
        ("sort all runs by number", ("press", head.format(7), "")),
        ("filter all runs, first letters", ("type", box, "solv")),
        ("filter all runs, more", ("type", box, "solved d=12")),
    ]
    return [(said, browser.js(USE, *act)) for said, act in acts]


if __name__ == "__main__":
    main()
