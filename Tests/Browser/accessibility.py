"""Computes from a page whether it can be read, and operated without seeing it."""

import json

# Texts of this document whose contrast with their background is below 4.5, at any size (WCAG 2.2, 1.4.3). Disabled and
# inert elements are exempt, as there. Colours are read as the browser draws them, in any notation. Over a gradient each stop counts.
CONTRAST = r"""
  const canvas = new OffscreenCanvas(1, 1).getContext("2d", { willReadFrequently: true });
  const known = new Map();
  const drawn = (colour) => {
    canvas.clearRect(0, 0, 1, 1);
    canvas.fillStyle = colour;
    canvas.fillRect(0, 0, 1, 1);
    const [red, green, blue, alpha] = canvas.getImageData(0, 0, 1, 1).data;
    return [red, green, blue, alpha / 255];
  };
  const parse = (colour) => known.get(colour) ?? known.set(colour, drawn(colour)).get(colour);
  const over = (front, back) => [0, 1, 2].map((part) => front[part] * front[3] + back[part] * (1 - front[3])).concat(1);
  const light = (part) => (part / 255 <= 0.04045 ? part / 255 / 12.92 : ((part / 255 + 0.055) / 1.055) ** 2.4);
  const luminance = ([red, green, blue]) => 0.2126 * light(red) + 0.7152 * light(green) + 0.0722 * light(blue);
  const ratio = (one, other) => (Math.max(luminance(one), luminance(other)) + 0.05) / (Math.min(luminance(one), luminance(other)) + 0.05);
  const isDark = matchMedia("(prefers-color-scheme: dark)").matches && getComputedStyle(document.documentElement).colorScheme.includes("dark");
  const behind = (element) => {
    if (!element) return [isDark ? [0, 0, 0, 1] : [255, 255, 255, 1]];
    const { backgroundColor, backgroundImage } = getComputedStyle(element);
    const layers = (backgroundImage.match(/[a-z-]*(?:rgb|hsl|hwb|lab|lch|color)a?\([^()]*\)/g) ?? []).map(parse);
    const own = parse(backgroundColor);
    const below = own[3] === 1 ? [own] : behind(element.parentElement).map((back) => over(own, back));
    return layers.length === 0 ? below : layers.flatMap((layer) => below.map((back) => over(layer, back)));
  };
  const found = new Map();
  let count = 0;
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    const element = node.parentElement;
    const text = node.data.trim();
    if (!text || !element.checkVisibility({ visibilityProperty: true, opacityProperty: true })) continue;
    if (element.closest("[inert], :disabled, option, title, script, style, textarea")) continue;
    count += 1;
    const isSVG = element instanceof SVGElement;
    const rect = isSVG && element.parentElement.querySelector(":scope > rect");
    const grounds = behind(element).map((back) => (rect ? over(parse(getComputedStyle(rect).fill), back) : back));
    const ink = parse(getComputedStyle(element)[isSVG ? "fill" : "color"]);
    const least = Math.min(...grounds.map((back) => ratio(over(ink, back), back)));
    if (least < 4.5) found.set(`${element.tagName}.${element.getAttribute("class") ?? ""}`, `${least.toFixed(2)} ${text.slice(0, 40)}`);
  }
  return JSON.stringify(count === 0 ? ["no text is shown"] : [...found].map(([what, why]) => `${what}: ${why}`));
"""

# Operable elements and landmarks without a name (ARIA 1.2, accessible name computation, as far as it is used here).
NAMES = """
  const text = (ids) => ids.split(/\\s+/).map((id) => document.getElementById(id)?.textContent ?? "").join(" ");
  const name = (e) => (e.getAttribute("aria-labelledby") ? text(e.getAttribute("aria-labelledby")) : "")
    || e.getAttribute("aria-label") || [...(e.labels ?? [])].map((label) => label.textContent).join(" ")
    || (/^(INPUT|SELECT|TEXTAREA)$/.test(e.tagName) ? "" : e.textContent) || e.getAttribute("title") || "";
  const all = document.querySelectorAll("button, input, select, textarea, a[href], summary, dialog, section, [tabindex], "
    + "[role=tab], [role=tabpanel], [role=option], [role=listbox], [role=grid], [role=region], [role=img], [role=tablist]");
  return JSON.stringify([...all].filter((e) => e.checkVisibility({ visibilityProperty: true }) && !name(e).trim())
    .map((e) => `${e.tagName.toLowerCase()}#${e.id}.${e.getAttribute("class") ?? ""}`));
"""

# Visible controls of this document that are smaller than 44 pixels. A label enlarges its control; links in a text are exempt.
SMALL_TARGETS = """
  const shown = (e) => e.checkVisibility({ visibilityProperty: true }) && !e.closest("[inert]") && !e.disabled;
  const size = (e) => {
    const boxes = [e, ...(e.labels ?? [])].map((each) => each.getBoundingClientRect());
    return Math.min(Math.max(...boxes.map(({ width }) => width)), Math.max(...boxes.map(({ height }) => height)));
  };
  const all = [...document.querySelectorAll("button, input, select, textarea, summary, a[href], [role=option], [role=tab]")];
  return JSON.stringify(all.filter((e) => shown(e) && !(e.matches("a") && e.closest("p")) && size(e) < 43.5)
    .map((e) => `${e.tagName.toLowerCase()}#${e.id} ${e.textContent.trim().slice(0, 30)} ${size(e)}`));
"""

# Roles of Chromium's accessibility tree that need a name.
OPERATED = {"button", "textbox", "searchbox", "combobox", "tab", "option", "link", "checkbox", "listbox", "grid", "tabpanel", "region", "dialog", "image"}


def low_contrast_texts(driver):
    """The texts with too little contrast, as "TAG.class: contrast text"; empty if all are readable."""
    return json.loads(driver.execute_script(CONTRAST))


def unnamed_controls(driver):
    found = json.loads(driver.execute_script(NAMES))
    if hasattr(driver, "execute_cdp_cmd"):
        driver.execute_cdp_cmd("Accessibility.enable", {})
        for node in driver.execute_cdp_cmd("Accessibility.getFullAXTree", {})["nodes"]:
            role = node.get("role", {}).get("value", "")
            if not node.get("ignored") and role in OPERATED and not node.get("name", {}).get("value", "").strip():
                found.append(f"{role} {node['nodeId']}")
    return found


def small_targets(driver):
    """The visible controls that are too small to touch, as "tag#id text size"."""
    return json.loads(driver.execute_script(SMALL_TARGETS))
