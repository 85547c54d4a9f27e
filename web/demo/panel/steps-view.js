// @ts-check
import { byId } from "../shared/dom.js";
import { duration } from "./duration.js";

/** @typedef {import("./exchanges.js").Exchange} Exchange */

/** The three guided steps. They follow the calls of the app, not the buttons that the user presses. */
export class StepsView {
  /** @type {HTMLElement[]} */
  #items = [...byId("steps", HTMLOListElement).querySelectorAll("li")];
  #status = byId("steps-status", HTMLElement);
  #reload = byId("reload-page", HTMLButtonElement);
  #kill = byId("kill", HTMLButtonElement);
  #panel = byId("steps-panel", HTMLElement);
  #done;
  /** @type {Exchange | undefined} the call that the steps are about: the last call of a web page that opened a page */
  #call;
  #canKill = false;

  /** @param {{reload: (page: string) => void, kill: () => void, done: (isDone: boolean) => void}} actions */
  constructor({ reload, kill, done }) {
    this.#done = done;
    this.#reload.addEventListener("click", () => {
      if (this.#waiting?.page) reload(this.#waiting.page);
    });
    this.#kill.addEventListener("click", () => {
      if (this.#canKill) kill();
    });
    this.#draw();
  }

  /** @param {Exchange[]} running */
  show(running) {
    const calls = running.filter(({ from, opened, words }) => from === "web" && (opened || words.length > 0));
    this.#call = calls[calls.length - 1] ?? this.#call;
    this.#draw();
  }

  /**
   * Whether the server can be killed now.
   * @param {boolean} can
   */
  allowKill(can) {
    this.#canKill = can;
    this.#draw();
  }

  get #waiting() {
    return this.#call?.kind === "request" ? this.#call : undefined;
  }

  #draw() {
    const call = this.#call;
    const broken = (call?.words.length ?? 0) > 0;
    const answered = call !== undefined && call.kind !== "request";
    const done = [call !== undefined && (broken || !answered), broken, broken && answered];
    const current = done.indexOf(false);
    this.#items.forEach((item, place) => {
      item.dataset.done = String(done[place]);
      if (place === current) item.setAttribute("aria-current", "step");
      else item.removeAttribute("aria-current");
    });
    // A disabled button would lose the focus.
    this.#reload.setAttribute("aria-disabled", String(this.#waiting?.page === undefined));
    this.#kill.setAttribute("aria-disabled", String(!this.#canKill));
    const status = current >= 0 ? `Step ${current + 1} of ${done.length}`
      : `Done: the call waited ${duration(call?.milliseconds ?? 0)}, survived the interruption, and received one result.`;
    this.#panel.dataset.done = String(current < 0);
    this.#done(current < 0);
    if (this.#status.textContent !== status) this.#status.textContent = status;
  }
}
