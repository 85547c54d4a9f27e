// @ts-check
import assert from "node:assert/strict";
import { test } from "node:test";
import { ClientHosts } from "../bridge/hosting/client-hosts.js";

const PAGE = { id: "p1", uri: "native://a", route: "a", params: {}, exts: {}, style: "push" };

/** @param {string[]} seen */
function showing(seen) {
  const hosts = new ClientHosts(/** @type {any} */ (() => ({})), /** @type {any} */ ({ ready: Promise.resolve() }));
  hosts.addPages("native", { open: (/** @type {any} */ page) => void seen.push(`open ${page.id}`), close: (/** @type {any} */ page) => void seen.push(`close ${page.id}`) });
  return hosts;
}

test("a page that closes before it is shown again is not shown", async () => {
  /** @type {string[]} */
  const seen = [];
  const hosts = showing(seen);
  const close = /** @type {any} */ (hosts.requestHandler("page.close"));
  await hosts.pages.sync(
    async () => {
      // The close arrives together with the response.
      queueMicrotask(() => close({ page: "p1", reason: "finished" }, {}));
      return { open: [{ page: PAGE, host: { scheme: "native", kind: "page" } }], closed: [] };
    },
    { onFailure: (error) => assert.fail(String(error)), timeout: new Promise(() => {}), delegation: /** @type {any} */ ({}) },
  );
  assert.deepEqual(seen, []);
});
