// @ts-check
import assert from "node:assert/strict";
import { test } from "node:test";
import { mockBridge } from "../bridge/mock.js";
import { act, hooks, load, mount, React, renderToString, until } from "./react-hooks.js";
import { resultOf } from "./outcome.js";

const FOREVER = () => new Promise(() => {});

/**
 * A component that only uses a hook. `shown` is what the hook returned in the last render.
 * @param {() => any} hook
 */
function component(hook) {
  const Component = Object.assign(() => {
    Component.shown = hook();
    Component.renders += 1;
    return null;
  }, { shown: /** @type {any} */ (undefined), renders: 0 });
  return Component;
}

/**
 * The requests of a mocked app's clients, except `session.open`.
 * @param {import("../bridge/mock.js").MockBridge} bridge
 */
const requests = (bridge) => bridge.app.calls.map(({ method }) => method).filter((method) => method !== "session.open");

test("useSession shows the state, the session, and why a client has closed", async () => {
  const bridge = mockBridge();
  const Line = component(() => hooks.useSession());
  const Other = component(() => hooks.useSession());
  const root = await mount(bridge, Line, Other);
  await until(() => Line.shown.state === "open");
  assert.equal(Line.shown.session, bridge.session);
  assert.equal(Line.shown, Other.shown);
  await act(() => bridge.close());
  assert.deepEqual([Line.shown.state, Line.shown.session], ["closed", undefined]);
  await root.unmount();
  const absent = mockBridge({}, { reconnect: false });
  absent.app.isDown = true;
  await assert.rejects(absent.ready);
  const Late = component(() => hooks.useSession());
  await mount(absent, Late);
  await until(() => Late.shown.error);
  assert.deepEqual([Late.shown.state, Late.shown.error.kind], ["closed", "noBridge"]);
});

test("a call on demand shows progress, result and error, and its functions stay the same", async () => {
  /** @type {any} */
  let task;
  const bridge = mockBridge({ tasks: { "action://add": (params, call) => new Promise((resolve, reject) => (task = { params, call, resolve, reject })) } });
  const Button = component(() => hooks.useInvoke("action://add", { exts: { from: "hook" } }));
  const root = await mount(bridge, Button);
  const { run } = Button.shown;
  assert.deepEqual(Button.shown, { ...Button.shown, status: "idle", result: undefined, error: undefined, progress: undefined });
  await act(() => void run({ sku: "tea" }));
  assert.equal(Button.shown.status, "pending");
  await until(() => task);
  assert.deepEqual([task.params, task.call.exts], [{ sku: "tea" }, { from: "hook" }]);
  await act(() => task.call.progress(0.5));
  await until(() => Button.shown.progress === 0.5);
  await act(() => task.resolve({ count: 1 }));
  await until(() => Button.shown.status === "success");
  assert.deepEqual([Button.shown.result, Button.shown.progress, Button.shown.run === run], [{ count: 1 }, 0.5, true]);
  await act(() => void run());
  await act(() => task.reject(Object.assign(new Error("sold out"), { code: 17 })));
  await until(() => Button.shown.status === "error");
  assert.deepEqual([Button.shown.error.code, Button.shown.error.message, Button.shown.result], [17, "sold out", undefined]);
  await act(() => Button.shown.reset());
  assert.equal(Button.shown.status, "idle");
  await act(() => assert.rejects(run({ n: Number.NaN }), { code: -32602 }));
  assert.equal(Button.shown.error.kind, "invalidParams");
  assert.deepEqual(requests(bridge), ["router.invoke", "router.invoke"]);
  await root.unmount();
  await bridge.close();
});

test("cancel aborts the task, and an abort of the app's own signal has a typed error", async () => {
  /** @type {AbortSignal[]} */
  const signals = [];
  const bridge = mockBridge({
    tasks: {
      "action://wait": (_, { signal }) => new Promise((_resolve, reject) => {
        signals.push(signal);
        signal.addEventListener("abort", reject);
      }),
    },
  });
  const Button = component(() => hooks.useInvoke("action://wait"));
  await mount(bridge, Button);
  await act(() => void Button.shown.run());
  await until(() => signals.length === 1);
  await act(() => Button.shown.cancel());
  await until(() => Button.shown.status === "cancelled");
  assert.deepEqual([Button.shown.error.code, signals[0].aborted], [-32800, true]);
  const reason = new AbortController();
  reason.abort("no time");
  await act(() => assert.rejects(Button.shown.run({}, { signal: reason.signal }), { kind: "cancelled", cause: "no time" }));
  assert.equal(Button.shown.error.message, "no time");
  assert.equal(signals.length, 1);
  await bridge.close();
});

test("useOpen shows the outcome of the page, and useCall calls a method of it", async () => {
  const bridge = mockBridge({ pages: { "native://address/:id": FOREVER } });
  const Open = component(() => hooks.useOpen("native://address/:id"));
  const Call = component(() => hooks.useCall("p1", "scroll"));
  const root = await mount(bridge, Open, Call);
  await act(() => void Open.shown.run({ id: "a/2" }, { style: "present" }));
  await until(() => Open.shown.progress?.opened);
  assert.deepEqual(bridge.app.calls.at(-1), { method: "router.open", params: { uri: "native://address/a%2F2", params: {}, style: "present" } });
  await act(() => void Call.shown.run({ to: "end" }));
  await until(() => Call.shown.status === "error");
  assert.equal(Call.shown.error.code, 2404);
  await act(() => bridge.finish({ city: "Kyoto" }, { page: Open.shown.progress.opened.page }));
  await until(() => Open.shown.status === "success");
  assert.deepEqual([Open.shown.result.outcome, Open.shown.result.data], ["finished", { city: "Kyoto" }]);
  await root.unmount();
  await bridge.close();
});

test("useResult calls once when mounted twice, again for other parameters, and cancels the earlier call", async () => {
  /** @type {any[]} */
  const calls = [];
  const bridge = mockBridge({ tasks: { "service://quote": (params, { signal }) => new Promise((resolve) => calls.push({ params, signal, resolve })) } });
  await bridge.ready;
  let sku = "mug";
  let enabled = true;
  const hook = () => hooks.useResult("service://quote", { sku }, { enabled });
  const Price = component(hook);
  const root = await mount(bridge, Price);
  assert.equal(Price.shown.status, "pending");
  await until(() => calls.length > 0);
  assert.deepEqual(requests(bridge), ["router.invoke"]);
  sku = "tea";
  await root.show(Price);
  await until(() => calls.length === 2);
  assert.deepEqual(calls.map(({ params, signal }) => [params.sku, signal.aborted]), [["mug", true], ["tea", false]]);
  await act(() => calls[0].resolve("late"));
  await act(() => calls[1].resolve(7));
  await until(() => Price.shown.status === "success");
  assert.equal(Price.shown.result, 7);
  await root.show(Price);
  await act(() => void Price.shown.run());
  await until(() => calls.length === 3);
  await root.unmount();
  await until(() => calls[2].signal.aborted);
  enabled = false;
  const Off = component(hook);
  await mount(bridge, Off);
  assert.equal(Off.shown.status, "idle");
  assert.equal(calls.length, 3);
  await bridge.close();
});

test("a call that an effect makes is sent once, and is cancelled by an unmount only on request", async () => {
  /** @type {AbortSignal[]} */
  const signals = [];
  const bridge = mockBridge({ tasks: { "action://wait": (_, { signal }) => (signals.push(signal), FOREVER()) } });
  await bridge.ready;
  const makes = (/** @type {object} */ options) => component(() => {
    const call = hooks.useInvoke("action://wait", options);
    React.useEffect(() => void call.run(), [call.run]);
    return call;
  });
  const [Kept, Cancelled] = [makes({}), makes({ cancelOnUnmount: true })];
  const root = await mount(bridge, Kept, Cancelled);
  await until(() => signals.length >= 2);
  const { renders } = Kept;
  await root.unmount();
  await until(() => signals[1].aborted);
  assert.deepEqual(requests(bridge), ["router.invoke", "router.invoke"]);
  assert.equal(signals[0].aborted, false);
  assert.equal(Kept.renders, renders);
  await bridge.close();
});

test("a call of a click is sent although its component is unmounted by the same click", async () => {
  const bridge = mockBridge({ tasks: { "action://save": () => 1 } });
  const Button = component(() => hooks.useInvoke("action://save"));
  const root = await mount(bridge, Button);
  const { run } = Button.shown;
  /** @type {Promise<number> | undefined} */
  let saved;
  await act(() => {
    saved = run();
    root.clear();
  });
  assert.equal(await saved, 1);
  await bridge.close();
});

test("components share one subscription, which ends with the last of them", async () => {
  const bridge = mockBridge();
  await bridge.ready;
  /** @type {any[]} */
  const seen = [];
  let name = "first";
  const Counter = component(() => hooks.useEvent("cart.changed", (/** @type {any} */ event) => seen.push([name, event.data])));
  const Both = component(() => hooks.useEvent(["cart.changed", "cart.emptied"], (/** @type {any} */ event) => seen.push(["both", event.topic])));
  const Latest = component(() => hooks.useLatestEvent("cart.changed"));
  const root = await mount(bridge, Counter, Both, Latest);
  const confirmed = bridge.subscribe("cart.changed", () => {});
  await act(() => confirmed.registered);
  await act(() => confirmed());
  name = "second";
  await root.show(Counter, Both, Latest);
  await act(() => bridge.app.publish("cart.changed", 1));
  await until(() => Latest.shown?.data === 1);
  assert.deepEqual(seen, [["second", 1], ["both", "cart.changed"]]);
  assert.deepEqual(bridge.app.calls.slice(1), [
    { method: "events.subscribe", params: { topics: ["cart.changed"] } }, { method: "events.subscribe", params: { topics: ["cart.emptied"] } },
  ]);
  // A component that replaces another one in the same render takes over its subscription.
  const Next = component(() => hooks.useLatestEvent("cart.changed"));
  await root.show(Next);
  await until(() => bridge.app.calls.length === 4);
  assert.deepEqual(bridge.app.calls.at(-1), { method: "events.unsubscribe", params: { topics: ["cart.emptied"] } });
  assert.equal(Next.shown.data, 1);
  await root.show();
  await until(() => bridge.app.calls.length === 5);
  assert.deepEqual(bridge.app.calls.at(-1), { method: "events.unsubscribe", params: { topics: ["cart.changed"] } });
  await act(() => bridge.app.publish("cart.changed", 2));
  assert.equal(seen.length, 2);
  await bridge.close();
});

test("usePage reads the page once, follows its parameters, and finishes it", async () => {
  const shell = mockBridge({}, { hosts: { web: { patterns: ["web://order/:id"], open: () => {}, close: () => {} } } });
  /** @type {any} */
  let id;
  const paid = shell.open("web://order/:id", { id: "7" }, { onProgress: ({ opened }) => (id = opened.page) });
  await until(() => id);
  const guest = shell.guest(await shell.invite("https://shop.example/", { page: id }));
  const [Order, Title] = [component(() => hooks.usePage()), component(() => hooks.usePage())];
  const root = await mount(guest, Order, Title);
  await until(() => Order.shown.status === "open");
  assert.deepEqual([Order.shown.params, Order.shown.page.uri, Title.shown.params], [{ id: "7" }, "web://order/7", { id: "7" }]);
  assert.deepEqual(requests(shell).filter((method) => method === "navigation.contains"), ["navigation.contains"]);
  await act(() => void guest.dispatchEvent(new CustomEvent("resume", { detail: { page: "another", params: {} } })));
  await act(() => void guest.dispatchEvent(new CustomEvent("resume", { detail: { page: id, uri: "web://order/7?tab=2", params: { id: "7", tab: "2" } } })));
  assert.deepEqual([Order.shown.params, Order.shown.page.id], [{ id: "7", tab: "2" }, id]);
  const reads = () => requests(shell).filter((method) => method === "navigation.contains").length;
  assert.equal(reads(), 1);
  // The first visibility is the present one. A page that is shown again may have new parameters.
  await until(() => Title.shown.visibility === "shown");
  await act(() => shell.app.publish("page.visibility", { page: id, visibility: "hidden" }));
  await until(() => Title.shown.visibility === "hidden");
  assert.equal(reads(), 1);
  await act(() => shell.app.publish("page.visibility", { page: id, visibility: "shown" }));
  await until(() => Order.shown.params.tab === undefined);
  assert.equal(reads(), 2);
  await act(() => Order.shown.refresh());
  assert.deepEqual([reads(), Order.shown.visibility], [3, "shown"]);
  await act(() => Order.shown.finish({ paid: true }));
  assert.deepEqual(await resultOf(paid), { paid: true });
  await root.unmount();
  const Alone = component(() => hooks.usePage());
  await mount(shell, Alone);
  await until(() => Alone.shown.status === "absent");
  assert.deepEqual(Alone.shown.params, {});
  await Promise.all([guest.close(), shell.close()]);
  await until(() => Alone.shown.status === "error");
  assert.equal(Alone.shown.error.kind, "closed");
});

test("hosts, tasks and methods are registered once, and another component can replace theirs", async () => {
  const bridge = mockBridge();
  await bridge.ready;
  /** @type {string[]} */
  const log = [];
  const host = (/** @type {string} */ name) => component(() => {
    hooks.useTask("action://who", () => name);
    hooks.useMethod("who", () => name);
    return hooks.useHost("native", { patterns: ["native://a/:id"], close: () => log.push(`${name} closes`), methods: { who: () => name } });
  });
  const [First, Second] = [host("first"), host("second")];
  const root = await mount(bridge, First);
  await until(() => requests(bridge).length >= 2);
  assert.deepEqual(requests(bridge).sort(), ["host.register", "host.register"]);
  const outcome = bridge.open("native://a/:id", { id: "7" });
  await until(() => First.shown.length === 1);
  const [{ id, params }] = First.shown;
  assert.deepEqual(params, { id: "7" });
  assert.deepEqual([await bridge.invoke("action://who"), await bridge.call(id, "who"), await bridge.app.call("who")], ["first", "first", "first"]);
  await act(() => void bridge.open("native://a/:id", { id: "7", zoom: 2 }, { style: "popTo" }));
  await until(() => First.shown[0].params.zoom === 2);
  await root.show(Second);
  assert.equal(Second.shown[0].id, id);
  assert.deepEqual([await bridge.invoke("action://who"), await bridge.call(id, "who"), await bridge.app.call("who")], ["second", "second", "second"]);
  assert.equal(requests(bridge).filter((method) => method.startsWith("host.")).length, 2);
  await act(() => bridge.finish(1, { page: id }));
  assert.deepEqual([(await outcome).outcome, log, Second.shown], ["finished", ["second closes"], []]);
  await root.show();
  await until(() => requests(bridge).filter((method) => method === "host.unregister").length === 2);
  await root.show(First);
  await until(() => requests(bridge).filter((method) => method === "host.register").length === 4);
  await bridge.close();
});

test("a server renders the first state, and hooks without a provider say what is missing", async () => {
  const bridge = mockBridge();
  // A context cannot have two renderers.
  const hooks = await load();
  const All = () => {
    const states = [hooks.useSession().state, hooks.useResult("service://a").status, hooks.useInvoke("action://a").status, hooks.usePage().status];
    return React.createElement("p", null, [...states, hooks.useLatestEvent("a.b")?.data ?? "none", hooks.useHost("native").length].join(" "));
  };
  assert.equal(renderToString(React.createElement(hooks.BridgeProvider, { client: bridge }, React.createElement(All))), "<p>connecting pending idle pending none 0</p>");
  assert.throws(() => renderToString(React.createElement(All)), { message: /render the component inside of <BridgeProvider client=\{bridge\}>/ });
  assert.deepEqual(requests(bridge), []);
  await bridge.close();
});
