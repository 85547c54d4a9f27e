// @ts-check
import { atMost, byId, element, whenOther, write } from "./dom.js";
import { clock, inWords } from "./format.js";

/** @type {Record<string, string>} */
const doors = { request: "HTTP", connection: "closed", token: "token" };

/** Who was not let in of late, why, and by what he would be. */
export class RefusalsView {
  #link;
  #list = byId("refusals", HTMLOListElement);
  #count = byId("refusals-count", HTMLElement);

  /** @param {import("./link.js").Link} link */
  constructor(link) {
    this.#link = link;
  }

  refresh = atMost(1000, async () => {
    try {
      const { count, refusals } = await this.#link.request("admin.refusals");
      write(this.#count, `${count} since the server was started`);
      this.#draw(refusals);
    } catch (error) {
      write(this.#count, inWords(error));
    }
  });

  #draw = whenOther((/** @type {any[]} */ refusals) =>
    this.#list.replaceChildren(...(refusals.length > 0 ? refusals.map(entry) : [element("li", { class: "empty" }, "Nobody was refused.")])));
}

/** @param {any} refusal */
function entry({ at, door, code, reason, address, remedy }) {
  const [, flag, rest] = /^(--\S+ \S+) ?(.*)$/.exec(remedy ?? "") ?? [];
  return element("li", { "data-door": door },
    element("span", { class: "time" }, clock(at, false)),
    element("span", { class: "door" }, `${doors[door] ?? door} ${code}`),
    element("span", { class: "reason" }, reason, address ? element("small", {}, ` from ${address}`) : null),
    remedy ? element("span", { class: "remedy" }, flag ? element("code", {}, flag) : null, ` ${flag ? rest : remedy}`) : null);
}
