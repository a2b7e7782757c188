# SPDX-License-Identifier: MIT
"""Opens pages in a headless Chromium, and sees to it that they neither
complain nor ask the network for anything."""

import importlib.util
import json
import shutil

import pytest

from lib_build import BUILD

LIMIT_S = 120

# The page itself, what is in it, and the browser's first, empty tab.
_OWN = ("file://", "data:", "chrome://", "about:")

_ARGUMENTS = ["--headless=new", "--no-sandbox", "--disable-gpu",
              "--no-first-run", "--disable-background-networking",
              "--disable-component-update", "--disable-sync",
              "--disable-quic", "--window-size=1200,800",
              # In containers /dev/shm is often too small for it.
              "--disable-dev-shm-usage"]


def needs():
    """What is missing for a test of the page, or None."""
    for program in ("chromium", "chromedriver"):
        if not shutil.which(program):
            return "%s is not installed" % program
    if not importlib.util.find_spec("selenium"):
        return "python3-selenium is not installed"
    if not (BUILD / "page.html").exists():
        return "the page was not built: `make page` says why"
    return None


def start(profile):
    """A browser whose profile is this new folder."""
    from selenium import webdriver
    from selenium.webdriver.chrome.service import Service

    options = webdriver.ChromeOptions()
    options.binary_location = shutil.which("chromium")
    for argument in [*_ARGUMENTS, "--user-data-dir=%s" % profile]:
        options.add_argument(argument)
    options.set_capability("goog:loggingPrefs",
                           {"browser": "ALL", "performance": "ALL"})
    driver = webdriver.Chrome(service=Service(shutil.which("chromedriver")),
                              options=options)
    driver.set_script_timeout(LIMIT_S)
    return driver


def _asked_for(driver):
    for entry in driver.get_log("performance"):
        message = json.loads(entry["message"])["message"]
        if message["method"] == "Network.requestWillBeSent":
            yield message["params"]["request"]["url"]


class Page:
    """A saved page in the browser."""

    def __init__(self, driver):
        self.driver = driver

    def open(self, path, until="document.documentElement.dataset.ready"):
        self.driver.get("file://%s" % path)
        self.wait(until)
        return self

    def open_link(self, link):
        """Anew, not from the page that is there."""
        self.driver.get("about:blank")
        self.driver.get(link)
        self.wait("document.documentElement.dataset.ready")
        return self

    def scheme(self, scheme):
        """What the user's system prefers: light or dark."""
        self.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {
            "features": [{"name": "prefers-color-scheme", "value": scheme}]})

    def run(self, script, *args):
        return self.driver.execute_script("return " + script, *args)

    def wait(self, script):
        from selenium.webdriver.support.ui import WebDriverWait

        WebDriverWait(self.driver, LIMIT_S, poll_frequency=0.02).until(
            lambda _: self.run(script), script)

    def find(self, selector):
        from selenium.webdriver.common.by import By

        return self.driver.find_element(By.CSS_SELECTOR, selector)

    def text(self, selector):
        return self.run("document.querySelector(arguments[0]).textContent",
                        selector)

    def settle(self):
        """Until what is to be drawn is drawn: a frame may ask for the next,
        and only what is drawn is found by the mouse."""
        self.run("""new Promise((done) => {
          let n = 4;
          const next = () => (n-- ? requestAnimationFrame(next) : done(true));
          next();
        })""")

    def click(self, selector):
        """Where the first of them is now: it may be drawn anew at any moment."""
        self.settle()
        self.point(*self.run("""(({ left, top, width, height }) =>
          [left + width / 2, top + height / 2])(
            document.querySelector(arguments[0]).getBoundingClientRect())""",
                             selector), click=True)

    def resize(self, width):
        """The window, and the page in it."""
        self.driver.set_window_size(width, 800)
        self.wait("innerWidth === %d" % width)
        self.settle()

    def press(self, *keys):
        from selenium.webdriver.common.action_chains import ActionChains

        ActionChains(self.driver).send_keys(*keys).perform()

    def point(self, x, y, click=False):
        """Move the mouse there, in the window."""
        from selenium.webdriver.common.action_chains import ActionChains
        from selenium.webdriver.common.actions.action_builder import \
            ActionBuilder

        actions = ActionBuilder(self.driver)
        actions.pointer_action.move_to_location(round(x), round(y))
        actions.perform()
        if click:
            ActionChains(self.driver).click().perform()

    def touch(self, *steps):
        """Fingers at these places, a list for each moment, then none."""
        kinds = ["touchStart"] + ["touchMove"] * (len(steps) - 1)
        for kind, places in [*zip(kinds, steps), ("touchEnd", [])]:
            self.driver.execute_cdp_cmd("Input.dispatchTouchEvent", {
                "type": kind, "touchPoints": [
                    {"x": x, "y": y, "id": i}
                    for i, (x, y) in enumerate(places)]})
        self.settle()

    def view(self, key, name):
        """One of the four, by its key."""
        self.press(key)
        self.wait("cstrace.name === '%s'" % name)

    def check(self):
        """Call it behind each test."""
        complaints = [entry["message"]
                      for entry in self.driver.get_log("browser")]
        asked = [url for url in _asked_for(self.driver)
                 if not url.startswith(_OWN)]
        assert (complaints, asked) == ([], []), (complaints, asked)


def skip_unless_possible():
    missing = needs()
    if missing:
        pytest.skip(missing, allow_module_level=True)


def call_of(page, function):
    """The longest call of a function, named without what it belongs to."""
    return page.run("""((own) => {
      const { names, trace: { calls } } = cstrace;
      let best = -1;
      for (let i = 0; i < calls.n; i++) {
        if (names.own(names.functionOf(i)).split('(')[0] !== own) continue;
        if (best < 0 || calls.duration[i] > calls.duration[best]) best = i;
      }
      return best;
    })(arguments[0])""", function)


def hash_of(page):
    return page.run("Object.fromEntries(new URLSearchParams("
                    "location.hash.slice(1)))")


# The first and last time that the chart shows.
WIDTHS = [500, 1200, 1600]  # of windows
CHART_VIEW = "cstrace.views.chart.view()"
