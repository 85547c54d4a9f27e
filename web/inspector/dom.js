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
 * Returns a function that runs the work once in the next frame, for any number of calls.
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
 * Returns a function that runs the work, but not again before `pause` milliseconds have passed and the last run has ended,
 * for any number of calls.
 * @param {number} pause
 * @param {() => unknown} work a run that returns a promise ends with the promise
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
 * Returns a function that draws only changed values. A redraw would lose the focus, and a screen reader would read it again.
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
 * Writes a text if it has changed, so that a screen reader does not read it again. The text node stays: in WebKit, a press that begins on a
 * node which is removed meanwhile does not become a click.
 * @param {Element} element
 * @param {string} text
 */
export function write(element, text) {
  if (element.textContent === text) return;
  const [only, other] = element.childNodes;
  if (only instanceof Text && other === undefined) only.data = text;
  else element.textContent = text;
}

/**
 * Sets the children of an element. Children that stay in their place are not changed: they keep the focus, and a press that
 * began on one of them becomes a click.
 * @param {Element} parent
 * @param {Element[]} children
 */
export function arrange(parent, children) {
  for (const child of [...parent.children]) {
    if (!children.includes(child)) child.remove();
  }
  children.forEach((child, place) => {
    if (parent.children[place] !== child) parent.insertBefore(child, parent.children[place] ?? null);
  });
}
