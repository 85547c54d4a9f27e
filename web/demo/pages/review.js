// @ts-check
import { byId } from "../shared/dom.js";
import { join } from "../shared/frame.js";
import { explain } from "../shared/result.js";

const bridge = join("demo-review");
const form = byId("form", HTMLFormElement);
if (!bridge) {
  byId("alone", HTMLElement).hidden = false;
  for (const button of document.querySelectorAll("button")) button.disabled = true;
}

form.addEventListener("submit", (event) => {
  event.preventDefault();
  const fields = new FormData(form);
  attempt(bridge?.finish({ stars: Number(fields.get("stars")), text: String(fields.get("text")) }));
});
byId("cancel", HTMLButtonElement).addEventListener("click", () => attempt(bridge?.back()));

// What is pressed before anybody listens would be lost.
byId("main", HTMLElement).hidden = false;

/** @param {Promise<unknown> | undefined} call */
function attempt(call) {
  call?.catch((error) => (byId("error", HTMLElement).textContent = explain(error)));
}
