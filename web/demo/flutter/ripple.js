// @ts-check
import { calm, element } from "../shared/dom.js";

/**
 * Draws Material's ink on every button in `root` that is pressed.
 * @param {HTMLElement} root
 */
export function ripples(root) {
  root.addEventListener("pointerdown", (event) => {
    const button = event.target instanceof Element ? event.target.closest("button") : null;
    if (!button || calm()) return;
    const { left, top, width, height } = button.getBoundingClientRect();
    const size = 2 * Math.max(width, height);
    const ink = element("span", { class: "ink", "aria-hidden": "true" });
    ink.style.width = ink.style.height = `${size}px`;
    ink.style.left = `${event.clientX - left - size / 2}px`;
    ink.style.top = `${event.clientY - top - size / 2}px`;
    button.append(ink);
    ink.animate([{ transform: "scale(0)", opacity: 0.3 }, { transform: "scale(1)", opacity: 0 }], 500)
      .finished.finally(() => ink.remove());
  });
}
