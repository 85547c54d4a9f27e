// @ts-check
import { atMost, byId, element, whenOther, write } from "./dom.js";
import { inWords } from "./format.js";
import { focusOn, roving } from "./roving.js";
import { StackView } from "./stack-view.js";

/**
 * The sessions, of which one is looked at. Events: `choose` with its id, or undefined; `list` when they are known; `look` with what
 * `admin.session` tells of the chosen one, and when it was `asked`; `records` only once for each choice.
 */
export class SessionsView extends EventTarget {
  #list = byId("sessions", HTMLUListElement);
  #count = byId("sessions-count", HTMLElement);
  #more = byId("sessions-more", HTMLButtonElement);
  #stack = new StackView();
  #link;
  /** @type {any[]} */
  sessions = [];
  /** How many pages of the list are shown. */
  #pages = 1;
  /** @type {string | undefined} */
  chosen;
  #isChosenByHand = false;
  /** @type {string | undefined} this server, where there are several */
  #server;
  /** Whether what has happened before in the chosen session is still to be asked for. */
  #isToRecall = false;

  /** @param {import("./link.js").Link} link */
  constructor(link) {
    super();
    this.#link = link;
    roving(this.#list, "[role=option]", { moved: (to) => this.choose(to.dataset.session, true) });
    this.#list.addEventListener("click", ({ target }) => {
      const option = target instanceof Element ? target.closest("[role=option]") : null;
      if (option instanceof HTMLElement) this.choose(option.dataset.session, true);
    });
    this.#more.addEventListener("click", () => {
      this.#pages += 1;
      this.refresh();
    });
  }

  /**
   * @param {string | undefined} session
   * @param {boolean} [isByHand]
   */
  choose(session, isByHand = false) {
    this.#isChosenByHand ||= isByHand;
    if (session === this.chosen) return;
    this.chosen = session;
    this.#stack.clear();
    this.#draw(this.sessions, session, this.#server);
    this.dispatchEvent(new CustomEvent("choose", { detail: session }));
    this.recall();
  }

  /** @param {string | undefined} server that tells them; undefined for one alone */
  isOf(server) {
    this.#server = server;
    this.refresh();
  }

  /** The server that has the chosen session, where it is another. */
  get elsewhere() {
    const server = this.sessions.find(({ session }) => session === this.chosen)?.server;
    return this.#server && server !== this.#server ? server : undefined;
  }

  /** Asks what has happened in the chosen session. */
  recall() {
    this.#isToRecall = true;
    this.look();
  }

  refresh = atMost(500, async () => {
    if (!this.#link.isWatching) return;
    try {
      /** @type {any[]} */
      const sessions = [];
      /** @type {any} */
      let told = {};
      for (let page = 0; page < this.#pages && (page === 0 || told.next); page += 1) {
        told = await this.#link.request("admin.sessions", { limit: 50, after: told.next });
        sessions.push(...told.sessions);
      }
      this.sessions = sessions.sort((one, other) => rank(one) - rank(other));
      write(this.#count, `${told.total}`);
      this.#more.hidden = !told.next;
      this.#draw(this.sessions, this.chosen, this.#server);
      this.dispatchEvent(new CustomEvent("list"));
      // The first one with a page is what one wants to see.
      if (!this.#isChosenByHand && !sessions.some((each) => each.session === this.chosen)) {
        this.choose((sessions.find((each) => each.pages > 0) ?? sessions.find((each) => rank(each) < 2))?.session);
      }
    } catch (error) {
      write(this.#count, inWords(error));
    }
  });

  /** Looks at the chosen session again. */
  look = atMost(250, async () => {
    const session = this.chosen;
    if (!session || !this.#link.isWatching) return;
    const isToRecall = this.#isToRecall;
    const asked = Date.now();
    try {
      const { records, ...told } = await this.#link.request("admin.session", { session, records: isToRecall });
      if (session !== this.chosen) return;
      if (isToRecall) this.#isToRecall = false;
      this.#stack.show(told);
      this.dispatchEvent(new CustomEvent("look", { detail: { ...told, asked, records: isToRecall ? records : undefined } }));
    } catch (/** @type {any} */ error) {
      // It has ended: what happened there is still shown.
      if (session === this.chosen && error.code === 2404) this.#stack.clear();
      // Its server may be away.
      else if (session === this.chosen && error.code) this.#stack.fail(inWords(error));
    }
  });

  #draw = whenOther((/** @type {any[]} */ sessions, /** @type {string | undefined} */ chosen, /** @type {string | undefined} */ own) => {
    const hadFocus = this.#list.contains(document.activeElement);
    const options = sessions.map((each) => this.#option(each, own));
    this.#list.replaceChildren(...options);
    const current = options.find((each) => each.dataset.session === chosen) ?? options[0];
    if (current) focusOn(current, options);
    if (hadFocus) current?.focus();
  });

  /**
   * @param {any} session as `admin.sessions` tells it
   * @param {string | undefined} own this server
   */
  #option({ session, user, clients, pages, calls, server }, own) {
    const names = clients.map((/** @type {any} */ { name, client, away }) => `${name ?? client}${away ? " (away)" : ""}`);
    return element("li", { role: "option", "data-session": session, "aria-selected": String(session === this.chosen) },
      element("strong", {}, user ?? names[0] ?? session),
      element("small", {}, session),
      element("span", { class: "notes" }, [
        names.join(", "), pages > 0 && `${pages} ${pages === 1 ? "page" : "pages"}`, calls > 0 && `${calls} waiting`, session === this.#link.session && "this inspector",
        server && (server === own ? "on this server" : `on ${server}`),
      ].filter(Boolean).join(" · ")));
  }
}

/**
 * Where somebody is comes first; inspectors are what one looks for last.
 * @param {any} session
 */
function rank({ clients }) {
  if (clients.length > 0 && clients.every((/** @type {any} */ { name }) => name === "waybridge-inspector")) return 2;
  return clients.some((/** @type {any} */ { away }) => !away) ? 0 : 1;
}
