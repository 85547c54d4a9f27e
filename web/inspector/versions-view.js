// @ts-check
import { atMost, byId, element, whenOther } from "./dom.js";
import { inWords, since } from "./format.js";

/** The tables and policies that were in force, with what differs; to a table one goes back by a button. */
export class VersionsView {
  #link;
  #table = byId("table-versions", HTMLOListElement);
  #policy = byId("policy-versions", HTMLOListElement);
  #dialog = byId("confirm", HTMLDialogElement);
  #say;

  /**
   * @param {import("./link.js").Link} link
   * @param {(text: string) => void} say tells what has become of it
   */
  constructor(link, say) {
    this.#link = link;
    this.#say = say;
  }

  refresh = atMost(300, async () => {
    try {
      this.#draw(await this.#link.request("admin.versions"));
    } catch (error) {
      this.#draw({ failure: inWords(error) });
    }
  });

  #draw = whenOther((/** @type {any} */ { table, policy, failure }) => {
    if (failure) return this.#table.replaceChildren(element("li", { class: "error" }, failure));
    this.#table.replaceChildren(...(table ? this.#tables(table) : [element("li", { class: "empty" }, "The app has no table that can be changed.")]));
    this.#policy.replaceChildren(...policies(policy));
  });

  /** @param {any} table */
  #tables({ version, hash, since: at, versions }) {
    return [
      entry(version, hash, at, true),
      ...versions.map((/** @type {any} */ earlier, /** @type {number} */ place) =>
        entry(earlier.version, earlier.hash, earlier.at, false,
          changes(earlier.changes, place === 0 ? version : versions[place - 1].version),
          element("button", { type: "button", onclick: () => this.#ask(earlier.version, version) }, `Go back to ${earlier.version}`))),
    ];
  }

  /**
   * @param {string} to
   * @param {string} from
   */
  #ask(to, from) {
    byId("confirm-text", HTMLElement).textContent =
      `The table ${to} will be in force in the place of ${from}, for every client, at once. What came after ${to} is forgotten. Open pages stay.`;
    this.#dialog.returnValue = "no";
    this.#dialog.addEventListener("close", () => {
      if (this.#dialog.returnValue === "yes") void this.#goBack(to, from);
    }, { once: true });
    this.#dialog.showModal();
  }

  /**
   * @param {string} to
   * @param {string} from
   */
  async #goBack(to, from) {
    try {
      const { version } = await this.#link.request("table.rollback", { to, expect: from });
      this.#say(`The table ${version} is in force.`);
    } catch (error) {
      this.#say(inWords(error));
    }
    this.refresh();
  }
}

/** @param {any} policy */
function policies({ hash, since: at, rules, versions }) {
  const told = rules === null
    ? element("p", { class: "hint" }, "There are no rules: who comes in may call all but what only administrators may.")
    : element("ul", { class: "rules" }, ...rules.map(rule));
  return [
    entry(hash, "", at, true, told),
    ...versions.map((/** @type {any} */ earlier, /** @type {number} */ place) =>
      entry(earlier.hash, "", earlier.at, false, changes(earlier.changes, place === 0 ? hash : versions[place - 1].hash))),
  ];
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
 * @param {Record<string, string[] | boolean> | null} told
 * @param {string} next the version that has made them
 */
function changes(told, next) {
  if (!told) return element("p", { class: "hint" }, "What differs is not known any more.");
  const lines = Object.entries(told).filter(([, names]) => Array.isArray(names) && names.length > 0);
  if (lines.length === 0) return element("p", { class: "hint" }, `${next} declares the same.`);
  return element("dl", { class: "facts changes", "aria-label": `What ${next} has made another` }, ...lines.flatMap(([kind, names]) => [
    element("dt", {}, `${next} ${words[kind] ?? kind}`), element("dd", {}, element("code", {}, /** @type {string[]} */ (names).join(", "))),
  ]));
}

/** @type {Record<string, string>} */
const words = { added: "added", removed: "removed", changed: "changed", redirects: "redirects", topics: "topics", other: "other" };
