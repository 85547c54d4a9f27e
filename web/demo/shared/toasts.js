// @ts-check
import { element } from "./dom.js";

const shownFor = 4000;

/** Short notices at the top of the screen, at most two, each for a few seconds. Results are at the bottom, so no notice covers them. */
export class Toasts {
  /** @param {HTMLElement} region a live region */
  constructor(region) {
    this.region = region;
  }

  /** @param {string} text */
  show(text) {
    const toast = element("p", { class: "toast" }, text);
    this.region.append(toast);
    while (this.region.children.length > 2) this.region.firstElementChild?.remove();
    setTimeout(() => toast.remove(), shownFor);
  }
}
