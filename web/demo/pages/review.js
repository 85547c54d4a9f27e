// @ts-check
import { Bridge } from "../../bridge/bridge.min.js";
import { byId } from "../shared/dom.js";
import { needsApp } from "../shared/frame.js";
import { explain } from "../shared/result.js";

const bridge = new Bridge();
const form = byId("form", HTMLFormElement);
needsApp(bridge);

form.addEventListener("submit", (event) => {
  event.preventDefault();
  const fields = new FormData(form);
  attempt(bridge.finish({ stars: Number(fields.get("stars")), text: String(fields.get("text")) }));
});
byId("cancel", HTMLButtonElement).addEventListener("click", () => attempt(bridge.back()));

// Presses before the listeners are set would be lost.
byId("main", HTMLElement).hidden = false;

/** @param {Promise<unknown>} call */
function attempt(call) {
  call.catch((error) => (byId("error", HTMLElement).textContent = explain(error)));
}
