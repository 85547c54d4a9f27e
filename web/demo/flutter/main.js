// @ts-check
import { Bridge } from "../../bridge/bridge.min.js";
import { byId } from "../shared/dom.js";
import { needsApp, report } from "../shared/frame.js";
import { explain } from "../shared/result.js";
import { Toasts } from "../shared/toasts.js";
import { FlutterView } from "./view.js";

/** @typedef {import("../../bridge/bridge.js").Page} Page */

const empty = byId("empty", HTMLElement);
const bridge = new Bridge();
needsApp(bridge);
const snacks = new Toasts(byId("snack", HTMLElement));
const view = new FlutterView(byId("pages", HTMLElement), bridge, (text) => snacks.show(text));

// The shell reads the places of the pages from the stack of the server. A response of the server that follows our own
// response proves that the server has changed the stack.
const changed = () => setTimeout(async () => {
  await bridge.stack().catch(() => undefined);
  report({ demo: "changed" });
}, 0);

const { registered } = bridge.host("flutter", {
  async open(/** @type {Page} */ page) {
    await view.open(page, () => bridge.routes());
    changed();
  },
  close(/** @type {Page} */ page) {
    view.close(page.id);
    changed();
  },
  resume(/** @type {Page} */ page) {
    view.resume(page.id);
    changed();
  },
  methods: { add: (params, { page }) => view.call(String(page?.id), "add", params) },
});
bridge.addEventListener("statechange", (event) => {
  const { state } = /** @type {CustomEvent} */ (event).detail;
  empty.textContent = state === "open" ? "No Flutter page is open." : "The Flutter view has no connection.";
  if (state === "waiting") report({ demo: "lost" });
  if (state !== "open") return;
  registered.then(() => report({ demo: "connected" }), (error) => (empty.textContent = explain(error)));
  changed();
});
bridge.addEventListener("close", async () => {
  view.clear();
  // Once the socket itself is gone, the server knows, and the shell can ask it for the stack that is left.
  await bridge.close();
  report({ demo: "closed" });
});
addEventListener("message", (event) => {
  if (event.source === parent && event.origin === location.origin && event.data.demo === "cut") bridge.close();
});
