// @ts-check
import { byId, write } from "./dom.js";

/** The dialog that asks before a change that other people notice. */
export class ConfirmDialog {
  #dialog = byId("confirm", HTMLDialogElement);

  /**
   * @param {{title: string, text: string, yes: string, no: string}} question its texts, and those of its two buttons
   * @returns {Promise<boolean>} whether the person has agreed
   */
  ask({ title, text, yes, no }) {
    write(byId("confirm-title", HTMLElement), title);
    write(byId("confirm-text", HTMLElement), text);
    write(byId("confirm-yes", HTMLElement), yes);
    write(byId("confirm-no", HTMLElement), no);
    const dialog = this.#dialog;
    dialog.returnValue = "no";
    return new Promise((resolve) => {
      dialog.addEventListener("close", () => resolve(dialog.returnValue === "yes"), { once: true });
      dialog.showModal();
    });
  }
}
