// @ts-check
import { element } from "../shared/dom.js";
import { ResultView } from "../shared/result.js";
import { choices, form, steps, summary } from "./step.js";

/** @typedef {import("./pages.js").NativePage} NativePage */

const all = ["M", "A", "B", "C"];

/**
 * The form of one step, which opens the next.
 * @param {string} here
 * @param {string} label
 * @param {(fields: FormData) => Promise<unknown>} onSubmit
 * @param {...Node} fields
 */
function step(here, label, onSubmit, ...fields) {
  return element("div", { class: "content" }, steps("Walk", all, here), form(label, onSubmit, ...fields));
}

/**
 * M: awaits A; what C publishes ends A, and so arrives here.
 * @type {NativePage}
 */
export function notes(page, { bridge }) {
  const result = new ResultView();
  const content = element("div", { class: "content" }, steps("Walk", all, "M"),
    element("p", { class: "lead" }, "Write a note in three steps. Publishing comes straight back here."),
    element("button", {
      class: "primary", type: "button",
      onclick: () => void result.open("Note", async () => bridge.open("native://walk/a", {}, { from: page.id }),
        ({ title, audience }) => `“${title}” published for ${audience}`),
    }, "Write a note"),
    result.element);
  return { title: "Trip notes", content: [content] };
}

/**
 * A: the title.
 * @type {NativePage}
 */
export function write(page, { bridge }) {
  const next = (/** @type {FormData} */ fields) =>
    bridge.open("native://walk/b", { title: String(fields.get("title")) }, { from: page.id });
  return {
    title: "Write",
    content: [step("A", "Next", next,
      element("label", {}, "Title",
        element("input", { type: "text", name: "title", required: true, maxlength: 60, value: "Ridge at dawn", autocomplete: "off" })))],
  };
}

/**
 * B: the readers.
 * @type {NativePage}
 */
export function audience(page, { bridge }) {
  const next = (/** @type {FormData} */ fields) =>
    bridge.open("native://walk/c", { ...page.params, audience: String(fields.get("audience")) }, { from: page.id });
  return {
    title: "Audience",
    content: [step("B", "Next", next, choices("audience", "Choose the readers", ["everyone", "friends"]))],
  };
}

/**
 * C: goes back to M with the result.
 * @type {NativePage}
 */
export function review(page, { bridge }) {
  const { title, audience } = page.params;
  const publish = async () => bridge.back({ to: "native://walk/m", result: { published: true, title, audience } });
  return { title: "Review", content: [step("C", "Publish", publish, summary(["Title", title], ["For", audience]))] };
}
