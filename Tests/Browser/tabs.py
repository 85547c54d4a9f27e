"""What the tests need of each browser beyond WebDriver."""

import os
import signal

from selenium.webdriver.remote.webelement import WebElement

TIMEOUT = 30  # seconds, for a browser to start, to end, or to change
COMMAND_TIMEOUT = 150  # seconds, for its response to a command; longer than each script runs


# Whether a person can see an element.
IS_VISIBLE = """(element) => {
  const { width, height } = element.getBoundingClientRect();
  return width > 0 && height > 0 && element.checkVisibility({ visibilityProperty: true, opacityProperty: true });
}"""


class Element(WebElement):
    def is_displayed(self):
        """In place of Selenium's script of 50 kB, which takes longer than the page needs to respond."""
        return self.parent.execute_script(f"return ({IS_VISIBLE})(arguments[0])", self)


class Tabs:
    """A part of each driver. A driver also has

    - `show(size, dark)`, which changes the current tab,
    - `errors()`, the errors that the console has received since the last call,
    - `freeze()`, which suspends the current tab, and returns a function that lets it continue and switches to it, and
    - `set_online(is_online)`, which returns whether the browser can emulate that the current tab has no network.
    """

    _web_element_cls = Element

    def prefer(self, dark, motion):
        """Sets what the tabs that are opened from now on prefer: a dark theme, and pages that may move."""
        self._dark = dark
        self._motion = motion

    def open_tab(self, size):
        """Opens an empty tab of this size, without history, in place of all others."""
        old = self.window_handles
        self.switch_to.new_window("tab")
        new = self.current_window_handle
        for each in old:
            self.switch_to.window(each)
            self.close()
        self.switch_to.window(new)
        self.show(size, self._dark)
        self.errors()

    def stop_process(self, process):
        """Suspends the current tab, whose process this is, as a device does that suspends its browser."""
        tab = self.current_window_handle
        os.kill(process, signal.SIGSTOP)

        def thaw():
            os.kill(process, signal.SIGCONT)
            self.switch_to.window(tab)

        return thaw
