// @ts-check
import { byId } from "../shared/dom.js";
import { explain } from "../shared/result.js";
import { place, repair } from "./repair.js";

/** The control that changes the target of the address page in the route table while the app runs. */
export class RepairView {
  #choices = byId("repair", HTMLFieldSetElement);
  #note = byId("repair-note", HTMLElement);
  #busy = false;
  #reset = byId("repair-reset", HTMLButtonElement);
  /** @type {string | undefined} the current target of the page, if it is known */
  place;

  /** @param {(method: string, params?: Record<string, unknown>) => Promise<any>} request */
  constructor(request) {
    this.request = request;
    this.#choices.addEventListener("change", ({ target }) => {
      if (target instanceof HTMLInputElement) void this.#change(target.value);
    });
    this.#reset.addEventListener("click", () => {
      if (this.#reset.getAttribute("aria-disabled") === "false") void this.#change("native");
    });
  }

  /** Shows the current target of the page. */
  async show() {
    try {
      const response = await this.request("table.get");
      const current = place(response);
      this.place = current;
      for (const input of this.#choices.querySelectorAll("input")) input.checked = input.value === current;
      this.#showNote(`Table version ${response.version} · ${response.hash}`);
      this.#choices.disabled = this.#busy;
      // A disabled button would lose the focus.
      this.#reset.setAttribute("aria-disabled", String(current === "native"));
    } catch (error) {
      this.#choices.disabled = true;
      this.#reset.setAttribute("aria-disabled", "true");
      this.#showNote(explain(error));
    }
  }

  /** @param {string} wanted */
  async #change(wanted) {
    if (this.#busy) return;
    this.#busy = true;
    try {
      await repair(this.request, wanted);
      this.#busy = false;
      await this.show();
    } catch (error) {
      this.#busy = false;
      await this.show();
      this.#showNote(explain(error));
    }
  }

  /** @param {string} text */
  #showNote(text) {
    this.#note.textContent = text;
  }
}
