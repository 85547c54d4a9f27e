"""Chromium's headless shell, driven by Chromium's driver. It has no windows, which cost a third of the processor time of the tests."""

import tempfile

from selenium import webdriver
from selenium.webdriver.chrome.service import Service

from tabs import Tabs

# The program itself: the script on the path does not pass on the signal that ends it.
PROGRAM = "/usr/lib/chromium/chromium-headless-shell"


class Chromium(Tabs, webdriver.Chrome):
    """`features` are names of features that are off by default."""

    def __init__(self, dark=False, motion=False, features=()):
        self.prefer(dark, motion)
        # Without a folder of its own, the shell writes downloads to the current one.
        self._downloads = tempfile.TemporaryDirectory()
        options = webdriver.ChromeOptions()
        options.binary_location = PROGRAM
        options.add_argument("--no-sandbox")
        options.add_argument("--disable-dev-shm-usage")
        if features:
            options.add_argument(f"--enable-features={','.join(features)}")
        options.accept_insecure_certs = True
        options.add_experimental_option("prefs", {"download.default_directory": self._downloads.name})
        options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
        super().__init__(service=Service("/usr/bin/chromedriver"), options=options)

    def quit(self):
        super().quit()
        self._downloads.cleanup()

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
