/** The rows of web/docs/webviewaction.md. */
import assert from "node:assert";
import { recorder, row, runRows } from "./rows.mjs";

row("{\"action\": \"openPage\", \"action_url\": URL}", async ({ connect }) => {
  const host = recorder();
  const shell = await connect({ hosts: { native: host } });
  const [action, action_url] = ["openPage", "native://home?tab=new"];
  await shell.deliver({ action, action_url });
  const [, page] = await host.last();
  assert.deepEqual([page.uri, page.params], [action_url, { tab: "new" }]);
});

row("action", async ({ connect, table }) => {
  const { "actions": actions } = table;
  assert.equal(actions.address, "native://address/list?from=:action_url");
  const host = recorder();
  const shell = await connect({ hosts: { native: host } });
  await shell.deliver({ action: "address", action_url: "https://shop.example/a?b=1" });
  const [, page] = await host.last();
  assert.deepEqual([page.route, page.params.from], ["addressList", "https://shop.example/a?b=1"]);
});

row("an action that just opens its URL", async ({ connect, table }) => {
  assert.equal(table.actions.openPage, null);
  const host = recorder();
  const shell = await connect({ hosts: { native: host } });
  await shell.deliver({ action: "openPage", action_url: "native://orders" });
  assert.equal((await host.last())[1].route, "orders");
});

row("action_url", async ({ connect }) => {
  const host = recorder();
  const shell = await connect({ hosts: { native: host } });
  const message = { action: "orders", action_url: "https://shop.example/orders?filter=open&from=push" };
  await shell.deliver(message);
  assert.deepEqual((await host.last())[1].params, { filter: "open", from: "push" });
  const params = { from: "menu" };
  await shell.deliver({ ...message, params });
  assert.deepEqual((await host.last(2))[1].params, { filter: "open", from: "menu" });
});

row("an action that the map does not have", async ({ connect }) => {
  const host = recorder();
  const shell = await connect({ hosts: { native: host } });
  await shell.deliver({ action: "unknown", action_url: "native://home" });
  assert.equal((await host.last())[1].route, "home");
  await assert.rejects(shell.deliver({ action: "unknown" }), { code: 2404, kind: "noAction" });
});

row("an action that arrives before the app is ready is lost", async ({ connect }) => {
  const shell = await connect();
  await shell.deliver({ action: "openPage", action_url: "native://home" });
  const host = recorder();
  shell.host("native", host);
  assert.equal((await host.last())[1].route, "home");
});

row("an action that arrives twice is carried out twice", async ({ connect }) => {
  const host = recorder();
  const shell = await connect({ hosts: { native: host } });
  const key = "message-1";
  for (let count = 0; count < 2; count++) await shell.deliver({ action: "openPage", action_url: "native://home" }, undefined, { key });
  await shell.deliver({ action: "openPage", action_url: "native://orders" });
  await host.last(2);
  assert.deepEqual(host.events.map(([, page]) => page.route), ["home", "orders"]);
});

row("an action that needs a login is lost without it", async ({ connect, table, write }) => {
  const login = { name: "login", pattern: "native://login", kind: "page" };
  write({ ...table, routes: [...table.routes, login], "gates": {"signedIn": {"opens": "native://login", "routes": ["orders"]}} });
  const host = recorder();
  const shell = await connect({ hosts: { native: host } });
  await shell.deliver({ action: "orders", action_url: "https://shop.example/orders?filter=open" });
  const [, asked] = await host.last();
  assert.equal(asked.route, "login");
  await shell.finish({ name: "Ada" }, { page: asked.id });
  await host.last(3);
  const [, page] = host.events.find(([event, { route }]) => event === "open" && route === "orders");
  assert.deepEqual([page.route, page.params], ["orders", { filter: "open" }]);
});

row("actions that do something: share, pay, log in", async ({ connect }) => {
  let run;
  const ran = new Promise((resolve) => (run = resolve));
  const shell = await connect({ tasks: { "action://share": ({ url }) => run(url) } });
  await shell.deliver({ action: "share", action_url: "https://shop.example/tea" });
  assert.equal(await ran, "https://shop.example/tea");
});

row("the web view receives the result in a named callback", async ({ connect }) => {
  const host = recorder();
  const shell = await connect({ hosts: { native: host }, tasks: { "action://share": ({ url }) => ({ shared: url }) } });
  const value = await shell.invoke("action://share", { url: "https://shop.example/tea" });
  assert.deepEqual(value, { shared: "https://shop.example/tea" });
  const uri = "native://address/list";
  const opening = shell.open(uri);
  await shell.finish("Bergen", { page: (await host.last())[1].id });
  const { data } = await opening;
  assert.equal(data, "Bergen");
});

row("older apps ignore actions of newer ones", async ({ connect, command, table, write }) => {
  table.routes[2].release = { clients: { shell: ">=2.0" } };
  write({ ...table, "schemes": {"native": {"closed": true, "undefined": "native://home"}} });
  for (const [version, route] of [["2.1", "orders"], ["1.9", "home"]]) {
    const host = recorder();
    const shell = await connect({ client: { name: "shell", version }, hosts: { native: host } });
    await shell.deliver({ action: "openPage", action_url: "native://orders" });
    assert.equal((await host.last())[1].route, route, "release");
  }
  assert.match(command("waybridge routes check routes.json"), /^ok/);
});

row("only a release of the app changes the map", async ({ connect }) => {
  const [native, web] = [recorder(), recorder()];
  const shell = await connect({ hosts: { native, https: web } });
  const [from, to] = ["native://orders", "https://m.shop.example/orders"];
  // table.update
  await shell.request("table.update", { operations: [{"op": "redirect", "from": from, "to": to}] });
  await shell.deliver({ action: "openPage", action_url: from });
  assert.equal((await web.last())[1].uri, to);
});

row("a switch on the server for some users or versions", async ({ connect, table, write }) => {
  write({ ...table, redirects: [{ from: "native://home", "branches": [{ "clients": { "shell": "<2.0" }, "to": "native://orders" }] }] });
  for (const [version, route] of [["1.9", "orders"], ["2.1", "home"]]) {
    const shell = await connect({ client: { name: "shell", version } });
    assert.equal((await shell.explain("native://home")).route.name, route, "release");
  }
});

await runRows();
