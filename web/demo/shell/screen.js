// @ts-check
import { calm } from "../shared/dom.js";
import { technology, visible } from "./stack.js";

/** @typedef {import("./stack.js").Layer} Layer */

const arriving = {
  push: [{ transform: "translateX(100%)" }, { transform: "none" }],
  present: [{ transform: "translateY(100%)" }, { transform: "none" }],
};
const motion = { duration: 280, easing: "cubic-bezier(0.22, 0.8, 0.3, 1)" };

/**
 * @param {HTMLElement} surface
 * @returns {Animation | undefined}
 */
function slideOut(surface) {
  if (calm()) return undefined;
  const sheet = surface.classList.contains("sheet");
  const moving = (sheet && surface.querySelector(".panel")) || surface;
  if (sheet) surface.animate([{}, { backgroundColor: "transparent" }], motion);
  return moving.animate([...(sheet ? arriving.present : arriving.push)].reverse(), motion);
}

/**
 * The phone's screen: shows the top of the stack. Surfaces of covered pages stay alive, out of reach. All Flutter
 * pages share one surface, which draws the topmost of them.
 */
export class Screen {
  /** @type {Map<string, HTMLElement>} by page id */
  #surfaces = new Map();
  /** @type {HTMLElement | null} */
  #flutter = null;
  /** Pages whose host was told to close them, until the stack without them is drawn. */
  #closing = new Set();
  /** @type {Map<HTMLElement, HTMLElement>} what had the focus when a surface was covered */
  #focus = new Map();
  /** @type {HTMLElement | null} */
  #top = null;
  /** The ids of the pages that were shown last. */
  #known = new Set();

  /** @param {HTMLElement} element */
  constructor(element) {
    this.element = element;
  }

  /**
   * Takes a page's surface; it is seen when the stack has the page.
   * @param {string} id
   * @param {HTMLElement} surface
   */
  add(id, surface) {
    // A new session may give an id again.
    if (this.#closing.delete(id)) this.#surfaces.get(id)?.remove();
    surface.classList.add("surface");
    surface.inert = true;
    this.#surfaces.set(id, surface);
    this.element.append(surface);
  }

  /** @param {string} id */
  remove(id) {
    this.#closing.add(id);
  }

  /**
   * The surface of all Flutter pages.
   * @param {HTMLElement | null} surface
   */
  set flutter(surface) {
    if (this.#flutter === this.#top) this.#top = null;
    this.#flutter?.remove();
    this.#flutter = surface;
    if (!surface) return;
    surface.classList.add("surface");
    surface.inert = true;
    this.element.append(surface);
  }

  /** @param {Layer[]} layers bottom first */
  show(layers) {
    const seen = visible(layers);
    const last = layers[layers.length - 1];
    const top = last ? this.#surface(last) : null;
    const before = this.#top;
    const holdsFocus = this.#holdsFocus();
    if (before && before !== top && document.activeElement instanceof HTMLElement && holdsFocus) {
      this.#focus.set(before, document.activeElement);
    }
    const flutterSeen = layers.some(({ page }) => seen.has(page.id) && technology(page.uri) === "flutter");
    if (this.#flutter) this.#place(this.#flutter, flutterSeen, false, top);
    layers.forEach((layer, position) => {
      const surface = this.#surface(layer);
      if (!surface) return;
      const isFlutter = surface === this.#flutter;
      surface.style.zIndex = String(position + 1);
      if (!isFlutter) this.#place(surface, seen.has(layer.page.id), layer.level > 0, top);
    });
    this.#top = top;
    const fresh = last !== undefined && !this.#known.has(last.page.id);
    this.#known = new Set(layers.map(({ page }) => page.id));
    if (top && fresh && top !== before) this.#enter(top);
    if (before && before === this.#flutter && !flutterSeen && !fresh) slideOut(before);
    this.#leave(before);
    if (top && top !== before && holdsFocus) this.#restoreFocus(top);
  }

  /** @param {Layer} layer */
  #surface({ page }) {
    return technology(page.uri) === "flutter" ? this.#flutter : (this.#surfaces.get(page.id) ?? null);
  }

  /** Whether moving the focus would take it from nobody outside the phone. */
  #holdsFocus() {
    const active = document.activeElement;
    return !active || active === document.body || this.element.contains(active);
  }

  /**
   * @param {HTMLElement} surface
   * @param {boolean} seen
   * @param {boolean} modal
   * @param {HTMLElement | null} top
   */
  #place(surface, seen, modal, top) {
    surface.classList.toggle("covered", !seen);
    surface.classList.toggle("sheet", modal);
    surface.classList.toggle("top", surface === top);
    surface.inert = surface !== top;
    if (modal) {
      surface.setAttribute("role", "dialog");
      surface.setAttribute("aria-modal", "true");
    }
  }

  /** @param {HTMLElement} surface */
  #enter(surface) {
    if (calm() || this.#known.size <= 1) return;
    const sheet = surface.classList.contains("sheet");
    const moving = sheet ? surface.querySelector(".panel") : surface;
    moving?.animate(sheet ? arriving.present : arriving.push, motion);
    if (sheet) surface.animate([{ backgroundColor: "transparent" }, {}], motion);
  }

  /** @param {HTMLElement | null} before the surface that was on top */
  #leave(before) {
    for (const id of this.#closing) {
      const surface = this.#surfaces.get(id);
      this.#surfaces.delete(id);
      if (!surface) continue;
      this.#focus.delete(surface);
      surface.inert = true;
      surface.classList.remove("top");
      if (surface !== before || calm()) {
        surface.remove();
        continue;
      }
      surface.classList.add("leaving");
      slideOut(surface)?.finished.finally(() => surface.remove());
    }
    this.#closing.clear();
  }

  /** @param {HTMLElement} surface */
  #restoreFocus(surface) {
    const kept = this.#focus.get(surface);
    this.#focus.delete(surface);
    const frame = surface instanceof HTMLIFrameElement ? surface : surface.querySelector("iframe");
    const target = kept?.isConnected ? kept : (frame ?? surface.querySelector("[data-focus]"));
    target?.focus({ preventScroll: true });
  }
}
