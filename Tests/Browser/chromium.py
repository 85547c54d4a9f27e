"""Headless Chromium, driven by its own driver."""

from selenium import webdriver
from selenium.webdriver.chrome.service import Service


class Chromium(webdriver.Chrome):
    def __init__(self, dark, motion):
        options = webdriver.ChromeOptions()
        options.add_argument("--headless=new")
        options.add_argument("--no-sandbox")
        options.add_argument("--disable-dev-shm-usage")
        if not motion:
            options.add_argument("--force-prefers-reduced-motion")
        options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
        self._dark = dark
        super().__init__(service=Service("/usr/bin/chromedriver"), options=options)

    def start_anew(self, size):
        """An empty tab of this size, without history, in place of the one that was open."""
        old = self.current_window_handle
        self.switch_to.new_window("tab")
        new = self.current_window_handle
        self.switch_to.window(old)
        self.close()
        self.switch_to.window(new)
        self.show(size, self._dark)
        self.errors()

    def show(self, size, dark):
        width, height = size
        self.execute_cdp_cmd(
            "Emulation.setDeviceMetricsOverride",
            {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False},
        )
        features = [{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}]
        self.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": features})

    def errors(self):
        """The errors that the console has got since the last time."""
        return [entry["message"] for entry in self.get_log("browser") if entry["level"] == "SEVERE"]
