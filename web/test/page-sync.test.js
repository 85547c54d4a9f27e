// @ts-check
import assert from "node:assert/strict";
import { test } from "node:test";
import { HostHandlers } from "../bridge/hosting/host-handlers.js";
import { ClientMethods } from "../bridge/hosting/client-methods.js";

const PAGE = { id: "p1", uri: "native://a", route: "a", params: {}, exts: {}, style: "push" };

/** @param {string[]} seen */
function showing(seen) {
  const handlers = new HostHandlers(new ClientMethods());
  handlers.addPages("native", { open: (/** @type {any} */ page) => void seen.push(`open ${page.id}`), close: (/** @type {any} */ page) => void seen.push(`close ${page.id}`) });
  return handlers;
}

test("a page that closes before it is shown again is not shown", async () => {
  /** @type {string[]} */
  const seen = [];
  const hosts = showing(seen);
  const close = /** @type {any} */ (hosts.requests.get("page.close"));
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
