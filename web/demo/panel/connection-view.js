// @ts-check
import { byId, calm, write } from "../shared/dom.js";

/** @typedef {import("../../bridge/bridge.js").StateChange} StateChange */

const states = { connecting: "Connecting…", open: "", waiting: "Connection lost", closed: "Connection closed" };

/** The connection state of the shell: a line above the phone, and an overlay on the phone while there is no connection. */
export class ConnectionView {
  #line = byId("connection", HTMLElement);
  #curtain = byId("lost", HTMLElement);
  #title = byId("lost-title", HTMLElement);
  #reason = byId("lost-reason", HTMLElement);
  #wait = byId("lost-wait", HTMLElement);
  #button = byId("again", HTMLButtonElement);
  /** Whether there was a session. Before the first one there is nothing to cover. */
  #wasOpen = false;
  #closed = false;

  /** @param {{again: () => void, restart: () => void}} actions `again` connects now; `restart` reloads the demo */
  constructor({ again, restart }) {
    this.#button.addEventListener("click", () => (this.#closed ? restart() : again()));
  }

  /**
   * @param {StateChange} change
   * @param {string | undefined} session its id
   */
  show({ state, attempt, delay, code, reason }, session) {
    this.#wasOpen ||= state === "open";
    this.#closed = state === "closed";
    this.#line.dataset.state = state === "open" ? "connected" : state;
    this.#line.textContent = state === "open" ? `Session ${session}` : states[state];
    this.#curtain.hidden = state === "open" || (state === "connecting" && !this.#wasOpen);
    write(this.#button, this.#closed ? "Start again" : state === "connecting" ? "Connecting…" : "Reconnect now");
    for (const animation of this.#wait.getAnimations({ subtree: true })) animation.cancel();
    this.#wait.hidden = this.#closed;
    // The text stays while connecting, so that a screen reader does not repeat it.
    if (state === "waiting") {
      this.#show(this.#wasOpen ? "Connection lost" : "No connection", `${why(code, reason, this.#wasOpen && attempt === 1)} ${soon(delay)}`);
      if (delay && !calm()) this.#bar.animate([{ transform: "scaleX(0)" }, { transform: "none" }], { duration: delay });
    } else if (this.#closed) {
      this.#show("Connection closed", why(code, reason, true));
    }
  }

  get #bar() {
    return /** @type {HTMLElement} */ (this.#wait.firstElementChild);
  }

  /**
   * @param {string} title
   * @param {string} text
   */
  #show(title, text) {
    this.#title.textContent = title;
    this.#reason.textContent = text;
  }
}

/**
 * @param {number | undefined} code
 * @param {string | undefined} reason
 * @param {boolean} ended or else there was no connection that could end
 */
function why(code, reason, ended) {
  const what = ended ? "The connection to the server has ended" : "The server cannot be reached";
  return `${what} (${reason && ended ? `${code} ${reason}` : code}).`;
}

/** @param {number | undefined} delay */
function soon(delay = 0) {
  return delay < 1000 ? "Reconnecting soon." : `Reconnecting in ${Math.round(delay / 1000)} s.`;
}
