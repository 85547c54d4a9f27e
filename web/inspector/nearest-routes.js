// @ts-check

/** The most characters that are compared. */
const maxCompared = 120;

/** @typedef {{route: string, pattern: string}} RoutePattern */

/**
 * Returns the patterns that are most similar to a URI, the most similar first.
 * @template {RoutePattern} Pattern
 * @param {string} uri
 * @param {Pattern[]} patterns
 * @param {number} [count]
 * @returns {Pattern[]}
 */
export function nearestRoutes(uri, patterns, count = 5) {
  const wanted = uri.replace(/[?#].*/, "").slice(0, maxCompared);
  const segments = wanted.split("/");
  const ranked = patterns.map((pattern) => ({ pattern, distance: distance(wanted, filled(pattern.pattern, segments)) }));
  ranked.sort((one, other) => one.distance - other.distance || (one.pattern.pattern < other.pattern.pattern ? -1 : 1));
  return ranked.slice(0, count).map(({ pattern }) => pattern);
}

/**
 * Returns a pattern without optional groups, with the segments of a URI as its parameters.
 * @param {string} pattern
 * @param {string[]} segments
 */
function filled(pattern, segments) {
  return pattern.replace(/\([^)]*\)/g, "").split("/").flatMap((segment, place) => {
    if (segment === "*") return segments.slice(place);
    return segment.startsWith(":") ? segments[place] || segment : segment;
  }).join("/").slice(0, maxCompared);
}

/**
 * Returns the edit distance of two strings (Levenshtein).
 * @param {string} one
 * @param {string} other
 */
export function distance(one, other) {
  let row = Array.from({ length: other.length + 1 }, (_, place) => place);
  for (let place = 1; place <= one.length; place += 1) {
    const next = [place];
    for (let column = 1; column <= other.length; column += 1) {
      const replaced = row[column - 1] + (one[place - 1] === other[column - 1] ? 0 : 1);
      next.push(Math.min(replaced, row[column] + 1, next[column - 1] + 1));
    }
    row = next;
  }
  return row[other.length];
}
