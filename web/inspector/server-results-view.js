// @ts-check
import { byId, element } from "./dom.js";
import { inWords } from "./format.js";

/** @typedef {{server: string, error?: any, version?: string, hash?: string}} ServerResult of another server */

/** The results of a change on the other servers of a cluster, shown until the user closes them or makes another change. */
export class ServerResultsView {
  #place = byId("answers", HTMLElement);
  #title = byId("answers-title", HTMLElement);
  #list = byId("answers-list", HTMLUListElement);

  constructor() {
    byId("answers-close", HTMLButtonElement).addEventListener("click", () => {
      this.hide();
      byId("tab-versions", HTMLElement).focus();
    });
  }

  hide() {
    this.#place.hidden = true;
  }

  /**
   * @param {string} what the changed table or policy, such as "The table 3"
   * @param {string} hash
   * @param {ServerResult[]} servers
   * @returns {string} a summary in one sentence
   */
  show(what, hash, servers) {
    const failed = servers.filter(({ error }) => error);
    const others = servers.filter((result) => !result.error && result.hash !== hash);
    const done = servers.filter((result) => !result.error && result.hash === hash);
    const missing = failed.length + others.length;
    const text = missing > 0
      ? `${what} is in force here, but not on ${missing} of ${servers.length} other ${servers.length === 1 ? "server" : "servers"}`
      : `${what} is in force on all servers`;
    this.#place.hidden = false;
    this.#title.textContent = text;
    this.#place.dataset.failed = String(missing > 0);
    this.#list.replaceChildren(
      ...failed.map(({ server, error }) => entry(server, `failed: ${inWords(error)}`, true)),
      ...others.map(({ server, version, hash: other }) => entry(server, `has ${version ?? other ?? "another"}`, true)),
      ...done.map(({ server }) => entry(server, "in force", false)));
    return `${text}.`;
  }
}

/**
 * @param {string} server
 * @param {string} text
 * @param {boolean} isBad
 */
function entry(server, text, isBad) {
  return element("li", {}, element("span", { class: "id" }, server), " ", element("span", { class: isBad ? "error" : null }, text));
}
