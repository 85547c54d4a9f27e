// @ts-check
import { byId } from "../shared/dom.js";
import { explain } from "../shared/result.js";
import { place, repair } from "./repair.js";

/** The control that repairs a page by the table, while the app runs. */
export class RepairView {
  #choices = byId("repair", HTMLFieldSetElement);
  #note = byId("repair-note", HTMLElement);
  #busy = false;
  /** @type {string | undefined} where the table sends the page, as far as it is known */
  place;

  /** @param {(method: string, params?: Record<string, unknown>) => Promise<any>} request */
  constructor(request) {
    this.request = request;
    this.#choices.addEventListener("change", ({ target }) => {
      if (target instanceof HTMLInputElement) void this.#change(target.value);
    });
  }

  /** Shows where the table sends the page now. */
  async show() {
    try {
      const told = await this.request("table.get");
      const current = place(told);
      this.place = current;
      for (const input of this.#choices.querySelectorAll("input")) input.checked = input.value === current;
      this.#tell(`Table ${told.version} · ${told.hash}`);
      this.#choices.disabled = this.#busy;
    } catch (error) {
      this.#choices.disabled = true;
      this.#tell(explain(error));
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
      this.#tell(explain(error));
    }
  }

  /** @param {string} text */
  #tell(text) {
    this.#note.textContent = text;
  }
}
