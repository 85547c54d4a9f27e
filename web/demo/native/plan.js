// @ts-check
import { element } from "../shared/dom.js";
import { choices, form, steps, summary } from "./step.js";

/** @typedef {import("./pages.js").NativePage} NativePage */

/** The pages of a modal stack: the first is presented, the others are pushed onto it. */
const all = ["Place", "Time", "Check"];

/**
 * @param {string} here
 * @param {string} label
 * @param {(fields: FormData) => Promise<unknown>} onSubmit
 * @param {...Node} fields
 */
function step(here, label, onSubmit, ...fields) {
  return element("div", { class: "content" }, steps("Plan", all, here), form(label, onSubmit, ...fields));
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
 * Dismisses the whole modal stack, and pushes the trip onto the page below.
 * @type {NativePage}
 */
export function check(page, { bridge }) {
  const { place, time } = page.params;
  const plan = async () => bridge.open(`native://trip/${encodeURIComponent(String(place))}`, { time }, { style: "dismissThenPush" });
  return { title: "Check", content: [step("Check", "Plan it", plan, summary(["To", place], ["When", time]))] };
}

/** @type {NativePage} */
export function trip(page) {
  const content = element("div", { class: "content" },
    element("p", { class: "hero" }, `${page.params.place} is planned.`),
    summary(["To", page.params.place], ["When", page.params.time]),
    element("p", { class: "hint" }, "The pages of the plan were dismissed. Then this page was pushed onto the tab below."));
  return { title: "Your trip", content: [content] };
}
