// @ts-check
import { Bridge } from "../../bridge/bridge.min.js";
import { openedPage } from "../shared/opened-page.js";
import { byId, element } from "../shared/dom.js";
import { needsApp } from "../shared/frame.js";
import { explain } from "../shared/result.js";
import { sample } from "../shared/sample.js";

const bridge = new Bridge();
const { uri, route: name, params } = openedPage();
needsApp(bridge);

const attempt = (/** @type {Promise<unknown>} */ call) =>
  call.catch((error) => (byId("error", HTMLElement).textContent = explain(error)));

/** @param {Record<string, any> | undefined} route what the table says of this page */
function show(route) {
  const result = route?.result && sample(route.result);
  byId("title", HTMLElement).textContent = route?.title ?? new URL(uri).pathname;
  byId("purpose", HTMLElement).textContent = route?.purpose ?? "No route of the table is this page's: it is shown since its site is the app's.";
  byId("given", HTMLElement).append(...Object.entries({ URI: uri, ...params })
    // The wildcard of the shell's own pattern says what the URI says.
    .filter(([name]) => name !== "*" || route?.parameters?.["*"])
    .flatMap(([name, value]) => [element("dt", {}, route?.parameters?.[name]?.title ?? name), element("dd", {}, typeof value === "string" ? value : JSON.stringify(value))]));
  byId("result", HTMLElement).hidden = result === undefined;
  byId("result", HTMLElement).textContent = JSON.stringify(result, null, 2);
  byId("finish", HTMLElement).textContent = result === undefined ? "Done" : "Finish with this";
  byId("finish", HTMLElement).addEventListener("click", () => attempt(bridge.finish(result)));
  byId("back", HTMLElement).addEventListener("click", () => attempt(bridge.back()));
  // Presses before the listeners are set would be lost.
  byId("main", HTMLElement).hidden = false;
}

show((await bridge.routes().catch(() => [])).find((route) => route.name === name));
