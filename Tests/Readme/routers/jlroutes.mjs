/** The rows of web/docs/jlroutes.md. */
import assert from "node:assert";
import { DeclinedError } from "../../../web/bridge/bridge.js";
import { recorder, row, runRows } from "./rows.mjs";

// JLRoutes: routes.

row("addRoute:handler:", async ({ connect }) => {
  const shell = await connect();
  const pattern = "action://files/*";
  const run = ({ "*": path }) => path.length;
  await shell.task(pattern, run).registered;
  assert.equal(await shell.invoke("action://files/joker/1"), 2);
});

row("addRoute:priority:handler:", async ({ connect, write }) => {
  write({
    "version": "1",
    "routes": [
      { "name": "literal", "pattern": "action://files/all", "kind": "task" },
      { "name": "first", "pattern": "action://files/:name", "kind": "task", "priority": 1 },
      { "name": "rest", "pattern": "action://files/*", "kind": "task" },
    ],
  });
  const shell = await connect();
  const { candidates } = await shell.explain("action://files/all");
  assert.deepEqual(candidates.map(({ route }) => route), ["first", "literal", "rest"]);
});

row("addRoutes:handler:", async ({ connect, table }) => {
  const { "patterns": patterns } = table.routes[0];
  const shell = await connect({ hosts: { native: recorder() } });
  assert.deepEqual(["thread", patterns], [(await shell.explain("native://thread/7")).route.name, (await shell.routes())[0].patterns]);
});

row("addRoute:", async ({ connect }) => {
  const shell = await connect({ tasks: { "action://added": () => "ran" } });
  const route = { name: "added", pattern: "action://added", kind: "task" };
  await shell.request("table.update", { operations: [{"op": "add", "route": route}] });
  assert.equal((await shell.explain("action://added")).route.name, "added");
});

row("removeRoute:", async ({ connect }) => {
  const shell = await connect();
  await shell.request("table.update", { operations: [{"op": "remove", "route": "files"}] });
  assert.equal((await shell.explain("action://files/1")).route, null);
});

row("removeAllRoutes", async ({ connect }) => {
  const shell = await connect();
  const empty = { version: "2.0.0", routes: [] };
  await shell.request("table.update", { table: empty });
  assert.deepEqual(await shell.routes(), []);
});

row("routes", async ({ connect }) => {
  const shell = await connect();
  assert.deepEqual((await shell.routes()).map(({ name }) => name), ["thread", "files", "appear", "first", "second", "upgrade"]);
});

row("globalRoutes", async ({ command }) => {
  for (const uri of ["one://user/7", "two://user/7", "https://shop.example/user/7"]) {
    const explained = command(`waybridge explain --table routes.json ${uri}`);
    assert.match(explained, RegExp("opens: page 'thread', by the pattern '/user/:userId"), "/user/:userId");
  }
});

row("routesForScheme:", async ({ command }) => {
  const pattern = "native://thread/:userId";
  assert(command("waybridge explain --table routes.json native://thread/7").includes(pattern));
  assert.match(command("waybridge explain --table routes.json other://thread/7 || true"), /no declared route matches/);
});

row("unregisterRouteScheme:", async ({ connect }) => {
  const shell = await connect();
  const host = recorder();
  const leave = shell.host("thing", host);
  await leave.registered;
  assert(await shell.supports("thing://anything"));
  await leave();
  assert(!(await shell.supports("thing://anything")));
});

row("shouldFallbackToGlobalRoutes", async ({ command, table, write }) => {
  const explained = () => command("waybridge explain --table routes.json thing://user/7 || true");
  assert.match(explained(), /opens: page 'thread'/);
  write({ ...table, "schemes": { "thing": { "closed": true } } });
  assert.match(explained(), /no declared route matches/);
});

row("unmatchedURLHandler", async ({ connect, opened }) => {
  const host = recorder();
  const shell = await connect({ hosts: { native: host } });
  await opened(shell, "native://nowhere?a=1");
  assert.deepEqual(host.events.map(([, page]) => [page.route, page.params.uri]), [["upgrade", "native://nowhere?a=1"]]);
});

// JLRoutes: calls.

row("canRouteURL:", async ({ connect }) => {
  const shell = await connect({ tasks: { "action://files/*": () => assert.fail() } });
  const uri = "action://files/1";
  assert((await shell.canOpen(uri)).canOpen);
  const { canOpen, reason } = await shell.explain(uri);
  assert.deepEqual([canOpen, reason], [true, "by the pattern 'action://files/*'"]);
});

row("canRouteURL:withParameters:", async ({ connect }) => {
  const shell = await connect({ tasks: { "action://files/*": () => assert.fail() } });
  const [uri, params] = ["action://files/1", { deep: true }];
  assert.deepEqual((await shell.request("router.explain", { uri, params })).params, { "*": ["1"], deep: true });
  assert.deepEqual((await shell.explain(uri, params)).sources, { "*": "path", deep: "params" });
});

row("routeURL:", async ({ connect }) => {
  const host = recorder();
  const shell = await connect({ hosts: { native: host }, tasks: { "action://files/*": () => "ran" } });
  let uri = "native://first";
  const outcome = shell.open(uri);
  const [, page] = await host.last();
  await shell.finish("seen", { page: page.id });
  assert.equal((await outcome).data, "seen");
  uri = "action://files/1";
  assert.equal(await shell.invoke(uri), "ran");
  await assert.rejects(shell.invoke("action://nowhere"), { code: 2404 });
});

row("routeURL:withParameters:", async ({ connect, table, write }) => {
  table.routes[1].pattern = "action://files/:id";
  write(table);
  const shell = await connect({ tasks: { "action://files/:id": (params) => params } });
  const uri = "action://files/7?id=8&from=query&by=query";
  let params = { by: "params" };
  assert.deepEqual(await shell.invoke(uri, params), { id: "7", from: "query", by: "params" });
  params = { id: "9" };
  assert.deepEqual(await shell.invoke(uri, params), { id: "9", from: "query", by: "query" });
});

row("a handler returns NO: the next match is tried", async ({ connect }) => {
  const first = await connect({ tasks: { "action://files/*": () => "next" } });
  const { session, joinToken: token } = first.session;
  await connect({
    join: { session, token },
    tasks: {
      "action://files/*": ({ "*": path }) => {
        if (path[0] !== "joker") throw new DeclinedError();
        return "joker";
      },
    },
  });
  assert.deepEqual([await first.invoke("action://files/joker"), await first.invoke("action://files/other")], ["joker", "next"]);
});

row("application:openURL:options:", async ({ connect }) => {
  const shell = await connect();
  const uri = "native://first?from=outside";
  await shell.deliver(uri);
  const host = recorder();
  shell.host("native", host);
  const [, page] = await host.last();
  assert.equal(page.uri, uri);
});

// JLRoutes: patterns and parameters.

row(":userID", async ({ connect }) => {
  const pattern = "native://thread/:userId";
  const shell = await connect();
  const { route, params } = await shell.explain("native://thread/7");
  assert.deepEqual([route.pattern, params], [pattern, { userId: 7 }]);
});

row("/user/:userId(/post/:postId)", async ({ connect }) => {
  const pattern = "/user/:userId(/post/:postId)";
  const shell = await connect();
  for (const [uri, expected] of [["app://user/7", { userId: 7 }], ["app://user/7/post/3", { userId: 7, postId: 3 }]]) {
    const { route, params } = await shell.explain(uri);
    assert.deepEqual([route.pattern, params], [pattern, expected]);
  }
});

row("/wildcard/*", async ({ connect }) => {
  const shell = await connect({ tasks: { "action://files/*": (params) => params["*"] } });
  assert.deepEqual(await shell.invoke("action://files/joker/1/x"), ["joker", "1", "x"]);
});

row("JLRoutePatternKey", async ({ connect, opened }) => {
  const host = recorder();
  const shell = await connect({ hosts: { native: host } });
  const uri = "native://thread/7";
  const { route } = await shell.explain(uri);
  assert.equal(route.pattern, "native://thread/:userId");
  await opened(shell, uri);
  const [, page] = await host.last();
  assert.equal(page.route, "thread");
});

row("JLRouteURLKey", async ({ connect, opened }) => {
  const host = recorder();
  const shell = await connect({ hosts: { native: host }, tasks: { "action://files/*": (params, call) => call.uri } });
  await opened(shell, "native://thread/7?a=1");
  const [, page] = await host.last();
  const uri = page.uri;
  assert.deepEqual([uri, uri.split(":")[0]], ["native://thread/7?a=1", "native"]);
  assert.equal(await shell.invoke("action://files/1"), "action://files/1");
});

row("setShouldDecodePlusSymbols:", async ({ connect, table, write }) => {
  write({ ...table, "plusIsSpace": false });
  const shell = await connect();
  assert.deepEqual((await shell.explain("native://first?text=a+b%2Bc")).params, { text: "a+b+c" });
});

row("setAlwaysTreatsHostAsPathComponent:", async ({ command }) => {
  for (const [uri, found] of [["app://user/7", /page 'thread'/], ["https://user/7", /no declared route matches/]]) {
    assert.match(command(`waybridge explain --table routes.json ${uri} || true`), found, "/user/:userId");
  }
});

// JLRoutes: other classes.

row("JLRRouteDefinition.scheme", async ({ connect }) => {
  const shell = await connect();
  const [{ patterns, priority }] = await shell.routes();
  assert.deepEqual([patterns, priority], [["/user/:userId(/post/:postId)", "native://thread/:userId"], 0]);
});

row("handlerBlock", async ({ connect }) => {
  const [other, [uri, params]] = [await connect({ tasks: { "action://files/*": ({ by }) => by } }), ["action://files/1", { by: "another" }]];
  const { session, joinToken: token } = other.session;
  const shell = await connect({ join: { session, token } });
  assert.equal(await shell.invoke(uri, params), "another");
});

row("isEqualToRouteDefinition:", async ({ command, table, write }) => {
  const { "name": name } = table.routes[0];
  write({ ...table, routes: [...table.routes, { name, pattern: "native://again", kind: "page" }] });
  assert.match(command("waybridge routes check routes.json 2>&1 || true"), /thread/);
});

row("didBecomeRegisteredForScheme:", async ({ connect }) => {
  const shell = await connect();
  const changed = new Promise((resolve) => shell.addEventListener("table.changed", ({ detail }) => resolve(detail.data.version)));
  await shell.request("table.update", { version: "1.1.0", operations: [{ op: "remove", route: "files" }] });
  assert.equal(await changed, "1.1.0");
});

row("routeResponseForRequest:", async ({ connect }) => {
  const shell = await connect();
  const [uri, params] = ["native://thread/7?from=push", { tone: "loud" }];
  const { sources } = await shell.explain(uri, params);
  assert.deepEqual(sources, { userId: "path", from: "query", tone: "params" });
});

row("match", async ({ connect }) => {
  const shell = await connect({ hosts: { native: recorder() } });
  let uri = "native://thread/7";
  const { canOpen, route, params } = await shell.explain(uri);
  assert.deepEqual([canOpen, route.name, params], [true, "thread", { userId: 7 }]);
  uri = "thing://nowhere";
  assert.equal((await shell.explain(uri)).route, null);
});

row("variableValueFrom:decodePlusSymbols:", async ({ connect, command }) => {
  assert.match(command("waybridge uri 'native://first?text=a%20b' # waybridge uri URI"), /text=a%20b/);
  const shell = await connect({ tasks: { "action://files/*": (params) => params } });
  assert.deepEqual(await shell.invoke("action://files/a%2Fb?text=a%20b"), { "*": ["a/b"], text: "a b" });
});

row("expandOptionalRoutePatternsForPattern:", async ({ command }) => {
  const explained = command("waybridge explain --table routes.json app://user/7/post/3");
  assert.match(explained, /\/user\/:userId\(\/post\/:postId\)  the best match/);
});

row("setVerboseLoggingEnabled:", async ({ serve, connect, command }) => {
  const server = await serve("--log-level", "debug" /* waybridge serve --log-level debug */);
  const shell = await connect();
  await assert.rejects(shell.open("thing://nowhere"));
  await server.logged(/ debug .*nowhere/);
  assert.match(command("waybridge explain --table routes.json thing://nowhere || true"), /no declared route matches/);
});

// JSDVCRouter.

row("configMapInfo", async ({ connect }) => {
  const shell = await connect();
  const { "title": title, "groups": groups } = (await shell.routes())[2];
  assert.deepEqual([title, groups], ["Appear", ["account"]]);
});

row("kJSDVCRouteClassName", async ({ connect, opened }) => {
  const classes = { first: "FirstViewController" };
  const shown = [];
  const host = { open: (page) => shown.push(classes[page.route]), close: () => {} };
  const shell = await connect({ hosts: { native: host } });
  await opened(shell, "native://first");
  const { title } = (await shell.routes()).find((route) => route.name === "thread");
  assert.deepEqual([shown, title], [["FirstViewController"], "Posts"]);
});

row("kJSDVCRouteClassNeedLogin", async ({ connect, table, write }) => {
  const login = { name: "login", pattern: "native://login", kind: "page" };
  write({ ...table, routes: [...table.routes, login], "gates": {"signedIn": {"opens": "native://login", "groups": ["account"]}} });
  const host = recorder();
  const shell = await connect({ hosts: { native: host } });
  const calls = [1, 2].map((n) => shell.open("native://home/appear", { name: `${n}` }));
  const [, asked] = await host.last();
  assert.equal(asked.route, "login");
  assert.deepEqual(await shell.gates(), [{ name: "signedIn", open: false }]);
  await shell.finish({ name: "Ada" }, { page: asked.id });
  await host.last(4);
  const shown = host.events.filter(([event]) => event === "open").slice(1).map(([, page]) => page);
  assert.deepEqual(shown.map(({ params }) => params), [{ name: "1" }, { name: "2" }]);
  for (const { id } of [...shown].reverse()) await shell.finish(id, { page: id });
  assert.deepEqual((await Promise.all(calls)).map(({ data }) => data), shown.map(({ id }) => id));
  assert.deepEqual(await shell.gates(), [{ name: "signedIn", open: true }]);
});

row("JSDVCRouter addRoute:handler:", async ({ connect }) => {
  const shell = await connect();
  const [pattern, run] = ["action://files/:name", ({ name }) => name];
  await shell.task(pattern, run).registered;
  assert.equal(await shell.invoke("action://files/joker"), "joker");
});

row("JSDVCRouter openURL:", async ({ connect, opened }) => {
  const host = recorder();
  const shell = await connect({ hosts: { native: host } });
  await opened(shell, "native://first");
  const [uri, params, options] = ["native://home/appear", { name: "Jersey" }, { style: "present" }];
  const outcome = shell.open(uri, params, options);
  const [, page] = await host.last(2);
  assert.deepEqual([page.uri, page.params, page.style], [uri, params, "present"]);
  await shell.back();
  assert.equal((await outcome).outcome, "dismissed");
});

row("kJSDVCRouteSegue", async ({ connect, opened, table, write }) => {
  table.routes[4].presentation = { style: "present" };
  write(table);
  const host = recorder();
  const shell = await connect({ hosts: { native: host } });
  await opened(shell, "native://home/appear", {}, { style: "push" });
  await opened(shell, "native://home/appear", {}, { style: "present" });
  await opened(shell, "native://second");
  assert.deepEqual(host.events.map(([, page]) => page.style), ["push", "present", "present"], "presentation");
});

row("kJSDVCRouteSegueNeedNavigation", async ({ connect, opened }) => {
  const shell = await connect({ hosts: { native: recorder() } });
  await opened(shell, "native://first");
  await opened(shell, "native://second", {}, { style: "present", exts: { navigation: false } });
  await opened(shell, "native://thread/7");
  const [first] = (await shell.stack()).pages;
  assert.equal(first.pages[0].pages[0].uri, "native://thread/7", "a push from it is presented");
});

row("kJSDVCRouteAnimated", async ({ connect, opened, table, write }) => {
  table.routes[4].presentation = { animated: false };
  write(table);
  const host = recorder();
  const shell = await connect({ hosts: { native: host } });
  await opened(shell, "native://first", {}, { exts: { animated: false } });
  await opened(shell, "native://second");
  assert.deepEqual(host.events.map(([, page]) => page.exts.animated), [false, false], "presentation");
});

row("kJSDVCRouteBackIndex", async ({ connect, opened }) => {
  const shell = await connect({ hosts: { native: recorder() } });
  const uris = async () => (await shell.stack()).pages.map(({ uri }) => uri.replace("native://", ""));
  for (const uri of ["native://first", "native://second", "native://thread/7"]) await opened(shell, uri);
  await opened(shell, "native://thread/8", {}, { exts: { pop: 1 } });
  assert.deepEqual(await uris(), ["first", "second", "thread/8"]);
  await opened(shell, "native://thread/9", {}, { exts: { pop: "root" } });
  assert.deepEqual(await uris(), ["first", "thread/9"]);
  await opened(shell, "native://second", {}, { style: "root" });
  assert.deepEqual(await uris(), ["second"]);
});

row("kJSDVCRouteSegueBack", async ({ connect, opened }) => {
  const shell = await connect({ hosts: { native: recorder() } });
  for (let number = 1; number <= 7; number++) await opened(shell, `native://thread/${number}`);
  const closed = [await shell.back(), await shell.back({ count: 2 }), await shell.invoke("navigation:back?count=2"), await shell.back({ root: true })];
  assert.deepEqual(closed.map((change) => change.closed.length), [1, 2, 2, 1]);
});

row("kJSDVCRouteBackPage", async ({ connect, opened }) => {
  const shell = await connect({ hosts: { native: recorder() } });
  const { page: id } = await opened(shell, "native://first");
  for (const to of [id, "native://first", "first"]) {
    for (const uri of ["native://second", "native://thread/7"]) await opened(shell, uri);
    assert.equal((await shell.back({ to })).closed.length, 2);
  }
  for (const uri of ["native://second", "native://thread/7"]) await opened(shell, uri);
  const before = "second";
  assert.deepEqual((await shell.back({ before })).page, id);
});

row("/rootTab/:index", async ({ connect, table }) => {
  assert.deepEqual(table.redirects, [{ from: "native://rootTab/:index", to: "navigation:selectTab?index=:index" }]);
  assert.deepEqual(table.tabs, ["native://first", "native://second"], "native://rootTab/:index");
  const host = recorder();
  const shell = await connect({ hosts: { native: host } });
  await shell.selectTab(1);
  await shell.selectTab(0);
  await shell.invoke("native://rootTab/1", { name: "Jersey" });
  const [kind, page] = await host.last(3);
  assert.deepEqual([kind, page.uri, page.params], ["resume", "native://second", { name: "Jersey" }]);
});

row("kJSDVCRouteFromOutside", async ({ connect }) => {
  const host = recorder();
  const shell = await connect({ hosts: { native: host } });
  const uri = "native://first";
  await shell.deliver(uri);
  const [, page] = await host.last();
  assert.deepEqual([page.uri, page.opener], [uri, undefined]);
});

row("setValue:forKey:", async ({ connect, table, write }) => {
  Object.assign(table.routes[2], { "parameters": { name: { type: "string" } }, "strict": true });
  write(table);
  const shell = await connect({ hosts: { native: recorder() } });
  for (const params of [{ name: 7 }, { nmae: "Jersey" }]) {
    await assert.rejects(shell.open("native://home/appear", params), { code: 2422, message: RegExp(Object.keys(params)[0]) });
  }
});

row("a block in the parameters receives the result", async ({ connect }) => {
  const host = { open: ({ id }) => void setTimeout(() => shell.finish("picked", { page: id })), close: () => {} };
  const shell = await connect({ hosts: { native: host } });
  const uri = "native://first";
  const { data } = await shell.open(uri);
  assert.equal(data, "picked");
});

row("jsd_rootViewController", async ({ connect, opened }) => {
  const shell = await connect({ hosts: { native: recorder() } });
  for (const uri of ["native://first", "native://second"]) await opened(shell, uri);
  const { pages } = await shell.stack();
  assert.deepEqual([pages[0].route, pages.at(-1).route], ["first", "second"]);
});

row("JSDVCRouteHomeTab", async ({ command }) => {
  const typed = command("waybridge routes generate routes.json --language typescript --output . && cat *.ts");
  assert.match(typed, /thread/);
});

await runRows();
