// @ts-check
import { AnswersView } from "./answers-view.js";
import { atMost, byId, element, whenOther } from "./dom.js";
import { inWords, since } from "./format.js";

/** The tables and policies that were in force, with what differs; to each one goes back by a button. */
export class VersionsView {
  #link;
  #table = byId("table-versions", HTMLOListElement);
  #policy = byId("policy-versions", HTMLOListElement);
  #dialog = byId("confirm", HTMLDialogElement);
  #say;
  #answers = new AnswersView();

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
    this.#policy.replaceChildren(...this.#policies(policy));
  });

  /** @param {any} table */
  #tables({ version, hash, since: at, versions }) {
    return [
      entry(version, hash, at, true),
      ...versions.map((/** @type {any} */ earlier, /** @type {number} */ place) =>
        entry(earlier.version, earlier.hash, earlier.at, false,
          changes(earlier.changes, place === 0 ? version : versions[place - 1].version),
          goBack(earlier.version, () => this.#ask({
            method: "table.rollback", to: earlier.version, from: version, keep: "Keep the table", what: `The table ${earlier.version}`,
            text: `The table ${earlier.version} will be in force in the place of ${version}, for every client, at once. What came after ${earlier.version} is forgotten. Open pages stay.`,
          })))),
    ];
  }

  /** @param {any} policy */
  #policies({ hash, since: at, rules, versions }) {
    const told = rules === null
      ? element("p", { class: "hint" }, "There are no rules: who comes in may call all but what only administrators may.")
      : element("ul", { class: "rules" }, ...rules.map(rule));
    return [
      entry(hash, "", at, true, told),
      ...versions.map((/** @type {any} */ earlier, /** @type {number} */ place) =>
        entry(earlier.hash, "", earlier.at, false,
          changes(earlier.changes, place === 0 ? hash : versions[place - 1].hash),
          goBack(earlier.hash, () => this.#ask({
            method: "policy.rollback", to: earlier.hash, from: hash, keep: "Keep the policy", what: `The policy ${earlier.hash}`,
            text: `The rules of ${earlier.hash} will hold in the place of those of ${hash}, for every client and call, at once, until the policy's file changes or the server is started again.`,
          })))),
    ];
  }

  /** @param {{method: string, to: string, from: string, keep: string, what: string, text: string}} step */
  #ask(step) {
    byId("confirm-text", HTMLElement).textContent = step.text;
    byId("confirm-no", HTMLButtonElement).textContent = step.keep;
    this.#dialog.returnValue = "no";
    this.#dialog.addEventListener("close", () => {
      if (this.#dialog.returnValue === "yes") void this.#goBack(step);
    }, { once: true });
    this.#dialog.showModal();
  }

  /** @param {{method: string, to: string, from: string, what: string}} step */
  async #goBack({ method, to, from, what }) {
    this.#answers.hide();
    try {
      const { hash, servers = [] } = await this.#link.request(method, { to, expect: from });
      this.#say(servers.length > 0 ? this.#answers.show(what, hash, servers) : `${what} is in force.`);
    } catch (error) {
      this.#say(inWords(error));
    }
    this.refresh();
  }
}

/**
 * @param {string} to
 * @param {() => void} onclick
 */
function goBack(to, onclick) {
  return element("button", { type: "button", onclick }, `Go back to ${to}`);
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
