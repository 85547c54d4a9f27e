// @ts-check
import assert from "node:assert/strict";
import { test } from "node:test";
import { Hosting } from "../bridge/hosting.js";
import { Methods } from "../bridge/methods.js";

const PAGE = { id: "p1", uri: "native://a", route: "a", params: {}, exts: {}, style: "push" };

/** @param {string[]} seen */
function showing(seen) {
  const hosting = new Hosting(new Methods());
  hosting.addPages("native", { open: (/** @type {any} */ page) => void seen.push(`open ${page.id}`), close: (/** @type {any} */ page) => void seen.push(`close ${page.id}`) });
  return hosting;
}

test("a page that closes before it is shown again is not shown", async () => {
  /** @type {string[]} */
  const seen = [];
  const hosting = showing(seen);
  const close = /** @type {any} */ (hosting.requests.get("page.close"));
  await hosting.pages.sync(
    async () => {
      // The close comes in one go with the answer.
      queueMicrotask(() => close({ page: "p1", reason: "finished" }, {}));
      return { open: [{ page: PAGE, host: { scheme: "native", kind: "page" } }], closed: [] };
    },
    { failed: (error) => assert.fail(String(error)), late: new Promise(() => {}), own: /** @type {any} */ ({}) },
  );
  assert.deepEqual(seen, []);
});
