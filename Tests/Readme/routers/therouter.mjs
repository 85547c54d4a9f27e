/** The rows of web/docs/therouter.md that need no Swift; the others are in Tests/WaybridgeTestingTests. */
import assert from "node:assert";
import { recorder, row, runRows } from "./rows.mjs";

const uri = "scheme://router/demo";
const update = (shell, ...operations) => shell.request("table.update", { operations });

// Register.

row("TheRouterable", async ({ connect, table }) => {
  const { "patterns": patterns } = table.routes[0];
  assert.equal(table.routes[1].pattern, "scheme://router/demo1");
  const shell = await connect();
  for (const each of patterns) assert.equal((await shell.explain(each)).route.name, "demo");
});

row("priority", async ({ connect, table, write }) => {
  write({ ...table, "routes": [...table.routes, { "name": "any", "pattern": "scheme://router/:page", "kind": "page", "priority": 1 }] });
  const shell = await connect();
  assert.deepEqual((await shell.explain(uri)).candidates.slice(0, 2).map(({ route }) => route), ["any", "demo"]);
});

row("registerAction(info:)", async ({ connect, opened }) => {
  const controllers = [];
  const host = { open(page) { controllers.push([page.route, page.params]); }, close: () => {} };
  const shell = await connect({ hosts: { scheme: host } });
  await opened(shell, uri, { intValue: 2 });
  assert.deepEqual(controllers, [["demo", { intValue: 2, desc: "nothing" }]]);
});

row("addRouterItem", async ({ connect }) => {
  const shell = await connect();
  const route = { name: "added", pattern: "scheme://router/added", kind: "page" };
  await shell.request("table.update", { operations: [{"op": "add", "route": route}] });
  assert.equal((await shell.explain("scheme://router/added")).route.name, "added");
});

row("RouteItem.path", async ({ connect, opened }) => {
  const host = recorder();
  const shell = await connect({ hosts: { scheme: host } });
  const { purpose, parameters, kind, patterns: [pattern] } = (await shell.routes())[0];
  assert.deepEqual([purpose, parameters.intValue, kind, pattern], ["Shows what a code contains", { type: "integer" }, "page", uri]);
  await opened(shell, uri);
  const [, page] = await host.last();
  assert.equal(page.route, "demo");
});

row("removeRouter", async ({ connect }) => {
  const shell = await connect();
  await update(shell, {"op": "remove", "route": "demo"});
  assert.equal((await shell.explain(uri)).route, null);
});

row("TheRouterPattern", async ({ connect }) => {
  const shell = await connect();
  assert.deepEqual((await shell.routes()).map(({ name }) => name), ["demo", "yellow", "home", "mine"]);
});

row("canOpenURLString", async ({ command }) => {
  const URI = "scheme://router/demo?intValue=2";
  const parts = JSON.parse(command(`waybridge uri --json '${URI}' # waybridge uri --json URI`));
  assert.deepEqual([parts.scheme, parts.host, parts.path, parts.query], ["scheme", "router", "/demo", "intValue=2"]);
});

// Open.

row("openURL(_:userInfo:complateHandler:)", async ({ connect, opened }) => {
  const host = recorder();
  const shell = await connect({ hosts: { scheme: host }, tasks: { "action://double": ({ intValue }) => 2 * intValue } });
  const params = { intValue: 2 };
  const outcome = shell.open(uri, params);
  const [, page] = await host.last();
  await shell.finish("done", { page: page.id });
  assert.equal((await outcome).data, "done");
  {
    const uri = "action://double";
    assert.equal(await shell.invoke(uri, params), 4);
  }
  await opened(shell, uri);
});

row("openURL(_:complateHandler:)", async ({ connect }) => {
  const host = { open: ({ id, params }) => void setTimeout(() => shell.finish(params.intValue, { page: id })), close: () => {} };
  const shell = await connect({ hosts: { scheme: host } });
  const tuple = [uri, { intValue: 2 }];
  assert.equal((await shell.open(...tuple)).data, 2);
});

row("openWebURL", async ({ connect }) => {
  const shown = [];
  const shell = await connect({ hosts: { https: { open: (page) => void (shown.push([page.uri, page.route]), setTimeout(() => shell.finish(null, { page: page.id }))), close: () => {} } } });
  await shell.open("https://shop.example/tea");
  assert.deepEqual(shown, [["https://shop.example/tea", null]]);
});

row("canOpenURL", async ({ connect }) => {
  const shell = await connect({ hosts: { scheme: recorder() } });
  assert.deepEqual(await shell.canOpen(uri), { canOpen: true, kind: "page", route: "demo" });
});

row("requestURL", async ({ connect }) => {
  const shell = await connect();
  const explained = await shell.explain(uri, { intValue: 2 });
  assert.deepEqual([explained.route.pattern, explained.params], [uri, { intValue: 2, desc: "nothing" }]);
  const params = { intValue: "two" };
  assert.match((await shell.explain(uri, params)).reason, /intValue/);
});

row("TheRouerBridge", async ({ connect }) => {
  const shell = await connect({ hosts: { scheme: recorder() } });
  assert.equal((await shell.request("router.canOpen", { uri })).canOpen, true);
});

row("TheRouterBuilder", async ({ connect }) => {
  const host = { open: ({ id, params }) => void setTimeout(() => shell.finish(params, { page: id })), close: () => {} };
  const shell = await connect({ hosts: { scheme: host } });
  const desc = "by a builder";
  const { data } = await shell.build(uri).with("intValue", 2).with({ desc }).open();
  assert.deepEqual(data, { intValue: 2, desc });
});

row("buildResult", async ({ command }) => {
  const typed = command("waybridge routes generate routes.json --language swift --output . > log && cat *.swift");
  assert.match(typed, /func demo\(\s*(_ |)intValue: Int|demo/);
});

row("ComplateHandler", async ({ connect }) => {
  const host = { open: ({ id }) => void setTimeout(() => shell.finish({ code: "scanned" }, { page: id })), close: () => {} };
  const shell = await connect({ hosts: { scheme: host } });
  const { data } = await shell.open(uri);
  assert.deepEqual(data, { code: "scanned" });
});

// Show.

/** A row that opens two pages below and then a page with a style; `uris` are those of the stack then. */
function styled(name, options, uris) {
  row(name, async ({ connect, opened }) => {
    const shell = await connect({ hosts: { scheme: recorder() } });
    for (const uri of ["scheme://router/home", "scheme://router/demo", "scheme://router/demo1"]) await opened(shell, uri, {}, { style: "push" });
    if (options.modal) await opened(shell, "scheme://router/mine", {}, { style: "present" });
    await opened(shell, uri, {}, options.call);
    assert.deepEqual(names((await shell.stack()).pages), uris);
  });
}

/** The last segments of the pages; a modal stack is a list in the list. */
const names = (pages) => pages.flatMap((page) => [page.uri.split("/").at(-1), ...(page.pages ? [names(page.pages)] : [])]);

row("LAJumpType", async ({ connect, opened }) => {
  const host = recorder();
  const shell = await connect({ hosts: { scheme: host } });
  await opened(shell, uri);
  await opened(shell, "scheme://router/demo1");
  await opened(shell, "scheme://router/demo1", {}, { style: "push" });
  assert.deepEqual(host.events.map(([, page]) => page.style), ["push", "present", "push"], "presentation of the route");
});

styled("LAJumpType.push", { call: { style: "push" } }, ["home", "demo", "demo1", "demo"]);
styled("LAJumpType.modal", { call: { style: "present" } }, ["home", "demo", "demo1", ["demo"]]);
styled("windowNavRoot", { call: { style: "root" } }, ["demo"]);
styled("modalDismissBeforePush", { modal: true, call: { style: "dismissThenPush" } }, ["home", "demo", "demo1", "demo"]);

row("popToTaget", async ({ connect, opened }) => {
  const shell = await connect({ hosts: { scheme: recorder() } });
  for (const uri of ["scheme://router/home", "scheme://router/demo", "scheme://router/mine"]) await opened(shell, uri);
  const { outcome } = await opened(shell, uri, {}, { style: "popTo" });
  assert.deepEqual(names((await shell.stack()).pages), ["home", "demo"]);
  await opened(shell, "scheme://router/mine");
  assert.equal((await shell.back({ to: "demo" })).closed.length, 1);
  await shell.back();
  assert.equal((await outcome).outcome, "dismissed");
});

row("popToRootVC", async ({ connect, opened }) => {
  const shell = await connect({ hosts: { scheme: recorder() } });
  for (const uri of ["scheme://router/home", "scheme://router/demo", "scheme://router/mine"]) await opened(shell, uri);
  assert.equal((await shell.back({ root: true })).closed.length, 2);
});

row("showTab", async ({ connect, opened, write, table }) => {
  write({ ...table, tabs: ["scheme://router/home", "scheme://router/mine"] });
  const shell = await connect({ hosts: { scheme: recorder() } });
  await shell.selectTab(1);
  assert.equal((await shell.stack()).selected, 1);
  await opened(shell, "scheme://router/home", {}, { style: "tab" });
  assert.equal((await shell.stack()).selected, 0);
});

row("customJumpAction", async ({ connect, opened }) => {
  const jumps = [];
  const host = { open(page) { jumps.push([page.style, page.route]); }, close: () => {} };
  const shell = await connect({ hosts: { scheme: host } });
  await opened(shell, uri);
  await opened(shell, "scheme://router/demo1");
  assert.deepEqual(jumps, [["push", "demo"], ["present", "yellow"]]);
});

row("visibleVC", async ({ connect, opened }) => {
  const shell = await connect({ hosts: { scheme: recorder() } });
  for (const uri of ["scheme://router/home", "scheme://router/demo"]) await opened(shell, uri);
  const { pages } = await shell.stack();
  assert.deepEqual([pages[0].route, pages.at(-1).route], ["home", "demo"]);
});

row("globalOpenFailedHandler", async ({ connect }) => {
  const shell = await connect();
  const failed = new Promise((resolve) => shell.addEventListener("route.failed", ({ detail }) => resolve(detail.data.uri)));
  await shell.request("$/ping");
  await assert.rejects(shell.open("scheme://router/nowhere"), { code: 2404 });
  assert.equal(await failed, "scheme://router/nowhere");
});

row("logcat", async ({ serve, connect }) => {
  const server = await serve("--log-level", "debug" /* waybridge serve --log-level debug */);
  const shell = await connect();
  await assert.rejects(shell.open("scheme://router/nowhere"));
  await server.logged(/ debug .*nowhere/);
});

// Change routes at run time.

row("addRelocationHandle", async ({ connect }) => {
  const shell = await connect();
  const operations = [{ op: "redirect", from: uri, to: "scheme://router/demo1" }, { op: "remove", route: "nothing" }];
  await assert.rejects(shell.request("table.update", { operations }), { code: -32602 });
  assert.equal((await shell.explain(uri)).route.name, "demo");
  await shell.request("table.update", { operations: operations.slice(0, 1) });
  assert.equal((await shell.explain(uri)).route.name, "yellow");
});

row("TheRouterReloadMapEnum.replace", async ({ connect }) => {
  const shell = await connect();
  const [from, to] = [uri, "scheme://router/demo1"];
  await update(shell, {"op": "redirect", "from": from, "to": to});
  assert.deepEqual((await shell.explain(uri)).redirects, [to]);
});

row("TheRouterReloadMapEnum.add", async ({ connect }) => {
  const shell = await connect();
  const route = { name: "misspelt", pattern: "scheme://router/demo33", kind: "page" };
  await update(shell, {"op": "add", "route": route});
  assert.equal((await shell.explain("scheme://router/demo33")).route.name, "misspelt");
});

row("TheRouterReloadMapEnum.delete", async ({ connect }) => {
  const shell = await connect();
  await update(shell, {"op": "remove", "route": "yellow"});
  assert.equal((await shell.explain("scheme://router/demo1")).route, null);
});

row("TheRouterReloadMapEnum.reset", async ({ connect }) => {
  const shell = await connect();
  const from = uri;
  for (const restore of [{"op": "unredirect", "from": from}, {"op": "reset"}]) {
    await update(shell, { op: "redirect", from, to: "scheme://router/demo1" });
    assert.equal((await shell.explain(uri)).route.name, "yellow");
    await update(shell, restore);
    assert.equal((await shell.explain(uri)).route.name, "demo");
  }
});

row("routerForceRecheck", async ({ serve, command }) => {
  assert.match(command("waybridge routes check routes.json"), /^ok: 4 routes/);
  const { address } = await serve();
  assert.match(command(`waybridge routes check --url ws://${address}/bridge 2>&1 || true`), /demo/);
});

row("writeRouterMapToFile", async ({ command }) => {
  for (const [format, found] of [["json", /"demo"/], ["plist", /<string>demo</], ["markdown", /demo/], ["html", /demo/]]) {
    assert.match(command(`waybridge routes export routes.json --format ${format}`), found);
  }
});

await runRows();
