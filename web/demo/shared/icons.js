// @ts-check

/** Strokes on a grid of 24 × 24. */
const strokes = {
  back: "M15 5l-7 7 7 7",
  arrow: "M20 12H4M11 5l-7 7 7 7",
  forward: "M9 5l7 7-7 7",
  close: "M6 6l12 12M18 6L6 18",
  share: "M12 15V4M7.5 8L12 3.5 16.5 8M5 12v8h14v-8",
  pin: "M12 21s7-6.2 7-11.5a7 7 0 1 0-14 0C5 14.8 12 21 12 21zM12 12a2.5 2.5 0 1 0 0-5 2.5 2.5 0 0 0 0 5z",
  person: "M12 12a4 4 0 1 0 0-8 4 4 0 0 0 0 8zM4.5 20.5c.8-4 3.8-6 7.5-6s6.7 2 7.5 6",
  plus: "M12 5v14M5 12h14",
  bag: "M5.5 8h13l1 12.5h-15zM8.5 8V7a3.5 3.5 0 0 1 7 0v1",
  star: "M12 3.5l2.6 5.4 5.9.8-4.3 4.1 1.1 5.9-5.3-2.9-5.3 2.9 1.1-5.9L3.5 9.7l5.9-.8z",
  note: "M6 3.5h8.5L19 8v12.5H6zM14 3.5V8.5h5M9 12.5h7M9 16h5",
  clock: "M12 21a9 9 0 1 0 0-18 9 9 0 0 0 0 18zM12 7v5l3.5 2",
  mail: "M3.5 6h17v12h-17zM4 6.5l8 6.5 8-6.5",
  chat: "M4 5h16v11h-8.5L7 20v-4H4z",
  link: "M10 14a4 4 0 0 0 5.7 0l3-3A4 4 0 0 0 13 5.3l-1 1M14 10a4 4 0 0 0-5.7 0l-3 3A4 4 0 0 0 11 18.7l1-1",
  check: "M5 12.5l4.5 4.5L19 7.5",
  compass: "M12 21a9 9 0 1 0 0-18 9 9 0 0 0 0 18zM15.8 8.2l-2.3 5.3-5.3 2.3 2.3-5.3z",
  lock: "M5.5 10.5h13V20h-13zM8.5 10.5V7.5a3.5 3.5 0 0 1 7 0v3M12 14.5v2",
  rocket: "M9.5 14.5c1-5 4-9 9.5-9.5-.5 5.5-4.5 8.5-9.5 9.5zM9.5 14.5l-3-.5 2-4M9.5 14.5l.5 3 4-2M5 19l2-2",
  tool: "M14.5 6.5a4 4 0 0 1 5-3l-2.5 2.5 1 2 2 1L22.5 6.5a4 4 0 0 1-5.5 4.2L8 19.7a2.2 2.2 0 0 1-3.1-3.1l8.9-9z",
  home: "M4 11l8-7 8 7v9.5h-5.5V14h-5v6.5H4z",
};

/** @typedef {keyof typeof strokes} IconName */

/**
 * A decorative icon in the colour of the text.
 * @param {IconName} name
 * @returns {SVGSVGElement}
 */
export function icon(name) {
  const space = "http://www.w3.org/2000/svg";
  const drawing = document.createElementNS(space, "svg");
  drawing.setAttribute("viewBox", "0 0 24 24");
  drawing.setAttribute("class", "icon");
  drawing.setAttribute("aria-hidden", "true");
  const path = document.createElementNS(space, "path");
  path.setAttribute("d", strokes[name]);
  drawing.append(path);
  return drawing;
}
