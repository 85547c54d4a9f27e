"""A test case with the demo open in headless Chromium, in a session of its own."""

import os
import unittest
from pathlib import Path

from selenium import webdriver
from selenium.webdriver.chrome.service import Service

from demo_server import DemoServer
from phone import Phone

SCREENSHOTS = Path(
    os.environ.get("SCREENSHOTS", Path(__file__).resolve().parents[2] / "screenshots")
)


def make_browser(motion):
    options = webdriver.ChromeOptions()
    options.add_argument("--headless=new")
    options.add_argument("--no-sandbox")
    options.add_argument("--disable-dev-shm-usage")
    if not motion:
        options.add_argument("--force-prefers-reduced-motion")
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    return webdriver.Chrome(service=Service("/usr/bin/chromedriver"), options=options)


class DemoCase(unittest.TestCase):
    size = (1280, 800)
    dark = False
    motion = False  # so that nothing moves under the pointer
    server_ends = False  # whether a test ends the server, so that connecting to it fails

    @classmethod
    def setUpClass(cls):
        cls.server = DemoServer()
        cls.addClassCleanup(cls.server.stop)
        cls.driver = make_browser(cls.motion)
        cls.addClassCleanup(cls.driver.quit)

    def setUp(self):
        self.phone = Phone(self.driver)
        self.show(self.size, self.dark)
        # Each test starts in a tab without history.
        old = self.driver.current_window_handle
        self.driver.switch_to.new_window("tab")
        new = self.driver.current_window_handle
        self.driver.switch_to.window(old)
        self.driver.close()
        self.driver.switch_to.window(new)
        self.show(self.size, self.dark)
        self.driver.get_log("browser")
        self.open_demo()

    def tearDown(self):
        self.driver.switch_to.default_content()
        errors = [entry for entry in self.driver.get_log("browser") if entry["level"] == "SEVERE"]
        if self.server_ends:
            errors = [entry for entry in errors if "ERR_CONNECTION_" not in entry["message"]]
        self.assertEqual(errors, [], "the browser's console has errors")

    def show(self, size, dark):
        width, height = size
        self.driver.execute_cdp_cmd(
            "Emulation.setDeviceMetricsOverride",
            {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False},
        )
        features = [{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}]
        self.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": features})

    def open_demo(self):
        self.driver.get(f"{self.server.address}/demo/")
        self.phone.surface("native://home")
        self.phone.wait(
            lambda: self.driver.execute_script(
                "return document.getElementById('engine').dataset.state"
            )
            == "connected",
            "the Flutter view",
        )

    def open_shop(self):
        self.phone.press("native://home", "Outfitters")
        self.phone.surface("shop.html")

    def screenshot(self, name):
        SCREENSHOTS.mkdir(parents=True, exist_ok=True)
        self.driver.save_screenshot(str(SCREENSHOTS / f"{name}.png"))
