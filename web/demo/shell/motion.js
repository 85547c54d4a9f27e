// @ts-check

const fromRight = [{ transform: "translateX(100%)" }, { transform: "none" }];
const fromBelow = [{ transform: "translateY(100%)" }, { transform: "none" }];
const motion = { duration: 280, easing: "cubic-bezier(0.22, 0.8, 0.3, 1)" };

/**
 * How a surface moves: a sheet comes from below while what it covers grows dim, any other page from the right, and so
 * does a page inside of a sheet.
 * @param {HTMLElement} surface
 */
function parts(surface) {
  const panel = surface.classList.contains("sheet") ? surface.querySelector(".panel") : null;
  const isSheet = panel !== null && !surface.classList.contains("inner");
  return { moving: panel ?? surface, isSheet, way: isSheet ? fromBelow : fromRight };
}

/** @param {HTMLElement} surface */
export function slideIn(surface) {
  const { moving, isSheet, way } = parts(surface);
  if (isSheet) surface.animate([{ backgroundColor: "transparent" }, {}], motion);
  return moving.animate(way, motion);
}

/** @param {HTMLElement} surface */
export function slideOut(surface) {
  const { moving, isSheet, way } = parts(surface);
  if (isSheet) surface.animate([{}, { backgroundColor: "transparent" }], motion);
  return moving.animate([...way].reverse(), motion);
}
