"""A photo that a page of another origin sends to a task, in real browsers: as a file, with progress, and as a stream."""

import json
import re
import unittest

from browser import BrowserCase
from demo_case import DemoCase
from demo_server import DemoServer
from page_server import PageServer
from phone import Phone

PAGE = """<!doctype html>
<title>Photos</title>
<script type="module">
  import { Bridge } from "/bridge/bridge.min.js";
  import { Blobs } from "/bridge/blobs.min.js";

  const digest = async (blob) => {
    const bytes = new Uint8Array(await crypto.subtle.digest("SHA-256", await blob.arrayBuffer()));
    return [...bytes].map((each) => each.toString(16).padStart(2, "0")).join("");
  };

  // The page sends its file; a second client of the session runs the task, and returns the photo.
  window.share = async (url) => {
    const page = new Bridge({ url, keep: "nothing" });
    const { session, joinToken } = await page.ready;
    const shell = new Bridge({ url, keep: "nothing", join: { session, token: joinToken } });
    const [blobs, shellBlobs] = [new Blobs(page, { url }), new Blobs(shell, { url })];
    await shell.task("action://share", async ({ photo }) => {
      const parts = shellBlobs.stream(photo);
      return { ...photo, copy: await shellBlobs.upload(parts, { type: photo.type }) };
    }).registered;
    const loaded = [];
    const data = Uint32Array.from({ length: 625_000 }, (_, index) => Math.imul(index, 2654435761));
    const photo = new File([data], "sea.jpg", { type: "image/jpeg" });
    const params = await blobs.attach({ photo }, { onProgress: (progress) => loaded.push(progress.loaded) });
    const result = await page.invoke("action://share", params);
    const copy = await blobs.open(result.copy);
    await Promise.all([page.close(), shell.close()]);
    const isSame = [result.sha256, await digest(copy)].every((each, _, [first]) => each === first) && result.sha256 === await digest(photo);
    window.answer = JSON.stringify({ name: result.name, type: copy.type, isSame, loaded });
  };
  document.title = "ready";
</script>
"""

class BlobTest(BrowserCase):
    def test_task_gets_a_photo_and_returns_it(self):
        site = PageServer({"/": PAGE})
        self.addCleanup(site.stop)
        server = DemoServer(arguments=("serve", "--allow-origin", site.origin))
        self.addCleanup(server.stop)
        phone = Phone(self.driver)
        self.driver.get(site.origin + "/")
        phone.wait(lambda: self.driver.execute_script("return document.title") == "ready", "the page")
        url = f"ws://127.0.0.1:{server.port}/bridge"
        self.driver.execute_script(f"share('{url}').catch((error) => {{ window.answer = JSON.stringify(String(error)); }})")
        answer = phone.wait(lambda: self.driver.execute_script("return window.answer"), "the photo")
        expected = {"name": "sea.jpg", "type": "image/jpeg", "isSame": True, "loaded": [1 << 20, 2 << 20, 2_500_000]}
        self.assertEqual(expected, json.loads(answer))
        self.check_console()


# The size of the shown photo in pixels, once it is decoded.
SHOWN = """
  const { complete, naturalWidth, naturalHeight } = document.querySelector(".share-photo");
  return complete && [naturalWidth, naturalHeight];
"""


class DemoPhotoTest(DemoCase):
    def share(self):
        """Lets the shop share a photo, and returns its size in megabytes once the sheet shows it."""
        with self.phone.web("shop.html"):
            self.phone.button("Share a photo").click()
        sheet = self.phone.surface("native://share/sheet")
        self.phone.wait(lambda: "trail-mug.jpg" in sheet.text, "the photo")
        self.assertEqual(self.driver.execute_script(SHOWN), [3840, 1680])
        return re.search(r"trail-mug.jpg, (\d+\.\d) MB", sheet.text)[1]

    def test_web_page_shares_a_photo_of_some_megabytes(self):
        self.open_shop()
        size = self.share()
        self.screenshot("photo")
        self.assertGreater(float(size), 2)
        self.assertEqual(self.phone.overflow(), [])
        self.assertEqual(self.phone.cut(), [])
        self.phone.press("native://share/sheet", "Mail")
        with self.phone.web("shop.html"):
            self.assertEqual(self.phone.settled(), f"{size} MB shared by mail")
        self.share()
        self.phone.press("native://share/sheet", "Close")
        with self.phone.web("shop.html"):
            self.assertEqual(self.phone.settled(), "not shared")


class SmallDemoPhotoTest(DemoPhotoTest):
    size = (390, 844)


if __name__ == "__main__":
    unittest.main()
