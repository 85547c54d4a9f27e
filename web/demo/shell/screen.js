// @ts-check
import { calm } from "../shared/dom.js";
import { slideIn, slideOut } from "./motion.js";
import { technology, visible } from "./stack.js";

/** @typedef {import("./stack.js").Layer} Layer */

/** Modal stacks lie over the bar of the tabs, which has this place; the pages beneath them never reach it. */
const barPlace = 300;

/**
 * The phone's screen: shows the top of the stack. Surfaces of covered pages, and of tabs that wait, stay alive, out of
 * reach. All Flutter pages share one surface, which draws the topmost of them.
 */
export class Screen {
  /** @type {Map<string, HTMLElement>} by page id */
  #surfaces = new Map();
  /** @type {HTMLElement | null} */
  #flutter = null;
  /** Pages that their host has closed, until the stack without them is drawn. */
  #closing = new Set();
  /** @type {Map<HTMLElement, HTMLElement>} what had the focus when a surface was covered */
  #focus = new Map();
  /** @type {HTMLElement | null} */
  #top = null;
  /** Whether a page has been shown. */
  #isStarted = false;
  /** The ids of the pages that were shown last. */
  #known = new Set();
  /** @type {number | null | undefined} the tab that was shown last */
  #tab;

  /**
   * @param {HTMLElement} element
   * @param {HTMLElement} bar the bar of the tabs
   */
  constructor(element, bar) {
    this.element = element;
    this.bar = bar;
    bar.style.zIndex = String(barPlace);
    element.append(bar);
  }

  /**
   * Takes a page's surface; it is seen when the stack has the page.
   * @param {string} id
   * @param {HTMLElement} surface
   */
  add(id, surface) {
    // A new session may give an id again.
    if (this.#closing.delete(id)) this.#surfaces.get(id)?.remove();
    this.#surfaces.set(id, surface);
    this.#append(surface);
  }

  /**
   * @param {string} id of a page that is no Flutter page
   * @returns {HTMLElement | undefined}
   */
  surface(id) {
    return this.#surfaces.get(id);
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
    if (surface) this.#append(surface);
  }

  /**
   * @param {Layer[]} layers bottom first
   * @param {number | null} [tab] the tab whose pages they are; another one than before comes without motion
   */
  show(layers, tab) {
    const last = layers[layers.length - 1];
    const top = last ? this.#surface(last) : null;
    const before = this.#top;
    const holdsFocus = this.#holdsFocus();
    const active = document.activeElement;
    if (before && before !== top && active instanceof HTMLElement && before.contains(active)) {
      this.#focus.set(before, active);
    }
    const switched = tab !== this.#tab;
    this.#tab = tab;
    this.#arrange(layers, top, switched);
    this.#top = top;
    const fresh = last !== undefined && !this.#known.has(last.page.id);
    this.#known = new Set(layers.map(({ page }) => page.id));
    this.#move(before, { top: top === before ? null : top, fresh, still: switched || calm() });
    // The start of the app leaves the focus at the start of the document, before the guided steps.
    if (top && top !== before && holdsFocus && this.#isStarted) this.#restoreFocus(top);
    this.#isStarted ||= top !== null;
  }

  /** @param {HTMLElement} surface */
  #append(surface) {
    surface.classList.add("surface", "away");
    surface.inert = true;
    this.bar.before(surface);
  }

  /** @param {Layer} layer */
  #surface({ page }) {
    return technology(page.uri) === "flutter" ? this.#flutter : (this.#surfaces.get(page.id) ?? null);
  }

  /** Whether the focus is in a page, or nowhere: then it may move to another page. */
  #holdsFocus() {
    const active = document.activeElement;
    if (!active || active === document.body) return true;
    return this.element.contains(active) && !(this.bar.contains(active) && !this.bar.inert);
  }

  /**
   * Puts every surface into its place.
   * @param {Layer[]} layers
   * @param {HTMLElement | null} top
   * @param {boolean} switched
   */
  #arrange(layers, top, switched) {
    const seen = visible(layers);
    const flutter = layers.filter(({ page }) => technology(page.uri) === "flutter");
    const there = new Set(layers.map(({ page }) => page.id));
    for (const [id, surface] of this.#surfaces) {
      if (!there.has(id) && !this.#closing.has(id)) surface.classList.add("away");
    }
    if (this.#flutter && flutter.length === 0) {
      this.#place(this.#flutter, { seen: false, sheet: false, top });
      if (switched) this.#flutter.classList.add("away");
    }
    layers.forEach((layer, position) => {
      const surface = this.#surface(layer);
      if (!surface) return;
      const isFlutter = surface === this.#flutter;
      const isModal = layer.level > 0;
      surface.classList.remove("away");
      surface.classList.toggle("over-bar", isModal);
      surface.classList.toggle("inner", !isFlutter && isModal && !layer.first);
      surface.style.zIndex = String(position + 1 + (isModal ? barPlace : 0));
      const isSeen = isFlutter ? flutter.some(({ page }) => seen.has(page.id)) : seen.has(layer.page.id);
      this.#place(surface, { seen: isSeen, sheet: isModal && !isFlutter, top });
    });
  }

  /**
   * @param {HTMLElement} surface
   * @param {{seen: boolean, sheet: boolean, top: HTMLElement | null}} place
   */
  #place(surface, { seen, sheet, top }) {
    surface.classList.toggle("covered", !seen);
    surface.classList.toggle("sheet", sheet);
    surface.classList.toggle("top", surface === top);
    surface.inert = surface !== top;
    if (sheet) {
      surface.setAttribute("role", "dialog");
      surface.setAttribute("aria-modal", "true");
    }
  }

  /**
   * Lets the new page come and the old ones go.
   * @param {HTMLElement | null} before the surface that was on top
   * @param {{top: HTMLElement | null, fresh: boolean, still: boolean}} change `top`: the surface on top now, if it is
   *   another one; `fresh`: for the first time
   */
  #move(before, { top, fresh, still }) {
    const leaving = [...this.#closing].flatMap((id) => this.#surfaces.get(id) ?? []);
    for (const id of this.#closing) this.#surfaces.delete(id);
    this.#closing.clear();
    // A modal stack that goes as a whole goes down, as it came.
    const endsModal = leaving.some((surface) => surface.matches(".sheet:not(.inner)"));
    if (endsModal) before?.classList.remove("inner");
    for (const surface of leaving) {
      this.#focus.delete(surface);
      surface.inert = true;
      surface.classList.remove("top");
      if (surface !== before || still) {
        surface.remove();
        continue;
      }
      surface.classList.add("leaving");
      slideOut(surface).finished.finally(() => surface.remove());
    }
    if (still) return;
    if (top && fresh && !endsModal && this.#known.size > 1) slideIn(top);
    if (before && before === this.#flutter && before.matches(".covered") && !fresh) slideOut(before);
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
