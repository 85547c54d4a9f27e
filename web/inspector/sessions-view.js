// @ts-check
import { arrange, atMost, byId, element, whenOther, write } from "./dom.js";
import { inWords } from "./format.js";
import { focusOn, rovingTabindex } from "./roving-tabindex.js";
import { StackView } from "./stack-view.js";

/**
 * The list of sessions, of which one is chosen. Events: `choose` with its id, or undefined; `list` when the list has changed; `inspect`
 * with the result of `admin.session` for the chosen one, and when it was requested. It has `records` only once for each choice.
 */
export class SessionsView extends EventTarget {
  #list = byId("sessions", HTMLUListElement);
  #count = byId("sessions-count", HTMLElement);
  #more = byId("sessions-more", HTMLButtonElement);
  #stack = new StackView((client, name) => this.#remove((session) => this.#removal.disconnect(session, client, name)));
  #endButton = byId("session-end", HTMLButtonElement);
  #connection;
  #removal;
  /** @type {Map<string, HTMLLIElement>} the listed options by session */
  #options = new Map();
  /** @type {any[]} */
  sessions = [];
  /** How many pages of the list are shown. */
  #pages = 1;
  /** @type {string | undefined} */
  chosen;
  #isChosenByUser = false;
  /** @type {string | undefined} this server, in a cluster */
  #server;
  /** @type {string | undefined} the session of the demo in this browser */
  #browserSession;
  /** Whether the history of the chosen session is still to be restored. */
  #needsHistory = false;

  /**
   * @param {import("./connection.js").InspectorConnection} connection
   * @param {import("./client-removal.js").ClientRemoval} removal
   * @param {string} [browserSession] the session of the demo in this browser, which is chosen first
   */
  constructor(connection, removal, browserSession) {
    super();
    this.#connection = connection;
    this.#removal = removal;
    this.#browserSession = browserSession;
    rovingTabindex(this.#list, "[role=option]", { moved: (to) => this.choose(to.dataset.session, true) });
    this.#list.addEventListener("click", ({ target }) => {
      const option = target instanceof Element ? target.closest("[role=option]") : null;
      if (option instanceof HTMLElement) this.choose(option.dataset.session, true);
    });
    this.#endButton.addEventListener("click", () => this.#remove((session) => this.#removal.end(session)));
    this.#more.addEventListener("click", () => {
      this.#pages += 1;
      this.refresh();
    });
  }

  /**
   * @param {string | undefined} session
   * @param {boolean} [isByUser]
   */
  choose(session, isByUser = false) {
    this.#isChosenByUser ||= isByUser;
    if (session === this.chosen) return;
    this.chosen = session;
    this.#clear();
    this.#draw(this.sessions, session, this.#server);
    this.dispatchEvent(new CustomEvent("choose", { detail: session }));
    this.restoreHistory();
  }

  /** @param {(session: string) => Promise<void>} removal removes clients of the chosen session */
  async #remove(removal) {
    if (this.chosen) await removal(this.chosen);
    this.refresh();
    this.refreshChosen();
  }

  /** @param {string | undefined} server the connected server; undefined without a cluster */
  isOf(server) {
    this.#server = server;
    this.refresh();
  }

  /** The server that has the chosen session, if it is another one. */
  get otherServer() {
    const server = this.sessions.find(({ session }) => session === this.chosen)?.server;
    return this.#server && server !== this.#server ? server : undefined;
  }

  #clear() {
    this.#endButton.hidden = true;
    this.#stack.clear();
  }

  /** Restores the history of the chosen session. */
  restoreHistory() {
    this.#needsHistory = true;
    this.refreshChosen();
  }

  refresh = atMost(500, async () => {
    if (!this.#connection.isWatching) return;
    try {
      /** @type {any[]} */
      const sessions = [];
      /** @type {any} */
      let response = {};
      for (let page = 0; page < this.#pages && (page === 0 || response.next); page += 1) {
        response = await this.#connection.request("admin.sessions", { limit: 50, after: response.next });
        sessions.push(...response.sessions);
      }
      this.sessions = sessions.sort((one, other) => rank(one) - rank(other));
      write(this.#count, `${response.total}`);
      this.#more.hidden = !response.next;
      this.#draw(this.sessions, this.chosen, this.#server);
      this.dispatchEvent(new CustomEvent("list"));
      // The session of this browser, or the first one with a page, is the most interesting one.
      if (!this.#isChosenByUser && !sessions.some((each) => each.session === this.chosen)) {
        const own = sessions.find(({ session }) => session === this.#browserSession);
        this.choose((own ?? sessions.find((each) => each.pages > 0) ?? sessions.find((each) => rank(each) < 2))?.session);
      }
    } catch (error) {
      write(this.#count, inWords(error));
    }
  });

  /** Refreshes the chosen session. */
  refreshChosen = atMost(250, async () => {
    const session = this.chosen;
    if (!session || !this.#connection.isWatching) return;
    const needsHistory = this.#needsHistory;
    const requestedAt = Date.now();
    try {
      const { records, ...response } = await this.#connection.request("admin.session", { session, records: needsHistory });
      if (session !== this.chosen) return;
      if (needsHistory) this.#needsHistory = false;
      const isRemovable = this.#removal.isPossible(session);
      this.#endButton.hidden = !isRemovable;
      this.#stack.show(response, isRemovable);
      this.dispatchEvent(new CustomEvent("inspect", { detail: { ...response, requestedAt, records: needsHistory ? records : undefined } }));
    } catch (/** @type {any} */ error) {
      // The session has ended. Its calls are still shown.
      if (session === this.chosen && error.code === 2404) this.#clear();
      // The server of the session may be unreachable.
      else if (session === this.chosen && error.code) this.#stack.fail(inWords(error));
    }
  });

  #draw = whenOther((/** @type {any[]} */ sessions, /** @type {string | undefined} */ chosen, /** @type {string | undefined} */ own) => {
    const hadFocus = this.#list.contains(document.activeElement);
    const before = this.#options;
    this.#options = new Map(sessions.map(({ session }) => [session, before.get(session) ?? option(session)]));
    const options = [...this.#options.values()];
    for (const each of sessions) {
      const [title, , notes] = this.#options.get(each.session)?.children ?? [];
      const names = clientNames(each);
      write(title, each.user ?? names[0] ?? each.session);
      write(notes, this.#notes(each, names, own));
    }
    for (const each of options) each.setAttribute("aria-selected", String(each.dataset.session === chosen));
    arrange(this.#list, options);
    const current = this.#options.get(chosen ?? "") ?? options[0];
    if (current) focusOn(current, options);
    if (hadFocus && !this.#list.contains(document.activeElement)) current?.focus();
  });

  /**
   * @param {any} session as `admin.sessions` describes it
   * @param {string[]} names of its clients
   * @param {string | undefined} own this server
   */
  #notes({ session, pages, calls, server }, names, own) {
    return [
      names.join(", "), pages > 0 && `${pages} ${pages === 1 ? "page" : "pages"}`, calls > 0 && `${calls} waiting`,
      session === this.#connection.session && "this inspector", session === this.#browserSession && "this browser",
      server && (server === own ? "on this server" : `on ${server}`),
    ].filter(Boolean).join(" · ");
  }
}

/**
 * @param {any} session as `admin.sessions` describes it
 * @returns {string[]}
 */
function clientNames({ clients }) {
  return clients.map((/** @type {any} */ { name, client, away }) => `${name ?? client}${away ? " (disconnected)" : ""}`);
}

/** @param {string} session */
function option(session) {
  return element("li", { role: "option", "data-session": session },
    element("strong"), element("small", {}, session), element("span", { class: "notes" }));
}

/**
 * Returns the order of a session: connected ones first, inspectors last.
 * @param {any} session
 */
function rank({ clients }) {
  if (clients.length > 0 && clients.every((/** @type {any} */ { name }) => name === "waybridge-inspector")) return 2;
  return clients.some((/** @type {any} */ { away }) => !away) ? 0 : 1;
}
