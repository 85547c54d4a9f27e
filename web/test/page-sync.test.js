// @ts-check
import assert from "node:assert/strict";
import { test } from "node:test";
import { ClientHosts } from "../bridge/hosting/client-hosts.js";

const PAGE = { id: "p1", uri: "native://a", route: "a", params: {}, exts: {}, style: "push" };

/** @param {string[]} seen */
function showing(seen) {
  const hosts = new ClientHosts(/** @type {any} */ ({ ready: Promise.resolve(), peer: {} }));
  hosts.addPages("native", { open: (/** @type {any} */ page) => void seen.push(`open ${page.id}`), close: (/** @type {any} */ page) => void seen.push(`close ${page.id}`) });
  return hosts;
}

test("a page that closes before it is shown again is not shown", async () => {
  /** @type {string[]} */
  const seen = [];
  const hosts = showing(seen);
  await hosts.pages.sync(
    async () => {
      // The close arrives together with the response.
      queueMicrotask(() => void hosts.pages.close({ page: "p1", reason: "finished" }));
      return { open: [{ page: PAGE, host: { scheme: "native", kind: "page" } }], closed: [] };
    },
    { onFailure: (error) => assert.fail(String(error)), timeout: new Promise(() => {}), delegation: /** @type {any} */ ({}) },
  );
  assert.deepEqual(seen, []);
});
