// @ts-check
import { byId, calm } from "../shared/dom.js";

/** @typedef {import("../../bridge/bridge.js").StateChange} StateChange */

const states = { connecting: "Connecting…", open: "", waiting: "Connection lost", closed: "Connection closed" };

/** How the connection of the shell is: a line above the phone, and a curtain before it while there is none. */
export class ConnectionView {
  #line = byId("connection", HTMLElement);
  #curtain = byId("lost", HTMLElement);
  #title = byId("lost-title", HTMLElement);
  #reason = byId("lost-reason", HTMLElement);
  #wait = byId("lost-wait", HTMLElement);
  #button = byId("again", HTMLButtonElement);
  /** Whether there was a session: before the first one there is nothing to hide. */
  #wasOpen = false;
  #closed = false;

  /** @param {{again: () => void, restart: () => void}} actions connect now; begin anew, when nothing else helps */
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
    this.#button.textContent = this.#closed ? "Start again" : state === "connecting" ? "Connecting…" : "Try now";
    for (const animation of this.#wait.getAnimations({ subtree: true })) animation.cancel();
    this.#wait.hidden = this.#closed;
    // While it connects the words stay: a reader would hear them each time.
    if (state === "waiting") {
      this.#say(this.#wasOpen ? "Connection lost" : "No connection", `${why(code, reason, this.#wasOpen && attempt === 1)} ${soon(delay)}`);
      if (delay && !calm()) this.#bar.animate([{ transform: "scaleX(0)" }, { transform: "none" }], { duration: delay });
    } else if (this.#closed) {
      this.#say("Connection closed", why(code, reason, true));
    }
  }

  get #bar() {
    return /** @type {HTMLElement} */ (this.#wait.firstElementChild);
  }

  /**
   * @param {string} title
   * @param {string} text
   */
  #say(title, text) {
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
  const what = ended ? "The connection to the server has ended" : "The server can not be reached";
  return `${what} (${reason && ended ? `${code} ${reason}` : code}).`;
}

/** @param {number | undefined} delay */
function soon(delay = 0) {
  return delay < 1000 ? "Trying again in a moment." : `Trying again in ${Math.round(delay / 1000)} s.`;
}
