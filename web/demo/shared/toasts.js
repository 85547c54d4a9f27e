// @ts-check
import { element } from "./dom.js";

const shownFor = 4000;

/** Short notices at the foot of the screen, at most three, each for a few seconds. */
export class Toasts {
  /** @param {HTMLElement} region a live region */
  constructor(region) {
    this.region = region;
  }

  /** @param {string} text */
  show(text) {
    const toast = element("p", { class: "toast" }, text);
    this.region.append(toast);
    while (this.region.children.length > 3) this.region.firstElementChild?.remove();
    setTimeout(() => toast.remove(), shownFor);
  }
}
