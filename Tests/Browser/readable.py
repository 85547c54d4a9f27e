"""Whether a page can be read, and operated by who does not see it: computed from the page."""

import json

# Text whose contrast with what lies behind it is below 4.5, or 3 where it is large (WCAG 2.2, 1.4.3).
CONTRAST = r"""
  const parse = (text) => { const [r, g, b, a = 1] = text.match(/[\d.]+/g).map(Number); return [r, g, b, a]; };
  const over = ([r, g, b, a], [R, G, B]) => [r * a + R * (1 - a), g * a + G * (1 - a), b * a + B * (1 - a)];
  const light = (part) => { const c = part / 255; return c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4; };
  const luminance = ([r, g, b]) => 0.2126 * light(r) + 0.7152 * light(g) + 0.0722 * light(b);
  const behind = (element) => {
    const layers = [];
    for (let e = element; e; e = e.parentElement) {
      const color = parse(getComputedStyle(e).backgroundColor);
      if (color[3] > 0) layers.push(color);
      if (color[3] === 1) break;
    }
    return layers.reverse().reduce((below, layer) => over(layer, below), matchMedia("(prefers-color-scheme: dark)").matches ? [0, 0, 0] : [255, 255, 255]);
  };
  const found = new Map();
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    const element = node.parentElement;
    if (!node.data.trim() || !element.checkVisibility({ visibilityProperty: true, opacityProperty: true }) || element.closest("option, title")) continue;
    const style = getComputedStyle(element);
    if (element.closest("button:disabled")) continue;
    let below = behind(element);
    if (element instanceof SVGElement) {
      const rect = element.parentElement.querySelector(":scope > rect");
      if (rect) below = over(parse(getComputedStyle(rect).fill), below);
    }
    const ink = over(parse(element instanceof SVGElement ? style.fill : style.color), below);
    const [a, b] = [luminance(ink), luminance(below)].sort((x, y) => y - x);
    const ratio = (a + 0.05) / (b + 0.05);
    const size = parseFloat(style.fontSize);
    const isLarge = size >= 24 || (size >= 18.66 && Number(style.fontWeight) >= 700);
    if (ratio < (isLarge ? 3 : 4.5)) found.set(`${element.tagName}.${element.getAttribute("class") ?? ""}`, `${ratio.toFixed(2)} ${node.data.trim().slice(0, 30)}`);
  }
  return JSON.stringify([...found].map(([what, why]) => `${what}: ${why}`));
"""

# What can be operated or is a place to go to, and has no name (ARIA 1.2, accessible name computation, as far as it is used here).
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

# Roles of Chromium's accessibility tree that need a name.
OPERATED = {"button", "textbox", "searchbox", "combobox", "tab", "option", "link", "checkbox", "listbox", "grid", "tabpanel", "region", "dialog", "image"}


def pale(driver):
    return json.loads(driver.execute_script(CONTRAST))


def nameless(driver):
    found = json.loads(driver.execute_script(NAMES))
    if hasattr(driver, "execute_cdp_cmd"):
        driver.execute_cdp_cmd("Accessibility.enable", {})
        for node in driver.execute_cdp_cmd("Accessibility.getFullAXTree", {})["nodes"]:
            role = node.get("role", {}).get("value", "")
            if not node.get("ignored") and role in OPERATED and not node.get("name", {}).get("value", "").strip():
                found.append(f"{role} {node['nodeId']}")
    return found
