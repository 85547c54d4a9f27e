// @ts-check

/**
 * The result of `table.get`.
 * @typedef {{version: string, hash: string, table: {redirects?: {from: string, to?: string}[]}}} TableState
 */

/** @typedef {{op: string, from: string, to?: string}} Operation of `table.update` */

/** The page whose target can be changed, and its possible targets. The app itself does not change. */
export const page = "native://address/list";

/** @type {Record<string, string | undefined>} */
export const targets = {
  native: undefined,
  web: "https://m.shop.example/address/list",
  error: "native://error",
};

/**
 * Returns the target of the page in a table: one of `targets`, or undefined for any other target.
 * @param {TableState} state
 * @returns {string | undefined}
 */
export function place({ table }) {
  const to = table.redirects?.find(({ from }) => from === page)?.to;
  return Object.keys(targets).find((name) => targets[name] === to);
}

/**
 * Returns the operations that set the target of the page, or remove it.
 * @param {TableState} state the current table
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
 * Changes the target of the page in the table. If another client has changed the table meanwhile, it is read again and its changes are kept.
 * @param {(method: string, params?: Record<string, unknown>) => Promise<any>} request of a client that the policy allows to update the table
 * @param {string} wanted one of `targets`
 */
export async function repair(request, wanted) {
  for (let tries = 3; ; tries -= 1) {
    const current = await request("table.get");
    const changes = operations(current, wanted);
    if (changes.length === 0) return;
    try {
      return await request("table.update", { expect: current.version, operations: changes });
    } catch (error) {
      if (tries === 1 || /** @type {any} */ (error).code !== 2409) throw error;
    }
  }
}
