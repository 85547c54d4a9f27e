// @ts-check
import { element } from "../shared/dom.js";
import { MessageReader } from "./message.js";

/** @typedef {import("./message.js").Who} Who */
/** @typedef {import("./message.js").Direction} Direction */

const kept = 200;

/** The messages as they pass, newest first; the oldest go. While it is paused, messages are counted and not kept. */
export class MessageLog {
  #reader = new MessageReader();
  #paused = false;
  #missed = 0;

  /**
   * @param {HTMLOListElement} list
   * @param {HTMLButtonElement} pause
   * @param {HTMLButtonElement} clear
   * @param {HTMLInputElement} withStack whether the shell's questions for the stack, which follow every change, are shown
   */
  constructor(list, pause, clear, withStack) {
    this.list = list;
    this.pause = pause;
    pause.addEventListener("click", () => this.#toggle());
    clear.addEventListener("click", () => list.replaceChildren());
    withStack.addEventListener("change", () => list.classList.toggle("with-stack", withStack.checked));
  }

  /**
   * @param {Who} who
   * @param {Direction} direction "out" goes to the server
   * @param {string} text
   */
  add(who, direction, text) {
    const { kind, title, detail, body } = this.#reader.read(who, direction, text);
    if (this.#paused) {
      this.#missed += 1;
      this.pause.textContent = `Resume (${this.#missed} missed)`;
      return;
    }
    const arrow = element("span", { class: "message-arrow", role: "img",
      "aria-label": direction === "out" ? "to the server" : "from the server" }, direction === "out" ? "→" : "←");
    const json = element("pre", { tabindex: 0, "aria-label": "Message" });
    const details = element("details", {
      class: "message", "data-kind": kind, "data-direction": direction,
      // Only what is looked at is laid out.
      ontoggle: () => (json.textContent = body),
    },
      element("summary", {},
        element("span", { class: "chip", "data-technology": who === "shell" ? "native" : who }, who),
        arrow,
        element("span", { class: "message-title" }, title),
        element("span", { class: "message-detail" }, detail),
        element("span", { class: "message-kind" }, kind)),
      json);
    this.list.prepend(element("li", { "data-title": title }, details));
    while (this.list.children.length > kept) this.list.lastElementChild?.remove();
  }

  /**
   * What is no message, but belongs among them.
   * @param {string} text
   */
  note(text) {
    this.list.prepend(element("li", { class: "note", role: "status" }, text));
  }

  #toggle() {
    this.#paused = !this.#paused;
    this.#missed = 0;
    this.pause.textContent = this.#paused ? "Resume" : "Pause";
    this.pause.setAttribute("aria-pressed", String(this.#paused));
  }
}
