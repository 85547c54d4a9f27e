// @ts-check
// The hooks of `waybridge/react` with Debian's React and its test renderer, for tests. Needs NODE_PATH=/usr/share/nodejs.
import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, symlinkSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { fileURLToPath } from "node:url";

const installed = createRequire(import.meta.url);
export const React = installed("react");
const renderer = installed("react-test-renderer");
export const { renderToString } = installed("react-dom/server");
/** @type {any} */ (globalThis).IS_REACT_ACT_ENVIRONMENT = true;

/** @returns {Promise<any>} the module; modules of web/bridge find no package, so this is a file beside one */
export async function load() {
  const folder = mkdtempSync(`${tmpdir()}/waybridge-react-`);
  mkdirSync(`${folder}/node_modules`, { recursive: true });
  symlinkSync("/usr/share/nodejs/react", `${folder}/node_modules/react`);
  const module = fileURLToPath(new URL("../bridge/react.js", import.meta.url));
  execFileSync("esbuild", [module, "--bundle", "--format=esm", "--external:react", "--log-level=warning", `--outfile=${folder}/react.mjs`]);
  try {
    return await import(`${folder}/react.mjs`);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

export const hooks = await load();

/**
 * Renders components in StrictMode, which runs each effect twice.
 * @param {any} client
 * @param {...any} components
 */
export async function mount(client, ...components) {
  const tree = (/** @type {any[]} */ shown) => React.createElement(React.StrictMode, null, React.createElement(
    hooks.BridgeProvider, { client }, shown.map((each, index) => React.createElement(each, { key: index }))));
  /** @type {any} */
  let root;
  await renderer.act(async () => (root = renderer.create(tree(components))));
  return {
    show: (/** @type {any[]} */ ...shown) => renderer.act(async () => root.update(tree(shown))),
    /** Unmounts all components in an `act` that runs already. */
    clear: () => root.update(tree([])),
    unmount: () => renderer.act(async () => root.unmount()),
  };
}

/** @param {() => unknown} body changes something that components show */
export const act = (body) => renderer.act(async () => void (await body()));

/**
 * Waits until a condition holds.
 * @param {() => unknown} condition
 */
export async function until(condition) {
  while (!condition()) await act(() => new Promise((resolve) => setImmediate(() => resolve(undefined))));
}
