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
  return fill(document.createElement(tag), attributes, children);
}

/**
 * The same for SVG.
 * @template {keyof SVGElementTagNameMap} K
 * @param {K} tag
 * @param {Record<string, Attribute>} [attributes]
 * @param {...Child} children
 * @returns {SVGElementTagNameMap[K]}
 */
export function svg(tag, attributes = {}, ...children) {
  return fill(document.createElementNS("http://www.w3.org/2000/svg", tag), attributes, children);
}

/**
 * @template {Element} T
 * @param {T} made
 * @param {Record<string, Attribute>} attributes
 * @param {Child[]} children
 * @returns {T}
 */
function fill(made, attributes, children) {
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
 * @template {Element} T
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
 * Does something once in the next frame, however often it is asked for.
 * @param {() => void} work
 * @returns {() => void}
 */
export function onFrame(work) {
  let isAsked = false;
  return () => {
    if (isAsked) return;
    isAsked = true;
    requestAnimationFrame(() => {
      isAsked = false;
      work();
    });
  };
}

/**
 * Does something now, and again at the earliest after `pause` milliseconds and when the last time has come to its end, however
 * often it is asked for.
 * @param {number} pause
 * @param {() => unknown} work where it gives a promise, its end is that promise's
 * @returns {() => void}
 */
export function atMost(pause, work) {
  let last = -Infinity;
  let isAsked = false;
  let isAtWork = false;
  const plan = () => setTimeout(run, Math.max(0, last + pause - performance.now()));
  const run = async () => {
    isAsked = false;
    isAtWork = true;
    last = performance.now();
    try {
      await work();
    } finally {
      isAtWork = false;
      if (isAsked) plan();
    }
  };
  return () => {
    if (isAsked) return;
    isAsked = true;
    if (!isAtWork) plan();
  };
}

/**
 * Draws what differs from what was drawn the last time: what is drawn anew loses the focus, and is read out again.
 * @template {any[]} Values
 * @param {(...values: Values) => void} draw of values that JSON can hold
 * @returns {(...values: Values) => void}
 */
export function whenOther(draw) {
  /** @type {string | undefined} */
  let drawn;
  return (...values) => {
    const key = JSON.stringify(values);
    if (key === drawn) return;
    drawn = key;
    draw(...values);
  };
}

/**
 * Writes a text, where it is another: what is written anew is read out again.
 * @param {Element} element
 * @param {string} text
 */
export function write(element, text) {
  if (element.textContent !== text) element.textContent = text;
}
