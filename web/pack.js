// @ts-check
// Makes the npm package of web/bridge: minified modules with source maps, their sources, and declarations. Needs Debian's
// node-typescript and esbuild.
//
// node web/pack.js --prepare    fills web/bridge/dist; `npm pack` runs it
// node web/pack.js FOLDER       writes the tarball that `npm pack` writes into FOLDER, without npm
import { execFileSync } from "node:child_process";
import { copyFileSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";

const web = dirname(fileURLToPath(import.meta.url));
const bridge = join(web, "bridge");

/**
 * @param {string} command
 * @param {string[]} words
 */
function run(command, words) {
  try {
    execFileSync(command, words, { cwd: bridge, stdio: ["ignore", "inherit", "inherit"] });
  } catch (/** @type {any} */ error) {
    throw error.code === "ENOENT" ? new Error(`${command} is missing; install it with: apt-get install ${command === "tsc" ? "node-typescript" : command}`) : error;
  }
}

/**
 * Returns the files below a folder, by their paths relative to it.
 * @param {string} folder
 * @returns {string[]}
 */
function filesIn(folder) {
  const names = readdirSync(folder).sort();
  return names.flatMap((name) => (statSync(join(folder, name)).isDirectory() ? filesIn(join(folder, name)).map((each) => join(name, each)) : [name]));
}

/** Returns the paths of the modules of the package. */
function modules() {
  return filesIn(bridge).filter((path) => path.endsWith(".js") && !path.endsWith(".min.js") && !path.startsWith("dist"));
}

/** @returns {{name: string, version: string, files: string[], exports: Record<string, any>}} */
function manifest() {
  return JSON.parse(readFileSync(join(bridge, "package.json"), "utf8"));
}

/**
 * Returns the declarations that those of the entry points import.
 * @param {string} dist
 * @param {string[]} paths the paths of entry points, relative to `dist`
 */
function reachable(dist, paths) {
  const found = new Set(paths);
  for (const path of found) {
    const text = readFileSync(join(dist, path), "utf8");
    for (const [, target] of text.matchAll(/"(\.\.?\/[^"]+)\.js"/g)) found.add(join(dirname(path), `${target}.d.ts`));
  }
  return found;
}

/**
 * Removes from the comments of declarations what the declarations themselves say: typedefs, and the types of parameters.
 * @param {string} text
 */
function withoutTypesInComments(text) {
  const made = text.replace(/\/\*\*(?:(?!\*\/).)*@typedef(?:(?!\*\/).)*\*\/\s*/gs, "");
  return made.replace(/\/\*\*(?:(?!\*\/).)*\*\//gs, (comment) => {
    const told = comment.replace(/(@(?:param|returns|type|template|property) )\{(?:[^{}]|\{[^{}]*\})*\} ?/g, "$1");
    const rest = told.replace(/^ *\*? *@(?:returns|type|extends|override|template)\b(?: \w+| \{.*\})?\s*?$\n?/gm, "");
    return /^\/\*\*[\s*]*(?:@(?:returns|type|override)\s*)?\*\/$/.test(rest) ? "" : rest;
  }).replace(/^\s*\n/gm, "");
}

/**
 * Fills a folder with modules and declarations.
 * @param {string} dist
 */
function prepare(dist) {
  rmSync(dist, { recursive: true, force: true });
  run("tsc", ["-p", join(web, "tsconfig.dist.json"), "--outDir", dist]);
  const entries = Object.values(manifest().exports).flatMap(({ types }) => (types === undefined ? [] : [relative("dist", types)]));
  const needed = reachable(dist, entries);
  for (const path of filesIn(dist)) {
    if (needed.has(path)) writeFileSync(join(dist, path), withoutTypesInComments(readFileSync(join(dist, path), "utf8")));
    else rmSync(join(dist, path));
  }
  // Modules that only declare types have no code.
  const code = modules().filter((path) => !/^export \{\};$/m.test(readFileSync(join(bridge, path), "utf8")));
  const sources = join(dist, "src");
  for (const path of code) {
    mkdirSync(dirname(join(sources, path)), { recursive: true });
    copyFileSync(join(bridge, path), join(sources, path));
  }
  run("esbuild", [
    ...code.map((path) => join(sources, path)), "--minify", "--format=esm", "--target=es2022", "--charset=utf8", "--log-level=warning",
    "--sourcemap", "--sources-content=false", `--outbase=${sources}`, `--outdir=${dist}`,
  ]);
}

/**
 * Copies the licence of the project.
 * @param {string} target
 */
function license(target) {
  copyFileSync(join(web, "../LICENSE"), join(target, "LICENSE"));
}

/**
 * @param {string} target
 * @returns {string} the tarball
 */
function pack(target) {
  const { name, version } = manifest();
  const folder = mkdtempSync(join(tmpdir(), "waybridge-package-"));
  const root = join(folder, "package");
  mkdirSync(root);
  prepare(join(root, "dist"));
  license(root);
  for (const path of ["package.json", "README.md"]) copyFileSync(join(bridge, path), join(root, path));
  const tarball = join(target, `${name}-${version}.tgz`);
  run("tar", ["-czf", tarball, "-C", folder, "package"]);
  rmSync(folder, { recursive: true });
  return tarball;
}

const [argument] = process.argv.slice(2);
if (argument === "--prepare") {
  prepare(join(bridge, "dist"));
  license(bridge);
}
else if (argument !== undefined && existsSync(argument)) console.log(pack(argument));
else throw new Error("usage: node web/pack.js --prepare, or FOLDER: an existing folder for the tarball");
