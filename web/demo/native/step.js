// @ts-check
import { element } from "../shared/dom.js";
import { explain } from "../shared/result.js";

/**
 * Shows the current step of several pages.
 * @param {string} name
 * @param {string[]} all
 * @param {string} here
 */
export function steps(name, all, here) {
  return element("ol", { class: "steps", "aria-label": name },
    ...all.map((step) => element("li", { "aria-current": step === here ? "step" : null }, step)));
}

/**
 * A form with one action. It shows an error if the action fails.
 * @param {string} label
 * @param {(fields: FormData) => Promise<unknown>} onSubmit
 * @param {...Node} fields
 */
export function form(label, onSubmit, ...fields) {
  const error = element("p", { class: "error", role: "alert" });
  const submitted = async (/** @type {SubmitEvent} */ event) => {
    event.preventDefault();
    if (!(event.currentTarget instanceof HTMLFormElement)) return;
    error.textContent = "";
    await onSubmit(new FormData(event.currentTarget)).catch((reason) => (error.textContent = explain(reason)));
  };
  return element("form", { class: "step", onsubmit: submitted },
    ...fields, error, element("button", { class: "primary", type: "submit" }, label));
}

/**
 * A choice between a few values.
 * @param {string} name
 * @param {string} question
 * @param {string[]} values the first is chosen at the start
 */
export function choices(name, question, values) {
  return element("fieldset", {}, element("legend", {}, question),
    ...values.map((value, position) => element("label", { class: "choice" },
      element("input", { type: "radio", name, value, checked: position === 0 }), value)));
}

/**
 * Shows the choices of the earlier steps.
 * @param {...[string, unknown]} lines
 */
export function summary(...lines) {
  return element("dl", { class: "summary" },
    ...lines.flatMap(([name, value]) => [element("dt", {}, name), element("dd", {}, String(value))]));
}
