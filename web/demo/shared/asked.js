// @ts-check

/**
 * What the page of a frame was opened for, as the shell has written it into its address; of a page that was opened by itself,
 * what its address says.
 * @returns {{uri: string, route: string | null, params: Record<string, any>}}
 */
export function asked() {
  const { searchParams, origin, pathname } = new URL(location.href);
  const page = JSON.parse(searchParams.get("page") ?? "null");
  return page ?? { uri: origin + pathname, route: null, params: {} };
}
