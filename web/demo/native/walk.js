// @ts-check
import { element } from "../shared/dom.js";
import { explain, ResultView } from "../shared/result.js";

/** @typedef {import("./pages.js").NativePage} NativePage */

/**
 * Where the walk stands.
 * @param {string} here
 */
function steps(here) {
  const letters = ["M", "A", "B", "C"].map((letter) =>
    element("li", { "aria-current": letter === here ? "step" : null }, letter));
  return element("ol", { class: "steps", "aria-label": "Walk" }, ...letters);
}

/**
 * The form of one step, which opens the next.
 * @param {string} here
 * @param {string} label
 * @param {(fields: FormData) => Promise<unknown>} go
 * @param {...Node} fields
 */
function step(here, label, go, ...fields) {
  const error = element("p", { class: "error", role: "alert" });
  const submitted = async (/** @type {SubmitEvent} */ event) => {
    event.preventDefault();
    if (!(event.currentTarget instanceof HTMLFormElement)) return;
    error.textContent = "";
    await go(new FormData(event.currentTarget)).catch((reason) => (error.textContent = explain(reason)));
  };
  return element("div", { class: "content" }, steps(here),
    element("form", { class: "step", onsubmit: submitted },
      ...fields, error, element("button", { class: "primary", type: "submit" }, label)));
}

/**
 * M: awaits A; what C publishes ends A, and so arrives here.
 * @type {NativePage}
 */
export function notes(page, { bridge }) {
  const result = new ResultView();
  const content = element("div", { class: "content" }, steps("M"),
    element("p", { class: "lead" }, "Write a note in three steps. Publishing comes straight back here."),
    element("button", {
      class: "primary", type: "button",
      onclick: () => void result.open("Note", () => bridge.open("native://walk/a", {}, { from: page.id }),
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
        element("input", { name: "title", required: true, maxlength: 60, value: "Ridge at dawn", autocomplete: "off" })))],
  };
}

/**
 * B: the readers.
 * @type {NativePage}
 */
export function audience(page, { bridge }) {
  const next = (/** @type {FormData} */ fields) =>
    bridge.open("native://walk/c", { ...page.params, audience: String(fields.get("audience")) }, { from: page.id });
  const choice = (/** @type {string} */ value, /** @type {boolean} */ checked) =>
    element("label", { class: "choice" },
      element("input", { type: "radio", name: "audience", value, checked }), value);
  return {
    title: "Audience",
    content: [step("B", "Next", next,
      element("fieldset", {}, element("legend", {}, "Who may read it?"), choice("everyone", true), choice("friends", false)))],
  };
}

/**
 * C: goes back to M with the result.
 * @type {NativePage}
 */
export function review(page, { bridge }) {
  const { title, audience } = page.params;
  const publish = () => bridge.back({ to: "native://walk/m", result: { published: true, title, audience } });
  return {
    title: "Review",
    content: [step("C", "Publish", publish,
      element("dl", { class: "summary" },
        element("dt", {}, "Title"), element("dd", {}, String(title)),
        element("dt", {}, "For"), element("dd", {}, String(audience))))],
  };
}
