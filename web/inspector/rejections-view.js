// @ts-check
import { atMost, byId, element, whenOther, write } from "./dom.js";
import { clock, inWords } from "./format.js";

/** @type {Record<string, string>} */
const doors = { request: "HTTP", connection: "closed", token: "token" };

/** The latest rejected requests, connections and tokens, with the reason and the remedy. */
export class RejectionsView {
  #connection;
  #list = byId("refusals", HTMLOListElement);
  #count = byId("refusals-count", HTMLElement);

  /** @param {import("./connection.js").InspectorConnection} connection */
  constructor(connection) {
    this.#connection = connection;
  }

  refresh = atMost(1000, async () => {
    try {
      const { count, refusals } = await this.#connection.request("admin.refusals");
      write(this.#count, `${count} since the server started`);
      this.#draw(refusals);
    } catch (error) {
      write(this.#count, inWords(error));
    }
  });

  #draw = whenOther((/** @type {any[]} */ refusals) =>
    this.#list.replaceChildren(...(refusals.length > 0 ? refusals.map(entry) : [element("li", { class: "empty" }, "No connection was refused.")])));
}

/** @param {any} refusal */
function entry({ at, door, code, reason, address, remedy }) {
  const [, before, flag, after] = /^(.*?)(--\S+ \S+)(.*)$/.exec(remedy ?? "") ?? [];
  return element("li", { "data-door": door },
    element("span", { class: "time" }, clock(at, false)),
    element("span", { class: "door" }, `${doors[door] ?? door} ${code}`),
    element("span", { class: "reason" }, reason, address ? element("small", {}, ` from ${address}`) : null),
    remedy ? element("span", { class: "remedy" }, ...(flag ? [before, element("code", {}, flag), after] : [remedy])) : null);
}
