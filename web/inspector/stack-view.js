// @ts-check
import { byId, element, write } from "./dom.js";
import { duration, short, technology } from "./format.js";

/** @typedef {{id: string, uri: string, route?: string | null, style: string, host: string, pages?: Page[]}} Page */

/** The stack of a session: the top page first, and a modal stack in front of the page that presents it. */
export class StackView {
  #phone = byId("stack", HTMLElement);
  #note = byId("stack-note", HTMLElement);
  #members = byId("members", HTMLElement);
  #drawn = "";
  /** @type {Map<string, HTMLElement>} the elements that show how long a client has been disconnected */
  #absences = new Map();
  #disconnect;

  /** @param {(client: string, name: string) => void} disconnect is called when the button of a client is pressed */
  constructor(disconnect) {
    this.#disconnect = disconnect;
  }

  clear() {
    this.#drawn = "";
    this.#note.textContent = "";
    this.#phone.replaceChildren(element("p", { class: "empty" }, "Select a session."));
    this.#members.replaceChildren();
  }

  /** @param {string} reason the reason why the shown stack may be outdated */
  fail(reason) {
    this.#drawn = "";
    write(this.#note, reason);
  }

  /**
   * @param {any} detail the result of `admin.session`
   * @param {boolean} isRemovable whether clients have a button that disconnects them
   */
  show({ stack, clients, calls }, isRemovable) {
    const names = new Map(clients.map((/** @type {any} */ { client, name }) => [client, name ?? client]));
    const key = JSON.stringify([isRemovable, stack, clients.map((/** @type {any} */ { unread, ...rest }) => ({ ...rest, away: Boolean(rest.away) })), calls.length]);
    if (key !== this.#drawn) this.#draw(stack, clients, calls, names, isRemovable);
    this.#drawn = key;
    for (const { client, away } of clients) {
      const place = this.#absences.get(client);
      if (place && away) write(place, `disconnected for ${duration(away)}`);
    }
  }

  /**
   * @param {any} stack
   * @param {any[]} clients
   * @param {any[]} calls
   * @param {Map<string, string>} names
   * @param {boolean} isRemovable
   */
  #draw(stack, clients, calls, names, isRemovable) {
    const count = countOf(stack.pages);
    this.#note.textContent = `${count} ${count === 1 ? "page" : "pages"}`;
    this.#phone.replaceChildren(
      count === 0 ? element("p", { class: "empty" }, "No page is open.") : element("ol", { class: "cards" }, ...cards(stack.pages, names)),
      stack.tabs ? tabBar(stack.tabs, stack.selected) : "");
    this.#absences = new Map(clients.filter(({ away }) => away).map(({ client }) => [client, element("span")]));
    this.#members.replaceChildren(
      element("ul", {}, ...clients.map((each) => clientItem(each, this.#absences.get(each.client), isRemovable ? this.#disconnect : undefined))),
      calls.length === 0 ? "" : element("p", { class: "hint" }, `${calls.length} ${calls.length === 1 ? "call is waiting" : "calls are waiting"}`));
  }
}

/**
 * @param {Page[]} pages
 * @returns {number}
 */
function countOf(pages) {
  return pages.reduce((/** @type {number} */ sum, page) => sum + 1 + countOf(page.pages ?? []), 0);
}

/**
 * @param {Page[]} pages bottom first
 * @param {Map<string, string>} names
 * @returns {HTMLLIElement[]} top first
 */
function cards(pages, names) {
  return [...pages].reverse().map((page, place) => {
    const kind = technology(page.uri);
    return element("li", { class: "page-card", "data-technology": kind, "data-style": page.style, "aria-current": place === 0 && !page.pages?.length ? "true" : null },
      page.pages?.length ? element("ol", { class: "cards sheet", "aria-label": "Modal stack" }, ...cards(page.pages, names)) : null,
      element("div", { class: "page-face" },
        element("span", { class: "bar", "aria-hidden": "true" }),
        page.route && element("strong", {}, page.route),
        element("span", { class: "uri" }, short(page.uri)),
        element("span", { class: "meta" }, `${page.id} · ${page.style} · ${names.get(page.host) ?? page.host}`)));
  });
}

/**
 * @param {{uri: string, pages?: Page[]}[]} tabs
 * @param {number | null} selected
 */
function tabBar(tabs, selected) {
  return element("ul", { class: "tab-bar", "aria-label": "Tabs" }, ...tabs.map((tab, place) =>
    element("li", { "aria-current": place === selected ? "true" : null },
      tab.uri.replace(/^\w+:\/*/, ""), place !== selected && tab.pages?.length ? element("small", {}, ` ${tab.pages.length}`) : null)));
}

/**
 * @param {any} client
 * @param {HTMLElement | undefined} away the element for the time that it has been disconnected
 * @param {((client: string, name: string) => void) | undefined} disconnect
 */
function clientItem({ client, name, version, platform, page, user, guest, hosts, unread, asked }, away, disconnect) {
  const notes = [
    user && `user ${user}`, guest && "guest", page && `in ${page}`, platform,
    hosts.length > 0 && `hosts ${hosts.map((/** @type {any} */ host) => host.patterns?.join(", ") ?? `${host.scheme ?? "*"}:`).join(", ")}`,
    asked > 0 && `has not answered ${asked} ${asked === 1 ? "request" : "requests"}`, unread > 4096 && `${Math.round(unread / 1024)} KiB unread`,
  ].filter(Boolean);
  return element("li", { "data-away": away ? "true" : null },
    disconnect ? element("button", { type: "button", "aria-label": `Disconnect ${name ?? client}`, onclick: () => disconnect(client, name ?? client) }, "Disconnect") : null,
    element("strong", {}, name ?? client), version ? ` ${version}` : "", element("small", {}, ` ${client}`),
    element("span", { class: "notes" }, away, away && notes.length > 0 ? " · " : null, notes.join(" · ")));
}
