"""Headless Chromium with its own driver."""

from selenium import webdriver
from selenium.webdriver.chrome.service import Service

from tabs import Tabs


class Chromium(Tabs, webdriver.Chrome):
    def __init__(self, dark=False, motion=False):
        self.prefer(dark, motion)
        options = webdriver.ChromeOptions()
        options.add_argument("--headless=new")
        options.add_argument("--no-sandbox")
        options.add_argument("--disable-dev-shm-usage")
        options.accept_insecure_certs = True
        options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
        super().__init__(service=Service("/usr/bin/chromedriver"), options=options)

    def show(self, size, dark):
        width, height = size
        self.execute_cdp_cmd(
            "Emulation.setDeviceMetricsOverride",
            {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False},
        )
        features = {"prefers-color-scheme": "dark" if dark else "light", "prefers-reduced-motion": "" if self._motion else "reduce"}
        self.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [{"name": name, "value": value} for name, value in features.items()]})

    def errors(self):
        return [entry["message"] for entry in self.get_log("browser") if entry["level"] == "SEVERE"]

    def freeze(self):
        tab = self.current_window_handle
        self.execute_cdp_cmd("Page.setWebLifecycleState", {"state": "frozen"})

        def thaw():
            self.switch_to.window(tab)
            self.execute_cdp_cmd("Page.setWebLifecycleState", {"state": "active"})

        return thaw

    def set_online(self, is_online):
        self.execute_cdp_cmd("Network.enable", {})
        conditions = {"offline": not is_online, "latency": 0, "downloadThroughput": -1, "uploadThroughput": -1}
        self.execute_cdp_cmd("Network.emulateNetworkConditions", conditions)
        return True
