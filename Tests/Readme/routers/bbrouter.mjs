/** The rows of web/docs/bbrouter.md that need no Swift; the others are in Tests/WaybridgeTestingTests. */
import assert from "node:assert";
import { recorder, row, runRows } from "./rows.mjs";

// Routes and their hosts.

row("scheme:[//authority]path[?query][#fragment]", async ({ command }) => {
  const parts = JSON.parse(command("waybridge uri --json 'native://address/list?pick=true#top'"));
  assert.deepEqual([parts.scheme, parts.authority, parts.path, parts.query, parts.fragment], ["native", "address", "/list", "pick=true", "top"]);
  assert.match(command("waybridge explain --table routes.json 'native://address/list?pick=true#top'"), /opens: page 'addressList'/);
});

row("a dispatcher for each scheme: `native`, `flutter`, `http`", async ({ connect, opened }) => {
  const host = recorder();
  const shell = await connect({ hosts: { native: host, flutter: host, https: host } });
  for (const uri of ["native://orders", "flutter://tea", "https://shop.example/tea"]) await opened(shell, uri);
  // http
  assert.deepEqual(host.events.map(([, page]) => page.uri), ["native://orders", "flutter://tea", "https://shop.example/tea"]);
});

row("wxmp", async ({ connect, opened, table }) => {
  const coffee = "wxmp://coffee/menu";
  assert.equal(table.routes.find(({ pattern }) => pattern === coffee).fallback, "https://m.shop.example/coffee");
  const [web, wxmp] = [recorder(), recorder()];
  const shell = await connect({ hosts: { https: web } });
  await opened(shell, coffee);
  await shell.host("wxmp", wxmp).registered;
  await opened(shell, coffee);
  assert.deepEqual([web.events[0][1].uri, wxmp.events[0][1].uri], ["https://m.shop.example/coffee", coffee]);
});

row("tp", async ({ connect }) => {
  const shell = await connect({ tasks: { "tp://:app": ({ app, i }) => [app, i] } });
  assert.deepEqual(await shell.invoke("tp://maps?i=geo%3A52.5%2C13.4"), ["maps", "geo:52.5,13.4"]);
});

row("a dispatcher of the app's own, added and removed", async ({ connect }) => {
  const shell = await connect();
  const host = recorder();
  const leave = shell.host("coupon", host);
  await leave.registered;
  assert(await shell.supports("coupon://tea"));
  await leave();
  assert(!(await shell.supports("coupon://tea")));
});

row("a page is registered by its class or a factory", async ({ connect, opened }) => {
  const factories = { home: () => "HomeViewController", orders: () => "OrdersViewController" };
  const shown = [];
  const shell = await connect({ hosts: { native: { open: (page) => shown.push(factories[page.route]()), close: () => {} } } });
  for (const uri of ["native://home", "native://orders"]) await opened(shell, uri);
  assert.deepEqual(shown, ["HomeViewController", "OrdersViewController"]);
});

row("a page or action is replaced and removed", async ({ connect }) => {
  const shell = await connect();
  const route = { name: "share", pattern: "action://share/:channel", kind: "task" };
  await shell.request("table.update", { operations: [{"op": "replace", "route": route}] });
  assert.equal((await shell.explain("action://share/mail")).route.name, "share");
  await shell.request("table.update", { operations: [{"op": "remove", "route": "share"}] });
  assert.equal((await shell.explain("action://share/mail")).route, null);
});

row("the registered routes are listed", async ({ connect, table }) => {
  const shell = await connect();
  assert.deepEqual((await shell.routes()).map(({ name }) => name), table.routes.map(({ name }) => name));
});

row("the URI of a call, with its parameters", async ({ connect, opened }) => {
  const host = recorder();
  const shell = await connect({ hosts: { native: host }, tasks: { "action://share": (params, call) => call.uri } });
  await opened(shell, "native://address/list?pick=true");
  const [, page] = await host.last();
  assert.equal(page.uri, "native://address/list?pick=true");
  assert.equal(await shell.invoke("action://share?title=Tea"), "action://share?title=Tea");
});

// Open and return.

row("open", async ({ connect, opened }) => {
  const host = recorder();
  const shell = await connect({ hosts: { native: host }, tasks: { "action://share": ({ title }) => title } });
  await opened(shell, "native://home");
  {
    const [uri, params, exts, style] = ["native://orders", { from: "menu" }, { animated: false }, "present"];
    const outcome = shell.open(uri, params, { exts, style });
    const [, page] = await host.last(2);
    assert.deepEqual([page.params, page.exts, page.style], [params, exts, style]);
    await shell.back();
    assert.equal((await outcome).outcome, "dismissed");
  }
  const [uri, params] = ["action://share", { title: "Tea" }];
  assert.equal((await shell.open(uri, params)).data, "Tea");
  assert.equal(await shell.invoke(uri, params), "Tea");
});

row("parameters travel with the call", async ({ connect }) => {
  const shell = await connect({ tasks: { "action://share": (params) => params } });
  const params = { title: "Tea" };
  assert.deepEqual(await shell.invoke("action://share?channel=mail", params), { title: "Tea", channel: "mail" });
  await assert.rejects(shell.invoke("action://share", { title: 7 }), { code: 2422 });
});

row("presentation values travel beside them", async ({ connect, opened }) => {
  const host = recorder();
  const shell = await connect({ hosts: { native: host } });
  const exts = { animated: false };
  await opened(shell, "native://home", {}, { exts });
  assert.deepEqual([host.events[0][1].exts, host.events[0][1].params], [{ animated: false }, {}]);
});

row("a page returns a value when it closes", async ({ connect }) => {
  const host = recorder();
  const shell = await connect({ hosts: { native: host } });
  const opening = shell.open("native://address/list");
  const [, page] = await host.last();
  {
    const [data, code, message] = [{ id: "a2", city: "Bergen" }, 7, "picked"];
    await shell.finish(data, { page: page.id, code, message });
    await assert.rejects(shell.finish(data, { page: page.id, code, message }), { code: 2404 });
  }
  const { outcome, code, message, data } = await opening;
  assert.deepEqual({ outcome, code, message, data }, { outcome: "finished", code: 7, message: "picked", data: { id: "a2", city: "Bergen" } });
});

row("a page closes without a value", async ({ connect, opened }) => {
  const shell = await connect({ hosts: { native: recorder() } });
  await opened(shell, "native://home");
  const ends = {
    dismissed: () => shell.back(),
    replaced: () => opened(shell, "native://home", {}, { style: "replace" }),
    cancelled: () => ends.controller.abort(),
    failed: () => other.close(),
    controller: new AbortController(),
  };
  const { session, joinToken: token } = shell.session;
  const other = await connect({ join: { session, token }, hosts: { wxmp: recorder() } });
  for (const expected of ["dismissed", "replaced", "failed"]) {
    const { outcome } = await opened(shell, expected === "failed" ? "wxmp://coffee/menu" : "native://orders");
    await ends[expected]();
    assert.equal((await outcome).outcome, expected);
  }
  const { outcome } = await opened(shell, "native://orders", {}, { signal: ends.controller.signal });
  ends.cancelled();
  assert.equal((await outcome).outcome, "cancelled");
});

row("whether a route can be opened", async ({ connect }) => {
  const shell = await connect({ hosts: { native: recorder() } });
  const uri = "native://orders";
  assert.deepEqual(await shell.canOpen(uri), { canOpen: true, kind: "page", route: "orders" });
  assert.equal((await shell.explain(uri)).reason, "by the pattern 'native://orders'");
});

row("a page that other code has pushed", async ({ connect }) => {
  const shell = await connect({ hosts: { native: recorder() } });
  const [uri, params] = ["native://orders", { from: "code" }];
  const { id } = await shell.adopt(uri, params);
  assert.equal((await shell.contains(uri)).id, id);
});

// Go back and find pages.

/** A row with the pages M, A, B and C open. */
const walk = (name, run) =>
  row(name, async ({ connect, opened }) => {
    const host = recorder();
    const shell = await connect({ hosts: { native: host } });
    const pages = {};
    for (const page of ["m", "a", "b", "c"]) pages[page] = await opened(shell, `native://walk/${page}`);
    await run(shell, pages, host);
  });

walk("back by one page or several", async (shell, { b, c }, host) => {
  const exts = { animated: false };
  await shell.back({ exts });
  assert.deepEqual([(await c.outcome).outcome, host.events.at(-1).at(-1)], ["dismissed", exts]);
  assert.equal((await shell.back({ count: 2 })).closed.length, 2);
  assert.deepEqual([(await b.outcome).outcome, (await shell.back()).closed], ["dismissed", []]);
});

walk("back to a given route: M → A → B → C, and from C to M", async (shell, { a, b, c }) => {
  const result = "Ridge at dawn";
  await shell.back({ to: "native://walk/m", result });
  assert.deepEqual([(await a.outcome).data, (await b.outcome).outcome, (await c.outcome).outcome], [result, "dismissed", "dismissed"]);
});

walk("back to the page before a given route", async (shell, { m }) => {
  assert.equal((await shell.back({ before: "native://walk/a" })).page, m.page);
});

walk("back to the root", async (shell, { m }) => {
  assert.equal((await shell.back({ root: true })).page, m.page);
});

walk("whether a route is on the stack", async (shell, { b }) => {
  let uri = "native://walk/b";
  assert.equal((await shell.contains(uri)).id, b.page);
  uri = "native://orders";
  assert.equal(await shell.contains(uri), null);
  assert.deepEqual((await shell.stack()).pages.map(({ route }) => route), ["walkM", "walkA", "walkB", "walkC"]);
});

row("a tab is selected", async ({ connect }) => {
  const shell = await connect({ hosts: { native: recorder() } });
  const selected = async () => (await shell.stack()).selected;
  await shell.selectTab(1);
  assert.equal(await selected(), 1);
  const uri = "native://home";
  await shell.selectTab(uri);
  assert.equal(await selected(), 0);
  await shell.invoke("navigation:selectTab?index=1");
  assert.equal(await selected(), 1);
});

// Actions and modules.

row("action routes: H5 calls the native share", async ({ connect }) => {
  const native = await connect({ tasks: { "action://share": ({ title }) => ({ shared: title }) } });
  const { session, joinToken: token } = native.session;
  const shell = await connect({ join: { session, token } });
  assert.deepEqual(await shell.invoke("action://share", { title: "Tea" }), { shared: "Tea" });
});

row("an action answers later", async ({ connect }) => {
  let stopped;
  const cancelled = new Promise((resolve) => (stopped = resolve));
  const shell = await connect({
    tasks: {
      "action://share": async ({ title }, call) => {
        const value = `sharing ${title}`;
        call.progress(value);
        if (title === "Tea") return "later";
        call.signal.addEventListener("abort", stopped);
        await cancelled;
      },
    },
  });
  const progress = [];
  assert.equal(await shell.invoke("action://share", { title: "Tea" }, { onProgress: (value) => progress.push(value) }), "later");
  assert.deepEqual(progress, ["sharing Tea"]);
  const controller = new AbortController();
  const running = shell.invoke("action://share", { title: "Milk" }, { signal: controller.signal, onProgress: () => controller.abort() });
  await assert.rejects(running);
  await cancelled;
});

// Redirects, failures, statistics.

row("redirects of old routes", async ({ connect, table }) => {
  const { "redirects": redirects } = table;
  const shell = await connect();
  assert.deepEqual((await shell.explain(redirects[0].from)).redirects, [redirects[0].to]);
});

row("a redirect is removed, or all", async ({ connect }) => {
  const shell = await connect();
  await shell.request("table.update", { operations: [{"op": "unredirect", "from": "native://contacts"}] });
  assert.deepEqual((await shell.explain("native://contacts")).redirects, []);
});

row("an interceptor authenticates, changes parameters, holds, redirects", async ({ connect }) => {
  const shell = await connect({ tasks: { "action://share": ({ title }) => title } });
  const decide = ({ params }) => (params.title === "Tea" ? { refuse: "not today" } : { params: { title: "Milk" } });
  await shell.intercept("limit", { scheme: "action" }, decide).registered;
  await assert.rejects(shell.invoke("action://share", { title: "Tea" }), { code: 2423 });
  assert.equal(await shell.invoke("action://share", { title: "Coffee" }), "Milk");
});

row("open the page again after the login", async ({ connect, table, write }) => {
  const login = { name: "login", pattern: "native://login", kind: "page" };
  write({ ...table, routes: [...table.routes, login], "gates": {"signedIn": {"opens": "native://login", "groups": ["account"]}} });
  const host = recorder();
  const shell = await connect({ hosts: { native: host } });
  const calls = [1, 2].map((n) => shell.open("native://orders", { n }));
  const [, asked] = await host.last();
  assert.equal(asked.route, "login");
  await shell.finish({ name: "Ada" }, { page: asked.id });
  await host.last(4);
  const shown = host.events.filter(([event]) => event === "open").slice(1).map(([, page]) => page);
  assert.deepEqual(shown.map(({ params }) => params), [{ n: 1 }, { n: 2 }]);
  for (const { id } of [...shown].reverse()) await shell.finish(id, { page: id });
  assert.deepEqual((await Promise.all(calls)).map(({ data }) => data), shown.map(({ id }) => id));
});

row("a route that nobody has registered", async ({ connect, opened, table }) => {
  assert.deepEqual(table.schemes.native, { "closed": true, "undefined": "native://home" });
  const host = recorder();
  const shell = await connect({ hosts: { native: host } });
  await opened(shell, "native://nowhere");
  assert.deepEqual([host.events[0][1].route, host.events[0][1].params.uri], ["home", "native://nowhere"]);
});

row("a call that fails", async ({ connect }) => {
  const shell = await connect();
  const failed = new Promise((resolve) => shell.addEventListener("route.failed", ({ detail }) => resolve(detail.data.uri)));
  await shell.request("$/ping");
  await assert.rejects(shell.open("thing://nowhere"), { code: 2404 });
  assert.equal(await failed, "thing://nowhere");
});

row("statistics and logs of all calls", async ({ connect, opened }) => {
  const shell = await connect({ hosts: { native: recorder() } });
  const topics = [];
  const unsubscribe = shell.subscribe(["page.opened", "page.closed"], ({ topic, data }) => topics.push([topic, data.route]));
  await unsubscribe.registered;
  await opened(shell, "native://home");
  await opened(shell, "native://orders");
  await shell.back();
  await shell.request("$/ping");
  assert.deepEqual(topics, [["page.opened", "home"], ["page.opened", "orders"], ["page.closed", "orders"]]);
});

await runRows();
