// A project that uses the package. The compiler checks each line, and the program runs against a mocked app.
import { Bridge, BridgeError, RouteNotFoundError } from "waybridge";
import type { BridgeOptions, Outcome } from "waybridge";
import { Caller } from "waybridge/caller";
import { Host } from "waybridge/host";
import { mockBridge } from "waybridge/mock";
import { events } from "waybridge/events";
import { reload } from "waybridge/reload";
import { resume } from "waybridge/resume";
import { admission } from "waybridge/admission";
import { fallback } from "waybridge/fallback";
import { CallBuilder } from "waybridge/builder";
import { codes } from "waybridge/codes";
import { offerTools } from "waybridge/webmcp";
import type { ModelContext } from "waybridge/webmcp";
import { routes, table } from "./routes.js";
import type { Address, Routes } from "./routes.js";

const seen: unknown[] = [];

/** As a browser with WebMCP declares it. */
const modelContext: ModelContext | undefined = undefined;

// As a page in an app makes it; here there is none.
const options: BridgeOptions = { url: null, table };
const alone = new Bridge<Routes>({ ...options, fallback: { "action://share": ({ title }) => ({ shared: title === "Tea" }) } });
const shared: boolean = (await alone.invoke(routes.share, { title: "Tea" })).shared;
seen.push(shared);
const caller = new Caller<Routes>(options, { events, reload, admission, fallback: fallback({ "service://now": () => 7 }) });
const now: number = await caller.invoke(routes.now);
seen.push(now, await caller.invoke("service://now", {}));
const host = new Host<Routes>({ url: null, methods: { badge: () => 1 } }, { resume });
seen.push(await host.open(routes.cart).catch((error: BridgeError) => error.kind));

const app = mockBridge<Routes>({
  pages: {
    "native://address/:id": ({ id }) => ({ id, street: "Main" }),
    "native://cart": () => null,
    "native://file/*": ({ "*": path }) => path.length > 1,
  },
  tasks: { "action://share": async ({ title, url }) => ({ shared: `${title}${url ?? ""}` === "Tea" }) },
}, { table });
const ended: Outcome<Address | null> = await app.open(routes.address, { id: "a/2", zoom: 3 });
const address: Address | null = ended.outcome === "finished" ? ended.data : null;
const street: string | undefined = address?.street;
seen.push(ended.outcome, address?.id, street, app.app.calls.at(-1)?.params);
const file = await app.open("native://file/*", { "*": ["a", "b"] });
if (file.outcome !== "finished") throw new Error(`${file.outcome} ${file.code}: ${file.message}`);
const isLong: boolean | null = file.data;
seen.push(isLong, await app.canOpen(routes.address, { id: "a2" }));
seen.push((await app.invoke(routes.share, { title: "Tea" }, { timeout: 5000 })).shared);

const heard = new Promise<number>((resolve) => app.addEventListener("cart.changed", ({ detail }) => resolve(detail.data.count), { once: true }));
const also = new Promise<string>((resolve) => app.subscribe("cart.changed", ({ topic, data: { count } }) => resolve(`${topic} ${count}`)));
app.addEventListener("statechange", ({ detail }) => seen.push(detail.state));
app.addEventListener("page.closed", ({ detail }) => seen.push(detail.data.outcome));
app.addEventListener("tablechange", ({ detail: { version, isCurrent } }) => seen.push(version, isCurrent));
await app.subscribe("cart.*", () => {}).registered;
app.app.publish("cart.changed", { count: 2 });
seen.push((await app.publish("cart.changed", { count: 3 }, { retain: 1 })).delivered);
seen.push(await heard, await also);

const scrolled: Promise<string> = app.call("p1", "scroll", { to: "end" });
seen.push(await scrolled.catch((error: unknown) => error instanceof RouteNotFoundError && error.code === codes.noRoute.code));
const refreshed: Promise<{ count: number }> = app.call("p1", "refresh");
refreshed.catch(() => {});
const built: CallBuilder = app.build(routes.address).with("id", "a3");
const opened = await built.open();
if (opened.outcome === "finished") seen.push(opened.data.id);

// Without a type argument everything is as loose as JavaScript.
const loose: Bridge = mockBridge({ tasks: { "action://any": ({ x }) => x } }, {});
seen.push(await loose.invoke("action://any", { x: 1 }), (await loose.invoke("action://any"))?.length);
loose.addEventListener("whatever.topic", ({ detail }) => seen.push(detail.data.anything));
loose.subscribe(["a.b", "c.*"], ({ topic }) => seen.push(topic));
loose.call("p1", "anything", { x: 1 }).catch(() => {});
const lent: Bridge = app;
seen.push(lent.state);
const offer = offerTools(app, modelContext, { filter: ({ kind }) => kind === "task", timeout: 5000 });
await offer.ready;
seen.push(offer.isSupported, offer.tools.length);
offer.stop();
for (const each of [app, loose, alone, caller, host]) await each.close();
console.log(JSON.stringify(seen));
