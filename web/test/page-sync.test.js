// @ts-check
import assert from "node:assert/strict";
import { test } from "node:test";
import { ClientHosts } from "../bridge/hosting/client-hosts.js";
import { ManualClock } from "./manual-clock.js";

const PAGE = { id: "p1", uri: "native://a", route: "a", params: {}, exts: {}, style: "push" };

test("a page that closes before it is shown again is not shown", async () => {
  /** @type {string[]} */
  const seen = [];
  const request = async () => {
    // The close arrives together with the response.
    queueMicrotask(() => void hosts.pages.close({ page: "p1", reason: "finished" }));
    return { open: [{ page: PAGE, host: { scheme: "native", kind: "page" } }], closed: [] };
  };
  const report = (/** @type {unknown} */ error) => assert.fail(String(error));
  const hosts = new ClientHosts(/** @type {any} */ ({ ready: Promise.resolve(), clock: new ManualClock(), peer: { request }, report }));
  hosts.addPages("native", { open: (/** @type {any} */ page) => void seen.push(`open ${page.id}`), close: (/** @type {any} */ page) => void seen.push(`close ${page.id}`) });
  await hosts.pages.sync();
  assert.deepEqual(seen, []);
});
