// The script of a Tauri app, with the fakes of fakes.mjs.
import assert from "node:assert/strict";
import { test } from "node:test";
import { listeners, log } from "./fakes.mjs";
import { guest, client, start, until } from "./recipe.mjs";

test("commands are tasks, and windows pages", async () => {
  const { bridge } = await start("http://tauri.localhost");
  const other = await client(bridge);
  assert.deepEqual(await other.invoke("action://print", { file: "a.pdf" }), { pages: 3 });
  await assert.rejects(other.invoke("action://print", {}), { code: 2404 });
  const outcome = other.open("window://settings", { path: "settings.html" });
  const [, label, url] = await until(log, 2);
  const page = await guest(url);
  assert.equal(`page-${(await page.ready).page}`, label);
  await page.finish("dark");
  assert.equal((await outcome).data, "dark");
  assert.deepEqual(await until(log, 3), ["close", label]);
  // The user closes a window.
  const below = other.open("window://below").catch(() => {});
  await until(log, 4);
  const left = other.open("window://above");
  const [, above] = await until(log, 5);
  while ((await other.stack()).pages.length < 2) await new Promise((resolve) => setTimeout(resolve, 5));
  listeners.get(`${above} tauri://destroyed`)();
  assert.equal((await left).outcome, "dismissed");
  await Promise.all([page.close(), other.close()]);
  await bridge.close();
  await below;
});
