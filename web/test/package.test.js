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
/** The most bytes of the package: as a tarball, and unpacked, most of which are sources for debuggers. */
const LARGEST = { packed: 266000, unpacked: 850000 };
/** The output of `main.ts`. */
const SEEN = [
  true, 7, 7, "noBridge", "finished", "a/2", "Main", { uri: "native://address/a%2F2", params: { zoom: 3 } }, true, { canOpen: true, kind: "page" }, true,
  1, 2, "cart.changed 2", true, "a3", 1, null, "open", false, 0, "closed",
];
const STRICT = {
  strict: true, exactOptionalPropertyTypes: true, noUncheckedIndexedAccess: true, target: "ES2022", lib: ["ES2022", "DOM", "DOM.Iterable"], types: [], outDir: "out",
};
/** @type {Record<string, object>} how projects resolve modules */
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
 * Creates a project that has the package installed, with the files of `consumers`.
 * @param {string} name
 */
function project(name) {
  const root = `${folder}/${name}`;
  mkdirSync(`${root}/node_modules`, { recursive: true });
  cpSync(CONSUMERS, root, { recursive: true });
  writeFileSync(`${root}/package.json`, '{ "private": true, "type": "module" }');
  assert.equal(run("tar", ["-xzf", tarball, "-C", `${root}/node_modules`], root).status, 0);
  renameSync(`${root}/node_modules/package`, `${root}/node_modules/waybridge`);
  // Tests/Browser has the types of React itself.
  mkdirSync(`${root}/node_modules/react`, { recursive: true });
  writeFileSync(`${root}/node_modules/react/package.json`, '{ "types": "index.d.ts" }');
  cpSync(`${WEB}react.d.ts`, `${root}/node_modules/react/index.d.ts`, { recursive: false });
  return root;
}

test("the package has the needed files and no others, and is small", () => {
  assert.equal(packed, 0, stderr);
  const root = `${project("package")}/node_modules/waybridge`;
  const files = readdirSync(root, { recursive: true, withFileTypes: true }).filter((each) => each.isFile()).map(({ path, name }) => `${path}/${name}`);
  const sizes = files.map((path) => statSync(path).size);
  const unpacked = sizes.reduce((sum, size) => sum + size);
  assert(unpacked < LARGEST.unpacked && statSync(tarball).size < LARGEST.packed, `${unpacked} bytes, packed ${statSync(tarball).size}`);
  const names = files.map((path) => path.slice(root.length + 1));
  assert.deepEqual(names.filter((name) => !name.startsWith("dist/")).sort(), ["LICENSE", "README.md", "package.json"]);
  assert.deepEqual(names.filter((name) => /test|demo|\.min\./.test(name)), []);
  const modules = names.filter((name) => name.endsWith(".js") && !name.startsWith("dist/src/"));
  for (const name of modules) {
    const { sources } = JSON.parse(readFileSync(`${root}/${name}.map`, "utf8"));
    assert(readFileSync(`${root}/${name}`, "utf8").endsWith(`//# sourceMappingURL=${name.split("/").at(-1)}.map\n`), name);
    assert.deepEqual(sources.map((/** @type {string} */ source) => new URL(source, `file:///${name}`).pathname.slice(1)), [name.replace("dist/", "dist/src/")]);
    assert(names.includes(name.replace("dist/", "dist/src/")), `${name} has no source`);
  }
  assert.deepEqual(names.filter((name) => /^dist\/src\/.*\.js$/.test(name)).length, modules.length);
  const manifest = JSON.parse(readFileSync(`${root}/package.json`, "utf8"));
  for (const address of [manifest.homepage, manifest.bugs, manifest.repository.url]) assert.match(address, /https:\/\/github\.com\/waybridge\/waybridge\b/);
  assert.deepEqual([manifest.name, manifest.license, manifest.sideEffects, manifest.private], ["waybridge", "Apache-2.0", false, undefined]);
  for (const target of Object.values(manifest.exports).flatMap((each) => (typeof each === "string" ? [each] : Object.values(each)))) {
    assert(names.includes(target.slice(2)), `${target} is exported, but not there`);
  }
  assert.match(readFileSync(`${root}/dist/caller.d.ts`, "utf8"), /A dismissed page is an outcome, not an error/);
});

const hasNPM = spawnSync("npm", ["--version"], { encoding: "utf8" }).error === undefined;

test("npm pack creates the same package", { skip: hasNPM ? false : "there is no npm" }, () => {
  const theirs = `${folder}/npm`;
  mkdirSync(theirs, { recursive: true });
  const { status, stderr: reported } = run("npm", ["pack", "--pack-destination", theirs], `${WEB}bridge`);
  assert.equal(status, 0, reported);
  assert.equal(run("sh", ["-c", "tar -xzf *.tgz"], theirs).status, 0);
  const { stdout: differences } = run("diff", ["-r", `${theirs}/package`, `${project("ours")}/node_modules/waybridge`], theirs);
  assert.equal(differences, "");
});

for (const [name, compilerOptions] of Object.entries(PROJECTS)) {
  test(`a strict TypeScript project with ${name} modules compiles, and its mistakes do not`, () => {
    const root = project(name);
    writeFileSync(`${root}/tsconfig.json`, JSON.stringify({ compilerOptions }));
    const { stdout: notified } = run("tsc", ["-p", "."], root);
    const lines = readFileSync(`${root}/mistakes.ts`, "utf8").split("\n");
    const expected = lines.flatMap((line, index) => {
      const [, usual, older] = / \/\/ (TS\d+)(?: or (TS\d+))?$/.exec(line) ?? [];
      return usual === undefined ? [] : [`mistakes.ts(${index + 1}): ${name === "NodeNext" ? usual : older ?? usual}`];
    });
    const found = [...notified.matchAll(/^(\S+)\((\d+),\d+\): error (TS\d+)/gm)].map(([, file, line, code]) => `${file}(${line}): ${code}`);
    assert(expected.length > 30);
    assert.deepEqual(found, expected, notified);
    const script = name === "NodeNext" ? "out/main.js" : "bundle.js";
    if (script === "bundle.js") assert.equal(run("esbuild", ["main.ts", "--bundle", "--format=esm", "--outfile=bundle.js"], root).status, 0);
    const { stdout: seen, stderr: failure } = run("node", [script], root);
    assert.deepEqual(JSON.parse(seen || "null"), SEEN, failure);
  });
}

/**
 * Returns the text that a page shows in Chromium, and the requested paths.
 * @param {string} root
 * @param {string} path
 * @returns {Promise<{shown: string, requests: string[]}>}
 */
async function shown(root, path) {
  /** @type {string[]} */
  const requests = [];
  const server = createServer(({ url }, response) => {
    requests.push(url);
    // A browser requests an icon too.
    const isThere = existsSync(root + url);
    const type = url.endsWith(".js") ? "text/javascript" : "text/html";
    response.writeHead(isThere ? 200 : 404, { "content-type": type }).end(isThere ? readFileSync(root + url) : undefined);
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", () => resolve(undefined)));
  const flags = ["--no-sandbox", "--disable-gpu", `--user-data-dir=${root}/profile`, "--virtual-time-budget=10000", "--dump-dom"];
  try {
    /** @type {string} */
    const html = await new Promise((resolve, reject) => {
      const address = `http://127.0.0.1:${server.address().port}${path}`;
      execFile("/usr/lib/chromium/chromium-headless-shell", [...flags, address], { timeout: 60000 }, (error, out) => (error === null ? resolve(out) : reject(error)));
    });
    return { shown: /<body>([^<]*)/.exec(html)?.[1].trim() ?? "", requests };
  } finally {
    server.closeAllConnections();
    server.close();
  }
}

test("plain JavaScript in a browser finds the package by an import map", { timeout: 90000 }, async () => {
  const { shown: text } = await shown(project("plain"), "/plain.html");
  assert.deepEqual(JSON.parse(text || "null"), [true, "a/2", 2, 2404]);
});

/** @type {[string, number][]} files that pages can load with one request, with the maximum size in bytes after `gzip -9` */
const WHOLE = [["caller", 8448], ["host", 13056], ["bridge", 23552]];

for (const [entry, most] of WHOLE) {
  test(`a page that loads ${entry}.min.js sends one request for at most ${most} bytes`, { timeout: 90000 }, async () => {
    const root = `${folder}/${entry}`;
    mkdirSync(root, { recursive: true });
    cpSync(`${WEB}bridge/${entry}.min.js`, `${root}/${entry}.min.js`, { recursive: false });
    const name = entry[0].toUpperCase() + entry.slice(1);
    writeFileSync(`${root}/page.html`, `<!doctype html><body></body><script type="module">
      import { ${name} } from "./${entry}.min.js";
      const client = new ${name}({ url: null });
      client.invoke("action://a").catch((error) => (document.body.textContent = error.kind));
    </script>`);
    const { shown: text, requests } = await shown(root, "/page.html");
    assert.equal(text, "noBridge");
    assert.deepEqual(requests.filter((url) => url.endsWith("js")), [`/${entry}.min.js`]);
    const { length } = execFileSync("gzip", ["-9", "-c", `${WEB}bridge/${entry}.min.js`]);
    assert(length <= most, `${length} bytes`);
  });
}

test("the folders are removed", () => rmSync(folder, { recursive: true }));
