// @ts-check
import assert from "node:assert/strict";
import { execFile, execFileSync, spawnSync } from "node:child_process";
import { cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { test } from "node:test";
import { fileURLToPath } from "node:url";

const WEB = fileURLToPath(new URL("..", import.meta.url));
const CONSUMERS = new URL("consumers/", import.meta.url);
/** Bytes that the package may have, packed and unpacked. */
const LARGEST = 200000;
/** What `main.ts` tells when it is run. */
const SEEN = [
  true, 7, 7, "noBridge", "finished", "a/2", "Main", { uri: "native://address/a%2F2", params: { zoom: 3 } }, true, { canOpen: true, kind: "page" }, true,
  2, "cart.changed 2", true, "a3", 1, null, "open", "closed",
];
const STRICT = {
  strict: true, exactOptionalPropertyTypes: true, noUncheckedIndexedAccess: true, target: "ES2022", lib: ["ES2022", "DOM", "DOM.Iterable"], types: [], outDir: "out",
};
/** @type {Record<string, object>} how projects look for modules */
const PROJECTS = {
  NodeNext: { ...STRICT, module: "NodeNext", moduleResolution: "NodeNext" },
  bundler: { ...STRICT, module: "ES2022", moduleResolution: "node", noEmit: true },
};

/**
 * @param {string} command
 * @param {string[]} words
 * @param {string} cwd
 */
function run(command, words, cwd) {
  const { status, stdout, stderr, error } = spawnSync(command, words, { cwd, encoding: "utf8" });
  if (error !== undefined) throw error;
  return { status, stdout, stderr };
}

const folder = mkdtempSync(`${tmpdir()}/waybridge-consumers-`);
const { status: packed, stdout, stderr } = run("node", ["pack.js", folder], WEB);
const tarball = stdout.trim();

/**
 * A project that has the package installed, and what is in `consumers`.
 * @param {string} name
 */
function project(name) {
  const root = `${folder}/${name}`;
  mkdirSync(`${root}/node_modules`, { recursive: true });
  cpSync(CONSUMERS, root, { recursive: true });
  writeFileSync(`${root}/package.json`, '{ "private": true, "type": "module" }');
  assert.equal(run("tar", ["-xzf", tarball, "-C", `${root}/node_modules`], root).status, 0);
  renameSync(`${root}/node_modules/package`, `${root}/node_modules/waybridge`);
  return root;
}

test("the package has what is needed and no more, and is small", () => {
  assert.equal(packed, 0, stderr);
  const root = `${project("package")}/node_modules/waybridge`;
  const files = readdirSync(root, { recursive: true, withFileTypes: true }).filter((each) => each.isFile()).map(({ path, name }) => `${path}/${name}`);
  const sizes = files.map((path) => statSync(path).size);
  const unpacked = sizes.reduce((sum, size) => sum + size);
  assert(unpacked < LARGEST && statSync(tarball).size < LARGEST, `${unpacked} bytes, packed ${statSync(tarball).size}`);
  const names = files.map((path) => path.slice(root.length + 1));
  assert.deepEqual(names.filter((name) => !name.startsWith("dist/")).sort(), ["LICENSE", "README.md", "package.json"]);
  assert.deepEqual(names.filter((name) => /test|demo|\.min\.|\.map$/.test(name)), []);
  const manifest = JSON.parse(readFileSync(`${root}/package.json`, "utf8"));
  assert.deepEqual([manifest.name, manifest.license, manifest.sideEffects, manifest.private], ["waybridge", "Apache-2.0", false, undefined]);
  for (const target of Object.values(manifest.exports).flatMap((each) => (typeof each === "string" ? [each] : Object.values(each)))) {
    assert(names.includes(target.slice(2)), `${target} is exported, but not there`);
  }
  assert.match(readFileSync(`${root}/dist/caller.d.ts`, "utf8"), /that it was dismissed is an outcome, not an error/);
});

const hasNPM = spawnSync("npm", ["--version"], { encoding: "utf8" }).error === undefined;

test("npm pack makes the same package", { skip: hasNPM ? false : "there is no npm" }, () => {
  const theirs = `${folder}/npm`;
  mkdirSync(theirs, { recursive: true });
  const { status, stderr: told } = run("npm", ["pack", "--pack-destination", theirs], `${WEB}bridge`);
  assert.equal(status, 0, told);
  assert.equal(run("sh", ["-c", "tar -xzf *.tgz"], theirs).status, 0);
  const { stdout: differences } = run("diff", ["-r", `${theirs}/package`, `${project("ours")}/node_modules/waybridge`], theirs);
  assert.equal(differences, "");
});

for (const [name, compilerOptions] of Object.entries(PROJECTS)) {
  test(`a strict TypeScript project of the kind ${name} compiles, and its mistakes do not`, () => {
    const root = project(name);
    writeFileSync(`${root}/tsconfig.json`, JSON.stringify({ compilerOptions }));
    const { stdout: told } = run("tsc", ["-p", "."], root);
    const lines = readFileSync(`${root}/mistakes.ts`, "utf8").split("\n");
    const expected = lines.flatMap((line, index) => {
      const [, usual, older] = / \/\/ (TS\d+)(?: or (TS\d+))?$/.exec(line) ?? [];
      return usual === undefined ? [] : [`mistakes.ts(${index + 1}): ${name === "NodeNext" ? usual : older ?? usual}`];
    });
    const found = [...told.matchAll(/^(\S+)\((\d+),\d+\): error (TS\d+)/gm)].map(([, file, line, code]) => `${file}(${line}): ${code}`);
    assert(expected.length > 30);
    assert.deepEqual(found, expected, told);
    const script = name === "NodeNext" ? "out/main.js" : "bundle.js";
    if (script === "bundle.js") assert.equal(run("esbuild", ["main.ts", "--bundle", "--format=esm", "--outfile=bundle.js"], root).status, 0);
    const { stdout: seen, stderr: failure } = run("node", [script], root);
    assert.deepEqual(JSON.parse(seen || "null"), SEEN, failure);
  });
}

/**
 * What a page shows in Chromium, and the paths that it asked for.
 * @param {string} root
 * @param {string} path
 * @returns {Promise<{shown: string, asked: string[]}>}
 */
async function shown(root, path) {
  /** @type {string[]} */
  const asked = [];
  const server = createServer(({ url }, response) => {
    asked.push(url);
    // A browser asks for an icon too.
    const isThere = existsSync(root + url);
    const type = url.endsWith(".js") ? "text/javascript" : "text/html";
    response.writeHead(isThere ? 200 : 404, { "content-type": type }).end(isThere ? readFileSync(root + url) : undefined);
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", () => resolve(undefined)));
  const flags = ["--headless", "--no-sandbox", "--disable-gpu", `--user-data-dir=${root}/profile`, "--virtual-time-budget=10000", "--dump-dom"];
  try {
    /** @type {string} */
    const html = await new Promise((resolve, reject) => {
      const address = `http://127.0.0.1:${server.address().port}${path}`;
      execFile("chromium", [...flags, address], { timeout: 60000 }, (error, out) => (error === null ? resolve(out) : reject(error)));
    });
    return { shown: /<body>([^<]*)/.exec(html)?.[1].trim() ?? "", asked };
  } finally {
    server.closeAllConnections();
    server.close();
  }
}

test("plain JavaScript in a browser finds the package by an import map", { timeout: 90000 }, async () => {
  const { shown: told } = await shown(project("plain"), "/plain.html");
  assert.deepEqual(JSON.parse(told || "null"), [true, "a/2", 2, 2404]);
});

/** @type {[string, number][]} what pages may load in one request, with its bytes after `gzip -9` */
const WHOLE = [["caller", 8192], ["host", 12288], ["bridge", 20412]];

for (const [entry, most] of WHOLE) {
  test(`a page that loads ${entry}.min.js asks once, for no more than ${most} bytes`, { timeout: 90000 }, async () => {
    const root = `${folder}/${entry}`;
    mkdirSync(root, { recursive: true });
    cpSync(`${WEB}bridge/${entry}.min.js`, `${root}/${entry}.min.js`, { recursive: false });
    const name = entry[0].toUpperCase() + entry.slice(1);
    writeFileSync(`${root}/page.html`, `<!doctype html><body></body><script type="module">
      import { ${name} } from "./${entry}.min.js";
      const client = new ${name}({ url: null });
      client.invoke("action://a").catch((error) => (document.body.textContent = error.kind));
    </script>`);
    const { shown: told, asked } = await shown(root, "/page.html");
    assert.equal(told, "noBridge");
    assert.deepEqual(asked.filter((url) => url.endsWith("js")), [`/${entry}.min.js`]);
    const { length } = execFileSync("gzip", ["-9", "-c", `${WEB}bridge/${entry}.min.js`]);
    assert(length <= most, `${length} bytes`);
  });
}

test("the folders are gone", () => rmSync(folder, { recursive: true }));
