/** The rows of web/docs/therouter-android.md that need no Swift; the others are in Tests/WaybridgeTestingTests. */
import assert from "node:assert";
import { DeclinedError } from "../../../web/bridge/bridge.js";
import { recorder, row, runRows } from "./rows.mjs";

const uri = "app://user/7";
/** A host that finishes each page at once with a result. */
const answering = (client, result) => ({ open: (page) => void setTimeout(() => client().finish(result(page), { page: page.id })), close: () => {} });

// Open pages.

row("TheRouter.build", async ({ connect }) => {
  const shell = await connect({ hosts: { app: answering(() => shell, (page) => page.uri) } });
  assert.equal((await shell.build(uri).open()).data, uri);
});

row("withInt", async ({ connect }) => {
  const shell = await connect({ hosts: { app: answering(() => shell, ({ params }) => params) } });
  const call = shell.build("app://user/1").with("id", 7).with({ name: "Ada" });
  assert.deepEqual((await call.open()).data, { id: 7, name: "Ada" });
  await assert.rejects(shell.build(uri).with({ name: 7 }).open(), { code: 2422 });
});

row("navigation", async ({ connect }) => {
  const shell = await connect({ hosts: { app: answering(() => shell, () => "followed") } });
  const { data } = await shell.build(uri).open();
  assert.equal(data, "followed");
});

row("NavigationCallback", async ({ connect }) => {
  const shell = await connect({ hosts: { app: recorder() } });
  const { data } = await shell.build(uri).onProgress(({ opened }) => shell.finish("seen", { page: opened.page })).open();
  assert.equal(data, "seen");
  await assert.rejects(shell.build("other://nowhere").open(), { code: 2404 });
});

row("defaultNavigationCallback", async ({ connect, opened }) => {
  const shell = await connect({ hosts: { app: recorder() } });
  const topics = [];
  const stop = shell.subscribe(["page.opened", "route.failed"], ({ topic }) => topics.push(topic));
  await stop.registered;
  await opened(shell, uri);
  await assert.rejects(shell.open("other://nowhere"));
  await shell.request("$/ping");
  assert.deepEqual(topics, ["page.opened", "route.failed"]);
});

row("addFlags", async ({ connect, opened }) => {
  const shell = await connect({ hosts: { app: recorder() } });
  for (const each of [uri, "app://home"]) await opened(shell, each);
  await new Promise((onProgress) => shell.build(uri).style("popTo").onProgress(onProgress).open().catch(() => {}));
  assert.deepEqual((await shell.stack()).pages.map(({ route }) => route), ["user"]);
});

row("withInAnimation", async ({ connect }) => {
  const shell = await connect({ hosts: { app: answering(() => shell, ({ exts }) => exts) } });
  assert.deepEqual((await shell.build(uri).exts("animated", false).open()).data, { animated: false });
});

row("createIntent", async ({ connect, opened }) => {
  const shown = [];
  const shell = await connect({ hosts: { app: { open(page) { shown.push(page.route); }, close: () => {} } } });
  await opened(shell, uri);
  assert.deepEqual(shown, ["user"]);
});

row("getUrlWithParams", async ({ connect, opened }) => {
  const host = recorder();
  const shell = await connect({ hosts: { app: host } });
  await opened(shell, "app://user/7?name=Ada");
  const [, page] = await host.last();
  assert.equal(page.uri, "app://user/7?name=Ada");
});

row("pending", async ({ connect }) => {
  const shell = await connect();
  await shell.deliver(uri);
  const host = recorder();
  shell.host("app", host);
  assert.equal((await host.last())[1].uri, uri);
});

row("Navigator.pop", async ({ connect, opened }) => {
  const shell = await connect({ hosts: { app: recorder() } });
  for (let id = 1; id <= 4; id++) await opened(shell, `app://user/${id}`);
  assert.equal((await shell.back()).closed.length, 1);
  assert.equal((await shell.back({ count: 2 })).closed.length, 2);
});

row("getPathStack", async ({ connect, opened }) => {
  const shell = await connect({ hosts: { app: recorder() } });
  await opened(shell, uri);
  await opened(shell, "app://home", {}, { style: "present" });
  const { pages } = await shell.stack();
  assert.deepEqual([pages[0].route, pages[0].pages[0].route], ["user", "home"]);
});

row("composable", async ({ connect, opened }) => {
  const views = { user: (params) => `<user id="${params.id}">` };
  const shown = [];
  const shell = await connect({ hosts: { app: { open(page) { shown.push(views[page.route](page.params)); }, close: () => {} } } });
  await opened(shell, uri);
  assert.deepEqual(shown, ['<user id="7">']);
});

// Routes.

row("Route", async ({ connect, table }) => {
  const [{ "pattern": pattern }, { "patterns": patterns }] = table.routes;
  const shell = await connect();
  for (const each of [pattern, ...patterns]) assert.equal((await shell.explain(each.replace(":id", "7"))).route.pattern, each);
});

row("Route.action", async ({ connect, table }) => {
  const { "kind": kind } = table.routes[2];
  const shell = await connect({ tasks: { "action://scan": () => "ran" } });
  assert.deepEqual([kind, await shell.invoke("action://scan")], ["task", "ran"]);
});

row("Route.description", async ({ connect }) => {
  const shell = await connect();
  const { purpose, parameters } = (await shell.routes())[1];
  assert.deepEqual([purpose, parameters.name.default], ["Shows a user", "nobody"]);
});

row("RouteItem", async ({ connect, opened }) => {
  const host = recorder();
  const shell = await connect({ hosts: { app: host } });
  await opened(shell, uri);
  const [, page] = await host.last();
  assert((await shell.routes()).some(({ name }) => name === page.route));
});

row("addRouteItem", async ({ connect }) => {
  const shell = await connect();
  const route = { name: "added", pattern: "app://added", kind: "page" };
  await shell.request("table.update", { operations: [{"op": "add", "route": route}] });
  assert.equal((await shell.explain("app://added")).route.name, "added");
});

row("matchRouteMap", async ({ connect }) => {
  const shell = await connect();
  assert.equal((await shell.explain(uri)).route.name, "user");
});

row("RegexpKeyedMap", async ({ connect, table, write }) => {
  write({ ...table, routes: [...table.routes, { name: "rest", pattern: "app://user/*", kind: "page" }] });
  const shell = await connect();
  // :id is an integer here, and * is the rest.
  for (const [each, name] of [[uri, "user"], ["app://user/tea", "rest"], ["app://user/7/posts", "rest"]]) assert.equal((await shell.explain(each)).route.name, name);
});

row("setOnRouteMapChangedListener", async ({ connect }) => {
  const shell = await connect();
  const changed = new Promise((resolve) => shell.addEventListener("table.changed", ({ detail }) => resolve(detail.data.version)));
  await shell.request("table.update", { version: "1.0.1", operations: [{ op: "remove", route: "scan" }] });
  assert.equal(await changed, "1.0.1");
});

row("initRouteMap", async ({ serve, connect }) => {
  await serve(); // waybridge serve --table routes.json
  assert.equal((await (await connect()).routes()).length, 3);
});

// Interceptors.

row("addNavigatorPathFixHandle", async ({ connect }) => {
  const shell = await connect();
  await shell.request("table.update", { operations: [{"op": "redirect", "from": "app://old/:id", "to": "app://user/:id"}] });
  assert.deepEqual((await shell.explain("app://old/7")).redirects, [uri]);
});

row("addPathReplaceInterceptor", async ({ connect }) => {
  const shell = await connect();
  const [from, to] = ["app://start", "app://home"];
  await shell.request("table.update", { operations: [{"op": "redirect", "from": from, "to": to}] });
  assert.equal((await shell.explain(from)).route.name, "home");
  await shell.request("table.update", { operations: [{"op": "unredirect", "from": from}] });
  assert.equal((await shell.explain(from)).route, null);
});

// Parameters of a page.

row("Autowired", async ({ connect, opened }) => {
  const host = recorder();
  const shell = await connect({ hosts: { app: host } });
  await opened(shell, uri);
  const [, page] = await host.last();
  assert.deepEqual(page.params, { id: 7, name: "nobody" });
});

row("Autowired.required", async ({ connect, table, write }) => {
  write({ ...table, "routes": [{ "name": "user", "pattern": "app://user", "kind": "page", "parameters": { "id": { "type": "integer" } }, "required": ["id"] }] });
  const shell = await connect({ hosts: { app: recorder() } });
  await assert.rejects(shell.open("app://user"), { code: 2422, message: /id/ });
});

// Actions.

row("addActionInterceptor", async ({ connect }) => {
  const shell = await connect();
  const run = ({ code }) => ({ scanned: code });
  await shell.task("action://scan", run).registered;
  assert.deepEqual(await shell.invoke("action://scan", { code: 7 }), { scanned: 7 });
});

row("an action interceptor returns false: the next one runs", async ({ connect }) => {
  const first = await connect({ tasks: { "action://scan": () => "next" } });
  const { session, joinToken: token } = first.session;
  await connect({
    join: { session, token },
    tasks: {
      "action://scan": () => {
        throw new DeclinedError();
      },
    },
  });
  assert.equal(await first.invoke("action://scan"), "next");
});

row("removeActionInterceptor", async ({ connect }) => {
  const shell = await connect();
  const run = () => "ran";
  const stop = shell.task("action://scan", run);
  await stop.registered;
  assert.equal(await shell.invoke("action://scan"), "ran");
  await stop();
  await assert.rejects(shell.invoke("action://scan"), { code: 2504 });
});

row("action", async ({ connect }) => {
  const shell = await connect({ tasks: { "action://scan": (params) => params } });
  assert.deepEqual(await shell.invoke("action://scan", { code: 7 }), { code: 7 });
});

row("isRouterAction", async ({ connect }) => {
  const shell = await connect({ tasks: { "action://scan": () => assert.fail() } });
  const uri = "action://scan";
  assert.equal((await shell.canOpen(uri)).kind, "task");
});

// Services and start.

row("TheRouter.init", async ({ connect }) => {
  const shell = await connect();
  await shell.ready;
  assert.equal(shell.state, "open");
});

row("TheRouterLifecycleCallback", async ({ connect, opened }) => {
  const shell = await connect({ hosts: { app: recorder() } });
  const events = [];
  const stop = shell.subscribe(["page.opened", "page.closed", "page.visibility"], ({ topic, data }) => events.push([topic, data.visibility].join(" ").trim()));
  await stop.registered;
  await opened(shell, "app://home");
  await opened(shell, uri);
  await shell.back();
  await shell.request("$/ping");
  for (const each of ["page.opened", "page.closed", "page.visibility shown", "page.visibility hidden"]) assert(events.includes(each), events.join());
});

row("isDebug", async ({ serve, connect }) => {
  const server = await serve("--log-level", "debug" /* waybridge serve --log-level debug */);
  const shell = await connect();
  await assert.rejects(shell.open("other://nowhere"));
  await server.logged(/ debug .*nowhere/);
});

row("HistoryRecorder", async ({ connect, opened }) => {
  const shell = await connect({ hosts: { app: recorder() } });
  const { session } = shell.session;
  await shell.request("admin.watch", { session });
  await opened(shell, uri);
  const { records } = await shell.request("admin.session", { session });
  assert(JSON.stringify(records).includes(uri));
});

await runRows();
