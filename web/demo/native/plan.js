// @ts-check
import { element } from "../shared/dom.js";
import { choices, form, steps, summary } from "./step.js";

/** @typedef {import("./pages.js").NativePage} NativePage */

/** The pages of a modal stack: the first is presented, the others are pushed onto it. */
const all = ["Place", "Time", "Check"];

/**
 * @param {string} here
 * @param {string} label
 * @param {(fields: FormData) => Promise<unknown>} go
 * @param {...Node} fields
 */
function step(here, label, go, ...fields) {
  return element("div", { class: "content" }, steps("Plan", all, here), form(label, go, ...fields));
}

/** @type {NativePage} */
export function place(page, { bridge }) {
  const next = (/** @type {FormData} */ fields) =>
    bridge.open("native://plan/time", { place: String(fields.get("place")) }, { from: page.id });
  return { title: "Plan a trip", tall: true, content: [step("Place", "Next", next, choices("place", "Where to?", ["Bergen", "Odda", "Voss"]))] };
}

/** @type {NativePage} */
export function time(page, { bridge }) {
  const next = (/** @type {FormData} */ fields) =>
    bridge.open("native://plan/check", { ...page.params, time: String(fields.get("time")) }, { from: page.id });
  return { title: "Time", content: [step("Time", "Next", next, choices("time", "When?", ["this weekend", "in spring"]))] };
}

/**
 * The whole modal goes away, and the trip comes onto what lay beneath it.
 * @type {NativePage}
 */
export function check(page, { bridge }) {
  const { place, time } = page.params;
  const plan = () => bridge.open(`native://trip/${encodeURIComponent(String(place))}`, { time }, { style: "dismissThenPush" });
  return { title: "Check", content: [step("Check", "Plan it", plan, summary(["To", place], ["When", time]))] };
}

/** @type {NativePage} */
export function trip(page) {
  const content = element("div", { class: "content" },
    element("p", { class: "hero" }, `${page.params.place} is planned.`),
    summary(["To", page.params.place], ["When", page.params.time]),
    element("p", { class: "hint" }, "The pages of the plan were dismissed, and this one was pushed onto the tab beneath them."));
  return { title: "Your trip", content: [content] };
}
