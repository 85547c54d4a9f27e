"""A test case with the demo open in a headless browser, in a session of its own."""

from browser import BrowserCase, save_screenshot
from demo_server import DemoServer
from phone import Phone


class DemoCase(BrowserCase):
    command = ("demo",)  # the command that starts the server

    @classmethod
    def setUpClass(cls):
        cls.server = DemoServer(arguments=cls.command)
        cls.addClassCleanup(cls.server.stop)

    def setUp(self):
        super().setUp()
        self.phone = Phone(self.driver)
        self.open_demo()

    def tearDown(self):
        self.driver.switch_to.default_content()
        self.check_console()

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
        save_screenshot(self.driver, name)
