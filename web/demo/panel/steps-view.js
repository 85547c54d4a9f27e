// @ts-check
import { byId } from "../shared/dom.js";
import { duration } from "./duration.js";

/** @typedef {import("./exchanges.js").Exchange} Exchange */

/** The three steps of the first minute. They follow what happens, whoever presses what. */
export class StepsView {
  /** @type {HTMLElement[]} */
  #items = [...byId("steps", HTMLOListElement).querySelectorAll("li")];
  #status = byId("steps-status", HTMLElement);
  #reload = byId("reload-page", HTMLButtonElement);
  #kill = byId("kill", HTMLButtonElement);
  /** @type {Exchange | undefined} the call that the steps are about: the last of a web page that has opened a page */
  #call;
  #canKill = false;

  /** @param {{reload: (page: string) => void, kill: () => void}} actions */
  constructor({ reload, kill }) {
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
    // They keep the focus that they have, so they are not disabled.
    this.#reload.setAttribute("aria-disabled", String(this.#waiting?.page === undefined));
    this.#kill.setAttribute("aria-disabled", String(!this.#canKill));
    const told = current >= 0 ? `Step ${current + 1} of ${done.length}`
      : `Done: the call waited ${duration(call?.took ?? 0)}, outlived what you broke, and was answered once.`;
    if (this.#status.textContent !== told) this.#status.textContent = told;
  }
}
