"""Headless Chromium with what tests of a page ask of it."""

import shutil
import time
from pathlib import Path

CHROMIUM, DRIVER = shutil.which("chromium"), shutil.which("chromedriver")
FLAGS = (
    "--headless=new",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--disable-dev-shm-usage",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--hide-scrollbars",
)


class Browser:
    """Chromium with what these tests ask of it: pages, sizes, themes, numbers from a script."""

    def __init__(self, folder: Path) -> None:
        from selenium import webdriver

        options = webdriver.ChromeOptions()
        options.binary_location = CHROMIUM
        for flag in (*FLAGS, f"--user-data-dir={folder / 'profile'}"):
            options.add_argument(flag)
        options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
        service = webdriver.ChromeService(executable_path=DRIVER)
        self.driver = webdriver.Chrome(options=options, service=service)
        self.folder = folder
        self.saved = folder / "saved"
        self.saved.mkdir()
        self.cdp("Browser.setDownloadBehavior", behavior="allow", downloadPath=str(self.saved))

    def cdp(self, command, **arguments):
        return self.driver.execute_cdp_cmd(command, arguments)

    def js(self, script, *arguments):
        return self.driver.execute_script(script, *arguments)

    def open(self, name, html):
        path = self.folder / f"{name}.html"
        path.write_text(html, encoding="utf-8")
        self.driver.get(path.as_uri())
        return self

    def size(self, width, height=900):
        self.cdp(
            "Emulation.setDeviceMetricsOverride",
            width=width,
            height=height,
            deviceScaleFactor=1,
            mobile=width < 500,
        )

    def errors(self):
        return [line["message"] for line in self.driver.get_log("browser")]

    def press(self, selector, text):
        """Click the button with a text within a part of the page."""
        self.js(
            "[...document.querySelectorAll(arguments[0] + ' button')]"
            ".find((b) => b.textContent.trim() === arguments[1]).click()",
            selector,
            text,
        )

    def type(self, selector, text):
        self.js(
            "const e = document.querySelector(arguments[0]); e.value = arguments[1];"
            "e.dispatchEvent(new Event('input'))",
            selector,
            text,
        )

    def column(self, grid, name):
        """The texts of a column of the rows that are shown."""
        return self.js(
            "const grid = document.querySelector(`[data-grid=${arguments[0]}]`);"
            "const heads = [...grid.querySelectorAll('th')].map((one) => one.textContent.trim());"
            "const place = heads.indexOf(arguments[1]);"
            "return [...grid.querySelectorAll('tbody tr')].map("
            "(row) => row.cells[place].textContent.trim())",
            grid,
            name,
        )

    def drawn(self):
        """Have the charts that are shown drawn by the page's script, and wait for them."""
        for _ in range(100):
            left = self.js(
                "const left = [...document.querySelectorAll('figure.chart:not([hidden])')]"
                ".filter((f) => !f.dataset.drawn); left[0]?.scrollIntoView(); return left.length"
            )
            if not left:
                return
            time.sleep(0.1)
        raise AssertionError(f"{left} charts are not drawn: {self.errors()}")

    def settled(self):
        """Wait for what follows an event: Vega draws when it is done."""
        time.sleep(0.3)

    def saved_file(self, name):
        path = self.saved / name
        for _ in range(200):
            if path.exists() and path.stat().st_size:
                break
            time.sleep(0.05)
        content = path.read_bytes()
        path.unlink()
        return content
