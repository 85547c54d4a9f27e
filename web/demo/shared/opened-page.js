// @ts-check

/**
 * Returns the page that a frame shows, which the shell has written into its address. Outside of the app it is the address
 * itself.
 * @returns {{uri: string, route: string | null, params: Record<string, any>}}
 */
export function openedPage() {
  const { searchParams, origin, pathname } = new URL(location.href);
  const page = JSON.parse(searchParams.get("page") ?? "null");
  return page ?? { uri: origin + pathname, route: null, params: {} };
}
