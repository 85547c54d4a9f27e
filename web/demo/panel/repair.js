// @ts-check

/**
 * What `table.get` tells.
 * @typedef {{version: string, hash: string, table: {redirects?: {from: string, to?: string}[]}}} Told
 */

/** @typedef {{op: string, from: string, to?: string}} Operation of `table.update` */

/** The page that is repaired here, and where it can be sent instead. The app itself stays as it is. */
export const page = "native://address/list";

/** @type {Record<string, string | undefined>} */
export const targets = {
  native: undefined,
  web: "https://m.shop.example/address/list",
  error: "native://error",
};

/**
 * Where a table sends the page: one of `targets`, or undefined where it is somewhere else.
 * @param {Told} told
 * @returns {string | undefined}
 */
export function place({ table }) {
  const to = table.redirects?.find(({ from }) => from === page)?.to;
  return Object.keys(targets).find((name) => targets[name] === to);
}

/**
 * The operations that send the page elsewhere, or let it be again.
 * @param {Told} told the table as it is
 * @param {string} wanted one of `targets`
 * @returns {Operation[]}
 */
export function operations({ table }, wanted) {
  const to = targets[wanted];
  if (to !== undefined) return [{ op: "redirect", from: page, to }];
  const isSent = table.redirects?.some(({ from }) => from === page) ?? false;
  return isSent ? [{ op: "unredirect", from: page }] : [];
}

/**
 * Repairs the page by the table alone. A table that somebody else has changed meanwhile is read again and kept but for this.
 * @param {(method: string, params?: Record<string, unknown>) => Promise<any>} request of a client that the policy lets do this
 * @param {string} wanted one of `targets`
 */
export async function repair(request, wanted) {
  for (let tries = 3; ; tries -= 1) {
    const told = await request("table.get");
    const changes = operations(told, wanted);
    if (changes.length === 0) return;
    try {
      return await request("table.update", { expect: told.version, operations: changes });
    } catch (error) {
      if (tries === 1 || /** @type {any} */ (error).code !== 2409) throw error;
    }
  }
}
