"""The browser in which the tests run: the environment's BROWSER is chromium, firefox or webkit."""

import atexit
import os
import unittest

from selenium.common.exceptions import WebDriverException
from urllib3.exceptions import HTTPError

from chromium import Chromium
from firefox import Firefox
from webkit import WebKit

BROWSERS = {"chromium": Chromium, "firefox": Firefox, "webkit": WebKit}
NAME = os.environ.get("BROWSER", "chromium")

_driver = None


def shared_browser():
    """Returns the driver of the browser that all tests of this process share. Starts another one if the last one has ended."""
    global _driver
    if _driver is not None:
        try:
            _driver.window_handles
        except (WebDriverException, HTTPError, OSError):
            quit_browser()
    if _driver is None:
        _driver = BROWSERS[NAME]()
    return _driver


@atexit.register
def quit_browser():
    global _driver
    driver, _driver = _driver, None
    if driver is not None:
        driver.quit()


class BrowserCase(unittest.TestCase):
    """A test case with an empty tab."""

    size = (1280, 800)
    dark = False
    motion = False  # without motion, nothing moves under the pointer

    def setUp(self):
        self.driver = shared_browser()
        self.driver.prefer(self.dark, self.motion)
        self.driver.open_tab(self.size)
