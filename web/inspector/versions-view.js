// @ts-check
import { ServerResultsView } from "./server-results-view.js";
import { atMost, byId, element, whenOther } from "./dom.js";
import { inWords, since } from "./format.js";

/** The current and earlier tables and policies, with their differences. A button restores an earlier one. */
export class VersionsView {
  #connection;
  #table = byId("table-versions", HTMLOListElement);
  #policy = byId("policy-versions", HTMLOListElement);
  #dialog;
  #notify;
  #results = new ServerResultsView();

  /**
   * @param {import("./connection.js").InspectorConnection} connection
   * @param {import("./confirm-dialog.js").ConfirmDialog} dialog
   * @param {(text: string) => void} notify shows the result
   */
  constructor(connection, dialog, notify) {
    this.#connection = connection;
    this.#dialog = dialog;
    this.#notify = notify;
  }

  refresh = atMost(300, async () => {
    try {
      this.#draw(await this.#connection.request("admin.versions"));
    } catch (error) {
      this.#draw({ failure: inWords(error) });
    }
  });

  #draw = whenOther((/** @type {any} */ { table, policy, failure }) => {
    if (failure) return this.#table.replaceChildren(element("li", { class: "error" }, failure));
    this.#table.replaceChildren(...(table ? this.#tables(table) : [element("li", { class: "empty" }, "The app has no route table that can be changed.")]));
    this.#policy.replaceChildren(...this.#policies(policy));
  });

  /** @param {any} table */
  #tables({ version, hash, since: at, versions }) {
    return [
      entry(version, hash, at, true),
      ...versions.map((/** @type {any} */ earlier, /** @type {number} */ place) =>
        entry(earlier.version, earlier.hash, earlier.at, false,
          changes(earlier.changes, place === 0 ? version : versions[place - 1].version),
          revertButton(earlier.version, () => this.#confirm({
            method: "table.rollback", to: earlier.version, from: version, keep: "Keep the table", what: `The table ${earlier.version}`,
            text: `The table ${earlier.version} replaces ${version} at once, for every client. Versions after ${earlier.version} are removed. Open pages stay.`,
          })))),
    ];
  }

  /** @param {any} policy */
  #policies({ hash, since: at, rules, versions }) {
    const ruleList = rules === null
      ? element("p", { class: "hint" }, "There are no rules: every client can call all methods except those for administrators.")
      : element("ul", { class: "rules" }, ...rules.map(rule));
    return [
      entry(hash, "", at, true, ruleList),
      ...versions.map((/** @type {any} */ earlier, /** @type {number} */ place) =>
        entry(earlier.hash, "", earlier.at, false,
          changes(earlier.changes, place === 0 ? hash : versions[place - 1].hash),
          revertButton(earlier.hash, () => this.#confirm({
            method: "policy.rollback", to: earlier.hash, from: hash, keep: "Keep the policy", what: `The policy ${earlier.hash}`,
            text: `The policy ${earlier.hash} replaces ${hash} at once, for every client and call, until the policy file changes or the server restarts.`,
          })))),
    ];
  }

  /** @param {{method: string, to: string, from: string, keep: string, what: string, text: string}} step */
  async #confirm(step) {
    const question = { title: "Restore the earlier version?", text: step.text, yes: "Restore", no: step.keep };
    if (await this.#dialog.ask(question)) await this.#revert(step);
  }

  /** @param {{method: string, to: string, from: string, what: string}} step */
  async #revert({ method, to, from, what }) {
    this.#results.hide();
    try {
      const { hash, servers = [] } = await this.#connection.request(method, { to, expect: from });
      this.#notify(servers.length > 0 ? this.#results.show(what, hash, servers) : `${what} is in force.`);
    } catch (error) {
      this.#notify(inWords(error));
    }
    this.refresh();
  }
}

/**
 * @param {string} to
 * @param {() => void} onclick
 */
function revertButton(to, onclick) {
  return element("button", { type: "button", onclick }, `Restore ${to}`);
}

/** @param {any} rule */
function rule({ name, allow, deny, ...selectors }) {
  const who = Object.entries(selectors).map(([key, value]) => `${key} ${Array.isArray(value) ? value.join(", ") : ""}`.trim()).join("; ");
  return element("li", { "data-deny": deny ? "true" : null },
    element("strong", {}, name), ` ${deny ? "denies" : "allows"} `, element("code", {}, (allow ?? deny).join(" ")),
    who ? element("small", {}, ` ${who}`) : null);
}

/**
 * @param {string} version
 * @param {string} hash
 * @param {number} at
 * @param {boolean} isCurrent
 * @param {...(Node | null)} more
 */
function entry(version, hash, at, isCurrent, ...more) {
  return element("li", { "aria-current": isCurrent ? "true" : null },
    element("div", { class: "version" }, element("strong", {}, version), element("small", {}, ` ${hash.slice(0, 12)}`),
      element("span", {}, isCurrent ? `in force, ${since(at)}` : since(at))),
    ...more);
}

/**
 * @param {Record<string, string[] | boolean> | null} differences
 * @param {string} next the version with the changes
 */
function changes(differences, next) {
  if (!differences) return element("p", { class: "hint" }, "The differences are no longer known.");
  const lines = Object.entries(differences).filter(([, names]) => Array.isArray(names) && names.length > 0);
  if (lines.length === 0) return element("p", { class: "hint" }, `${next} has the same declarations.`);
  return element("dl", { class: "facts changes", "aria-label": `Changes of ${next}` }, ...lines.flatMap(([kind, names]) => [
    element("dt", {}, `${next} ${words[kind] ?? kind}`), element("dd", {}, element("code", {}, /** @type {string[]} */ (names).join(", "))),
  ]));
}

/** @type {Record<string, string>} */
const words = { added: "added", removed: "removed", changed: "changed", redirects: "redirects", topics: "topics", other: "other" };
