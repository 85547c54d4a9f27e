// @ts-check

/** @typedef {Node | string | null | undefined | false} Child */
/** @typedef {string | number | boolean | null | undefined | ((event: any) => void)} Attribute */

/**
 * Makes an element. `on…` attributes are listeners, `true` is an attribute without a value, `false`, `null` and
 * `undefined` leave the attribute out. Text is always text, never markup.
 * @template {keyof HTMLElementTagNameMap} K
 * @param {K} tag
 * @param {Record<string, Attribute>} [attributes]
 * @param {...Child} children
 * @returns {HTMLElementTagNameMap[K]}
 */
export function element(tag, attributes = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value === false || value === null || value === undefined) continue;
    if (typeof value === "function") made.addEventListener(name.replace(/^on/, ""), value);
    else made.setAttribute(name, value === true ? "" : String(value));
  }
  for (const child of children) {
    if (child) made.append(child);
  }
  return made;
}

/**
 * The element of the document with this id.
 * @template {HTMLElement} T
 * @param {string} id
 * @param {new () => T} type
 * @returns {T}
 */
export function byId(id, type) {
  const found = document.getElementById(id);
  if (!(found instanceof type)) throw new Error(`The document has no ${type.name} #${id}`);
  return found;
}

/**
 * Writes a text without replacing the text node: in WebKit, a press that begins on a node which is removed meanwhile does not become a click.
 * @param {Element} element
 * @param {string} text
 */
export function write(element, text) {
  if (element.textContent === text) return;
  const [only, other] = element.childNodes;
  if (only instanceof Text && other === undefined) only.data = text;
  else element.textContent = text;
}

/** @returns {boolean} whether the user asked for less motion. */
export function calm() {
  return matchMedia("(prefers-reduced-motion: reduce)").matches;
}
