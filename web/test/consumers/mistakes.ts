// Each line that ends with the number of an error must have that error, and no other line has any. "or": depends on the module resolution.
import { Bridge } from "waybridge";
import { Caller } from "waybridge/caller";
import { mockBridge } from "waybridge/mock";
import { BridgeProvider, createHooks } from "waybridge/react";
import { nothing } from "waybridge/nothing"; // TS2307
import { Client } from "waybridge/dist/session/client.js"; // TS2307 or TS7016
import { routes } from "./routes.js";
import type { Routes } from "./routes.js";

export const inside = [nothing, Client];
const bridge = new Bridge<Routes>();
const caller = new Caller<Routes>();

// Parameters.
void bridge.open(routes.address, { idd: "a2" }); // TS2345
void bridge.open(routes.address, { id: "a2", zom: 1 }); // TS2345
void bridge.open(routes.address, { id: 2 }); // TS2322
void bridge.open(routes.address, {}); // TS2345
void bridge.open(routes.address); // TS2554
void bridge.open(routes.cart, { x: 1 }, { animated: true }); // TS2345
void bridge.invoke(routes.share, { titel: "Tea" }); // TS2345
void caller.invoke(routes.share, { url: "https://example.org" }); // TS2345
void bridge.canOpen(routes.address, { idd: "a2" }); // TS2345

// Routes.
void bridge.open("native://adress/:id", { id: "a2" }); // TS2345
void bridge.open(routes.share, { title: "Tea" }); // TS2345
void bridge.invoke(routes.adress, { id: "a2" }); // TS2551
void caller.invoke(routes.address, { id: "a2" }); // TS2345

// Results.
const ended = await bridge.open(routes.address, { id: "a2" });
ended.data; // TS2339
if (ended.outcome === "dismissed") ended.data; // TS2339
if (ended.outcome === "finished") ended.data.street; // TS2531
if (ended.outcome === "finished") ended.data?.stret; // TS2551
if (ended.outcome === "finishd") void ended; // TS2367
if (ended.outcome !== "finished") ended.data; // TS2339
export const street: string | undefined = ended.outcome === "finished" ? ended.data?.street : ended.message;
export const closed: "finished" = ended.outcome; // TS2322
const loose = await new Bridge().open("native://any");
loose.data; // TS2339
if (loose.outcome === "finished") loose.data.anything;
(await bridge.invoke(routes.share, { title: "Tea" })).shard; // TS2551
export const shared: string = (await caller.invoke(routes.share, { title: "Tea" })).shared; // TS2322

// Topics.
bridge.addEventListener("cart.change", ({ detail }) => detail); // TS2345
bridge.addEventListener("statchange", ({ detail }) => detail); // TS2345
bridge.removeEventListener("statchange", () => {}); // TS2345
bridge.addEventListener("cart.changed", ({ detail }) => detail.data.cont); // TS2551
caller.addEventListener("statechange", ({ detail }) => detail.stat); // TS2551
bridge.subscribe("cart.chnged", () => {}); // TS2345
void bridge.publish("cart.chnged", { count: 1 }); // TS2345
void bridge.publish("cart.*", { count: 1 }); // TS2345
void bridge.publish("page.opened", {}); // TS2345
void bridge.publish("cart.changed", { cont: 1 }); // TS2345
void bridge.publish("cart.changed"); // TS2554
new Bridge().addEventListener("statchange", () => {}); // TS2345
new Caller().addEventListener("expires", () => {}); // TS2345
new Bridge().addEventListener("close", ({ detail }) => detail.reasn); // TS2551
bridge.subscribe("cart.changed", ({ data: { cont } }) => cont); // TS2339

// Methods of pages.
void bridge.call("p1", "scrol", { to: "end" }); // TS2345
void bridge.call("p1", "scroll", { too: "end" }); // TS2345
void bridge.call("p1", "scroll"); // TS2554
(await caller.call("p1", "refresh")).cont; // TS2551

// Mocks.
mockBridge<Routes>({ tasks: { "action://shar": () => ({ shared: true }) } }); // TS2322
mockBridge<Routes>({ tasks: { "action://share": () => ({ shard: true }) } }); // TS2322
mockBridge<Routes>({ pages: { "native://address/:id": ({ idd }) => ({ id: idd }) } }); // TS2339
mockBridge<Routes>().app.publish("cart.changed", { cont: 1 }); // TS2345
new Bridge<Routes>({ tabel: { version: "1" } }); // TS2345

// Hooks.
const hooks = createHooks<Routes>();
hooks.useOpen(routes.share); // TS2345
hooks.useOpen(routes.address, { stile: "push" }); // TS2345
void hooks.useOpen(routes.address).run({ idd: "a2" }); // TS2345
void hooks.useInvoke(routes.share).run(); // TS2554
hooks.useInvoke(routes.share).result.shared; // TS2532
hooks.useResult(routes.share); // TS2554
hooks.useResult(routes.now, {}, { key: "k" }); // TS2345
hooks.useCall("p1", "scrol"); // TS2345
hooks.useEvent("cart.chnged", () => {}); // TS2345
hooks.useEvent("cart.changed", ({ data }) => data.cont); // TS2551
hooks.useLatestEvent("cart.changed")?.data.cont; // TS2551
hooks.usePage<typeof routes.share>(); // TS2344
void hooks.usePage<typeof routes.address>().finish({ idd: "a2" }); // TS2345
hooks.usePage<typeof routes.address>().params.zom; // TS2551
if (hooks.useSession().state === "opened") void hooks; // TS2367
hooks.useHost("native", { opened: () => {} }); // TS2345
BridgeProvider({ bridge }); // TS2345
