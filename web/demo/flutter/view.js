// @ts-check
import { calm, element } from "../shared/dom.js";
import { icon } from "../shared/icons.js";
import { explain } from "../shared/result.js";
import { counter } from "./counter.js";
import { declared } from "./declared.js";
import { me } from "./me.js";
import { profile } from "./profile.js";
import { ripples } from "./ripple.js";

/** @typedef {import("../../bridge/bridge.js").Page} Page */
/** @typedef {import("../../bridge/bridge.js").Bridge} Bridge */

/**
 * The context of a Flutter page.
 * @typedef {object} Context
 * @property {Bridge} bridge
 * @property {(text: string) => void} snack
 * @property {(result: unknown) => void} pop closes the page with a result
 */

/**
 * @typedef {object} Scaffold
 * @property {string} title
 * @property {Node} body
 * @property {Node[]} [actions]
 * @property {() => void} [resumed] it is on top again
 * @property {Record<string, (params: any) => unknown>} [methods] what others may call of it
 */

/** @type {[RegExp, (page: Page, context: Context) => Scaffold][]} */
const routes = [
  [/^flutter:\/\/profile\/[^/]+$/, profile],
  [/^flutter:\/\/counter$/, counter],
  [/^flutter:\/\/me$/, me],
];

const motion = { duration: 280, easing: "cubic-bezier(0.2, 0, 0, 1)" };

/** The pages of the Flutter view, those of all tabs: the one that came to the top last is shown. */
export class FlutterView {
  /** @type {Map<string, HTMLElement>} by page id, the one that is shown last */
  #pages = new Map();
  /** @type {WeakMap<HTMLElement, Scaffold>} */
  #scaffolds = new WeakMap();
  /** @type {WeakMap<HTMLElement, HTMLElement>} what had the focus when a page was covered */
  #focus = new WeakMap();

  /**
   * @param {HTMLElement} element
   * @param {Bridge} bridge
   * @param {(text: string) => void} snack
   */
  constructor(element, bridge, snack) {
    this.element = element;
    this.bridge = bridge;
    this.snack = snack;
    ripples(element);
    addEventListener("focus", () => {
      if (document.activeElement === document.body) this.#restoreFocus();
    });
  }

  /**
   * Throws where there is no such page, which refuses to open it.
   * @param {Page} page
   * @param {() => Promise<import("../shared/sample.js").Route[]>} table asked for a page that this view has no drawing of
   */
  async open(page, table) {
    const address = page.uri.split(/[?#]/, 1)[0];
    const draw = routes.find(([pattern]) => pattern.test(address))?.[1];
    const route = draw ? undefined : (await table()).find(({ name }) => name === page.route);
    if (!draw && !route) throw Object.assign(new Error(`The Flutter view has no page ${address}`), { code: 1404 });
    const attempt = (/** @type {Promise<unknown>} */ call) => void call.catch((error) => this.snack(explain(error)));
    /** @type {Context} */
    const context = {
      bridge: this.bridge,
      snack: this.snack,
      pop: (result) => attempt(this.bridge.finish(result, { page: page.id })),
    };
    const scaffold = draw ? draw(page, context) : declared(page, context, route ?? {});
    const { title, body, actions = [] } = scaffold;
    const back = () => attempt(this.bridge.back({ before: page.id }));
    const drawn = element("section", { class: "page", "data-page": page.id, "aria-label": title },
      element("header", { class: "app-bar" },
        page.style !== "tab" && element("button",
          { class: "icon-button", type: "button", "aria-label": "Back", onclick: back }, icon("arrow")),
        element("h1", { tabindex: -1 }, title),
        ...actions),
      body);
    this.#scaffolds.set(drawn, scaffold);
    this.#keepFocus();
    this.#pages.set(page.id, drawn);
    this.element.append(drawn);
    const over = this.#pages.size > 1 && page.style !== "tab";
    if (over && !calm()) {
      drawn.animate([{ opacity: 0, transform: "translateY(12%)" }, { opacity: 1, transform: "none" }], motion);
    }
    this.#reveal();
    this.#restoreFocus();
  }

  /** @param {string} id */
  close(id) {
    const drawn = this.#pages.get(id);
    if (!drawn) return;
    this.#pages.delete(id);
    drawn.inert = true;
    if (calm()) drawn.remove();
    else drawn.animate([{ opacity: 1 }, { opacity: this.#pages.size ? 0 : 1 }], motion).finished.finally(() => drawn.remove());
    this.#reveal();
    this.#restoreFocus();
  }

  /**
   * A page is on top again, perhaps since its tab is shown.
   * @param {string} id
   */
  resume(id) {
    const drawn = this.#pages.get(id);
    if (!drawn) return;
    this.#keepFocus();
    this.#pages.delete(id);
    this.#pages.set(id, drawn);
    this.#reveal();
    this.#restoreFocus();
    this.#scaffolds.get(drawn)?.resumed?.();
  }

  /**
   * Returns the result of a method of a page.
   * @param {string} id of the page
   * @param {string} method
   * @param {any} params
   */
  call(id, method, params) {
    const drawn = this.#pages.get(id);
    const own = drawn && this.#scaffolds.get(drawn)?.methods?.[method];
    if (!own) throw Object.assign(new Error(`This page has no method ${method}`), { code: 1405 });
    return own(params);
  }

  clear() {
    for (const drawn of this.#pages.values()) drawn.remove();
    this.#pages.clear();
  }

  get #shown() {
    return [...this.#pages.values()].pop();
  }

  /** Remembers what has the focus on the page that is shown. */
  #keepFocus() {
    const active = document.activeElement;
    if (active instanceof HTMLElement && this.#shown?.contains(active)) this.#focus.set(this.#shown, active);
  }

  /** Moves the focus to where it was on the page that is shown; from outside of this view it is not taken. */
  #restoreFocus() {
    const shown = this.#shown;
    if (!shown || !document.hasFocus()) return;
    const target = this.#focus.get(shown) ?? shown.querySelector("h1");
    target?.focus({ preventScroll: true });
  }

  /** Only the page on top can be seen and reached. */
  #reveal() {
    const pages = [...this.#pages.values()];
    pages.forEach((page, position) => {
      page.inert = position < pages.length - 1;
      page.style.zIndex = String(position);
    });
  }
}
