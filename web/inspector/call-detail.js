// @ts-check
import { outcome, callerName } from "./calls-view.js";
import { byId, element } from "./dom.js";
import { clock, duration, pretty, size } from "./format.js";

/** @typedef {import("./records.js").Call} Call */

/** The details of a call: its messages, and the requests to other clients that belong to it. */
export class CallDetail {
  #panel = byId("detail", HTMLElement);
  #place = byId("calls-body", HTMLElement);
  #title = byId("detail-title", HTMLElement);
  #body = byId("detail-body", HTMLElement);
  /** @type {Call | undefined} */
  #call;
  #drawn = "";

  /** @param {() => void} closed */
  constructor(closed) {
    const close = () => {
      this.hide();
      closed();
    };
    byId("detail-close", HTMLButtonElement).addEventListener("click", close);
    this.#panel.addEventListener("keydown", (event) => {
      if (event.key === "Escape") close();
    });
  }

  /** @param {Call} call */
  show(call) {
    this.#call = call;
    this.#panel.hidden = false;
    this.#place.dataset.open = "true";
    this.#drawn = "";
    this.update();
    this.#body.scrollTop = 0;
  }

  hide() {
    this.#call = undefined;
    this.#panel.hidden = true;
    delete this.#place.dataset.open;
  }

  /** Shows what has changed, such as the response. */
  update() {
    const call = this.#call;
    if (!call) return;
    const key = `${call.ms} ${call.lostAt} ${"params" in call} ${call.parts.length} ${call.parts.filter((part) => part.ms !== undefined).length}`;
    if (key === this.#drawn) return;
    this.#drawn = key;
    this.#title.textContent = `${call.method} ${call.uri ?? ""}`.trim();
    const facts = [
      fact("Client", callerName(call), call.client), fact("Session", call.session), fact("Route", call.route),
      fact("Handled by", call.host), fact("Page", call.page), fact("Time", clock(call.at)),
      fact("Duration", call.fault ? undefined : duration(call.ms)), fact("Outcome", call.fault ? String(call.code ?? "only logged") : outcome(call)),
    ].flat();
    this.#body.replaceChildren(
      element("dl", { class: "facts" }, ...facts),
      ...message("Request", call.params, call.paramsCut, call.paramsBytes),
      ...call.parts.flatMap(part),
      ...(call.ms === undefined ? [] : message(call.fault ? "Faults" : call.code ? "Error" : "Response", call.result, call.resultCut, call.resultBytes)));
  }
}

/**
 * @param {string} name
 * @param {string | undefined} text
 * @param {string} [note]
 */
function fact(name, text, note) {
  if (!text) return [];
  return [element("dt", {}, name), element("dd", {}, element("code", {}, text), note && note !== text && element("small", {}, ` ${note}`))];
}

/**
 * @param {string} title
 * @param {any} value
 * @param {string | undefined} cut
 * @param {number | undefined} bytes
 */
function message(title, value, cut, bytes) {
  if (value === undefined && cut === undefined) return [];
  const note = cut === undefined ? size(bytes) : `${size(bytes)}, only the beginning`;
  return [element("h4", {}, title, element("small", {}, ` ${note}`)), element("pre", {}, cut ?? pretty(value))];
}

/** @param {import("./records.js").InspectorRecord} part */
function part(part) {
  if (part.type === "interceptors") {
    return [element("h4", {}, `Interceptors ${part.names.join(", ")}`, element("small", {}, ` ${part.verdict} after ${duration(part.ms)}`))];
  }
  const title = `${part.method}: request to ${part.name ?? part.client}`;
  return [
    element("h4", { class: "ask" }, title, element("small", {}, ` ${duration(part.ms)}${part.code ? `, ${part.code}` : ""}`)),
    ...message("Request", part.params, part.paramsCut, part.paramsBytes),
    ...message("Response", part.result, part.resultCut, part.resultBytes),
  ];
}
