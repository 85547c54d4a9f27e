// @ts-check
import { Bridge } from "../../bridge/bridge.min.js";
import { byId } from "../shared/dom.js";
import { needsApp } from "../shared/frame.js";
import { explain } from "../shared/result.js";

const bridge = new Bridge();
const form = byId("form", HTMLFormElement);
const leaving = byId("leaving", HTMLElement);
const keep = byId("keep", HTMLButtonElement);
const discard = byId("discard", HTMLButtonElement);
let isGuarded = false;
needsApp(bridge);

form.addEventListener("submit", (event) => {
  event.preventDefault();
  const fields = new FormData(form);
  attempt(bridge.finish({ stars: Number(fields.get("stars")), text: String(fields.get("text")) }));
});
byId("cancel", HTMLButtonElement).addEventListener("click", () => attempt(bridge.back()));
// From the first change on, the page is asked before anything closes it.
form.addEventListener("input", () => {
  if (!isGuarded) attempt(bridge.setGuard(mayLeave, { timeout: 60000 }));
  isGuarded = true;
});

// Presses before the listeners are set would be lost.
byId("main", HTMLElement).hidden = false;

/**
 * Asks the user whether the page may close.
 * @param {import("../../bridge/bridge.js").Leave} leave
 * @returns {Promise<true | string>} a string is the reason why it stays
 */
function mayLeave({ signal }) {
  leaving.hidden = false;
  keep.focus();
  return new Promise((resolve) => {
    const decide = (/** @type {true | string} */ answer) => {
      leaving.hidden = true;
      resolve(answer);
    };
    keep.onclick = () => decide("the review is not sent");
    discard.onclick = () => decide(true);
    signal.addEventListener("abort", () => decide("nothing closes it any more"));
  });
}

/** @param {Promise<unknown>} call */
function attempt(call) {
  call.catch((error) => {
    // The user has just decided so.
    if (error.kind !== "leaveRefused") byId("error", HTMLElement).textContent = explain(error);
  });
}
