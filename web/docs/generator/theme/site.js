// @ts-check
// Search, the menu of narrow windows, the theme, and copying code. Pages are whole without it.

const root = document.documentElement.dataset.root ?? "";

/**
 * @template {Element} T
 * @param {string} selector
 * @returns {T}
 */
function one(selector) {
  const found = document.querySelector(selector);
  if (!found) throw new Error(`the page has no ${selector}`);
  return /** @type {any} */ (found);
}

// Title, kind, address, page, words.
/** @typedef {[string, string, string, string, string]} Row */

/** @type {Promise<Row[]> | undefined} */
let loading;

/** The index: a script, which pages that are files may load, and only once somebody searches. */
function index() {
  loading ??= new Promise((resolve, reject) => {
    const script = document.createElement("script");
    script.src = `${root}search-index.js`;
    script.onload = () => resolve(/** @type {any} */ (globalThis).waybridgeIndex);
    script.onerror = () => {
      loading = undefined;
      reject(new Error("search-index.js cannot be loaded"));
    };
    document.head.append(script);
  });
  return loading;
}

/**
 * How well a row fits, 0 for not at all: each word has to be found in it. A title counts more than words of the text,
 * its beginning more than its middle, and a short one more than a long one.
 * @param {Row} row
 * @param {string[]} words
 * @param {string} asked as it was typed: of two names that differ in case, the one that was meant is first
 */
function rank([title, kind, , page, text], words, asked) {
  const lower = title.toLowerCase();
  const last = lower.slice(lower.lastIndexOf(".") + 1);
  let sum = 0;
  for (const word of words) {
    if (lower === word || last === word) sum += 120;
    else if (last.startsWith(word)) sum += 80;
    else if (lower.startsWith(word)) sum += 70;
    else if (lower.includes(word)) sum += 40;
    else if (`${page} ${kind}`.toLowerCase().includes(word)) sum += 12;
    else if (text.toLowerCase().includes(word)) sum += 8;
    else return 0;
  }
  return sum + (title === asked ? 5 : 0) + (kind === "page" ? 6 : 0) - Math.min(title.length, 60) / 10 + 10;
}

const search = /** @type {HTMLInputElement} */ (one("#search"));
const results = one("#results");
const told = one(".found");
let chosen = -1;

function closeResults() {
  results.setAttribute("hidden", "");
  search.setAttribute("aria-expanded", "false");
  search.removeAttribute("aria-activedescendant");
  chosen = -1;
}

/** @param {number} place */
function choose(place) {
  const rows = [...results.children].filter((row) => row.getAttribute("role") === "option");
  if (!rows.length) return;
  chosen = (place + rows.length) % rows.length;
  rows.forEach((row, number) => row.setAttribute("aria-selected", String(number === chosen)));
  rows[chosen].scrollIntoView({ block: "nearest" });
  search.setAttribute("aria-activedescendant", rows[chosen].id);
}

/**
 * @param {Row} row
 * @param {number} number
 */
function item([title, kind, address, page], number) {
  const row = document.createElement("li");
  row.id = `result-${number}`;
  row.setAttribute("role", "option");
  row.dataset.address = root + address;
  const label = Object.assign(document.createElement("span"), { className: "kind", textContent: kind });
  const where = Object.assign(document.createElement("span"), { className: "where", textContent: page === title ? "" : page });
  row.append(label, title, where);
  row.addEventListener("pointerdown", (event) => {
    event.preventDefault();
    location.assign(row.dataset.address ?? "");
    closeResults();
  });
  return row;
}

async function find() {
  const asked = search.value;
  const words = asked.toLowerCase().split(/\s+/).filter(Boolean);
  if (!words.length) return closeResults();
  let rows;
  try {
    rows = await index();
  } catch (/** @type {any} */ error) {
    told.textContent = error.message;
    return;
  }
  if (asked !== search.value) return;
  const found = rows.map((row) => ({ row, sum: rank(row, words, asked.trim()) })).filter(({ sum }) => sum > 0);
  found.sort((a, b) => b.sum - a.sum);
  results.replaceChildren(...found.slice(0, 30).map(({ row }, number) => item(row, number)));
  if (!found.length) {
    const none = document.createElement("li");
    none.textContent = `Nothing has “${asked}” in it.`;
    results.append(none);
  }
  told.textContent = `${found.length} found`;
  results.removeAttribute("hidden");
  search.setAttribute("aria-expanded", "true");
  chosen = -1;
  choose(0);
}

search.addEventListener("focus", () => void index().catch(() => {}));
search.addEventListener("input", () => void find());
search.addEventListener("blur", closeResults);
search.addEventListener("keydown", (event) => {
  if (event.key === "ArrowDown" || event.key === "ArrowUp") {
    event.preventDefault();
    choose(chosen + (event.key === "ArrowDown" ? 1 : -1));
  } else if (event.key === "Escape") {
    search.value = "";
    closeResults();
  }
});
one("form.search").addEventListener("submit", (event) => {
  event.preventDefault();
  const row = results.querySelector('[aria-selected="true"]');
  if (row instanceof HTMLElement && row.dataset.address) {
    location.assign(row.dataset.address);
    closeResults();
  }
});
document.addEventListener("keydown", (event) => {
  const isTyping = event.target instanceof HTMLElement && /^(INPUT|TEXTAREA|SELECT)$/.test(event.target.tagName);
  if (event.key === "/" && !isTyping && !event.ctrlKey && !event.metaKey && !event.altKey) {
    event.preventDefault();
    search.focus();
  }
});

const menu = one(".menu");
menu.addEventListener("click", () => {
  const isOpen = one(".pages").classList.toggle("open");
  menu.setAttribute("aria-expanded", String(isOpen));
});

const theme = one(".theme");
const dark = matchMedia("(prefers-color-scheme: dark)");
const shown = () => document.documentElement.dataset.theme ?? (dark.matches ? "dark" : "light");
const label = () => (theme.textContent = shown() === "dark" ? "Light" : "Dark");
theme.addEventListener("click", () => {
  const next = shown() === "dark" ? "light" : "dark";
  document.documentElement.dataset.theme = next;
  try {
    localStorage.setItem("waybridge-theme", next);
  } catch {
    // Then it lasts for this page.
  }
  label();
});
dark.addEventListener("change", label);
label();

for (const block of document.querySelectorAll(".code:not(.declaration)")) {
  const copy = Object.assign(document.createElement("button"), { className: "copy", type: "button", textContent: "Copy" });
  copy.addEventListener("click", async () => {
    try {
      await navigator.clipboard.writeText(block.querySelector("code")?.textContent ?? "");
      copy.textContent = "Copied";
    } catch {
      copy.textContent = "Select it and copy";
    }
  });
  block.append(copy);
}

// The list of pages is long: the one that is shown is in sight.
document.querySelector('.pages [aria-current="page"]')?.scrollIntoView({ block: "nearest" });
