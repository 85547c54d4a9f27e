// The script of a Capacitor app, with the fake plugins of fakes.mjs.
import assert from "node:assert/strict";
import { test } from "node:test";
import { listeners, log } from "./fakes.mjs";
import { client, start, until } from "./recipe.mjs";

test("plugins are tasks, and the app's pages a scheme", async () => {
  const { bridge } = await start("capacitor://localhost");
  const other = await client(bridge);
  assert.deepEqual(await other.invoke("action://share", { title: "Tea", url: "https://example.org" }), { shared: true, channel: "mail" });
  const outcome = other.open("app://cart/7", { coupon: "x" });
  const [, uri, params, { key }] = await until(log, 2);
  assert.deepEqual([uri, params], ["app://cart/7", { coupon: "x" }]);
  await bridge.finish({ paid: true }, { page: key });
  assert.deepEqual((await outcome).data, { paid: true });
  assert.deepEqual(await until(log, 3), ["remove", key]);
  listeners.get("appUrlOpen")({ url: "app://cart/8" });
  assert.equal((await until(log, 4))[1], "app://cart/8");
  await listeners.get("backButton")();
  listeners.get("appStateChange")({ isActive: true });
  await Promise.all([other.close(), bridge.close()]);
});
