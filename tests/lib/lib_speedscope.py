# SPDX-License-Identifier: MIT
"""Opens files in speedscope itself, in a headless Chromium: what it shows and
says, and what it understood, which it tells by exporting it again."""

from selenium.webdriver.common.by import By

from lib_browser import Page
from lib_npm import package

# What it wants to show in a dialogue or to download.
_CATCH = """
window.alert = (text) => { window.cstraceAlert = text; };
const make = URL.createObjectURL.bind(URL);
URL.createObjectURL = (blob) => { window.cstraceBlob = blob; return make(blob); };
"""

_EXPORT = """
const done = arguments[0];
const button = [...document.querySelectorAll('div')].find(
  (e) => e.childElementCount === 1 && e.textContent.endsWith('Export'));
button.click();
window.cstraceBlob.text().then(done);
"""

# A profile's toolbar, a dialogue, or the page that says what went wrong.
_IS_DONE = """window.cstraceAlert || (document.body.innerText.includes('Export')
  && !document.body.innerText.includes('Loading'))
  || document.body.innerText.includes('went wrong')"""


class Refused(Exception):
    """What speedscope says of a file."""


class Speedscope:
    """The app in the browser."""

    def __init__(self, driver):
        self._page = Page(driver)
        self._app = (package("speedscope") / "dist" / "release"
                     / "index.html").as_uri()
        driver.execute_cdp_cmd("Page.addScriptToEvaluateOnNewDocument",
                               {"source": _CATCH})

    def _complaints(self):
        """Not of what draws."""
        return [e["message"] for e in self._page.driver.get_log("browser")
                if e["source"] != "rendering"
                and e["level"] not in ("INFO", "DEBUG")]

    def _told(self):
        return self._page.run("window.cstraceAlert || document.body.innerText")

    def open(self, path):
        """(the first profile's title, what speedscope exports as bytes)."""
        driver = self._page.driver
        driver.get(self._app)
        self._page.wait("document.querySelector('input[type=file]')")
        driver.find_element(By.CSS_SELECTOR, "input[type=file]").send_keys(
            str(path))
        self._page.wait(_IS_DONE)
        text = self._told()
        if "Export" not in text:
            raise Refused("; ".join([text, *self._complaints()]))
        exported = driver.execute_async_script(_EXPORT)
        complaints = self._complaints()
        if complaints:
            raise Refused("; ".join(complaints))
        return text.splitlines()[1], exported.encode()
