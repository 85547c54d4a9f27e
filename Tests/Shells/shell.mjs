// The script of the invisible page, with a fake native side.
import assert from "node:assert/strict";
import { test } from "node:test";
import { guest, own, start, until } from "./recipe.mjs";

const requests = [];
globalThis.AndroidShell = { postMessage: (text) => void requests.push(JSON.parse(text)) };

test("pages of the web, native pages, tasks and outcomes", async () => {
  await start(own);
  const { shell } = globalThis;
  // The native side opens a web page, in which a guest runs.
  shell.open("first", "https://shop.example/tea", {});
  const load = await until(requests, 1);
  assert.equal(load.name, "load");
  shell.settle(load.call, null, null);
  const page = await guest(load.value.address);
  assert.equal((await page.ready).page, load.value.page);
  // It opens a native page, which returns a result.
  const outcome = page.open("native://address/list", { pick: true });
  const open = await until(requests, 2);
  assert.deepEqual([open.name, open.value.uri, open.value.params], ["open", "native://address/list", { pick: true }]);
  shell.settle(open.call, null, null);
  await page.canOpen("native://home");
  const picked = { id: "a3", name: "Home", street: "Main Street 1", city: "Ulm" };
  shell.finished(open.value.id, picked);
  assert.deepEqual(await outcome.then(({ data }) => data), picked);
  const closed = await until(requests, 3);
  assert.deepEqual([closed.name, closed.value], ["close", { page: open.value.id, reason: "finished", exts: {} }]);
  shell.settle(closed.call, null, null);
  // A task with a value, and one that fails with a code of the application.
  const shared = page.invoke("action://share", { title: "Tea" });
  const share = await until(requests, 4);
  shell.settle(share.call, null, { shared: true });
  assert.deepEqual(await shared, { shared: true });
  const refused = page.invoke("action://share", { title: "Tea" });
  const again = await until(requests, 5);
  shell.settle(again.call, { code: 7, message: "no" }, null);
  await assert.rejects(refused, { code: 7 });
  // The user leaves the root.
  shell.left(load.value.page);
  const [last, next] = [await until(requests, 6), await until(requests, 7)];
  const names = [last, next].map(({ name }) => name).sort();
  assert.deepEqual(names, ["close", "outcome"]);
  const { value } = [last, next].find(({ name }) => name === "outcome");
  assert.deepEqual([value.as, value.outcome.outcome], ["first", "finished"]);
  // A page that fails to open is reported too.
  shell.open("second", "windows://main", {});
  const failure = await until(requests, 8);
  assert.deepEqual([failure.name, failure.value.as, failure.value.error.code], ["outcome", "second", 2404]);
  assert.match(failure.value.error.message, /windows:/);
  await page.close();
  process.exitCode = 0;
  setTimeout(() => process.exit(), 50);
});
