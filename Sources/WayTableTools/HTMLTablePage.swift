import WayNavigation
import WayRouting
import WayTable
import WayValues

/// A table as one self-contained HTML page, for people who decide what an app does.
struct HTMLTablePage {
  private let table: RouteTable
  private let demo: String?

  /// `demo` is the URL of a running demo. Its fragment is dropped.
  init(_ table: RouteTable, demo: String?) {
    self.table = table
    self.demo = demo.map { String($0.prefix { $0 != "#" }) }
  }

  var text: String {
    var page = CodeWriter(unit: "")
    page.line("<!doctype html>")
    page.line("<html lang=\"en\">")
    page.line("<head>")
    page.line("<meta charset=\"utf-8\">")
    page.line("<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">")
    page.line("<title>Routes, version \(Self.escaped(table.version))</title>")
    page.verbatim("<style>\n\(Self.style)\n</style>\n")
    page.line("</head>")
    page.line("<body>")
    page.line("<header>")
    page.line("<h1>Routes, version \(Self.escaped(table.version))</h1>")
    page.line("<p>\(summary)</p>")
    page.line("<label>Search <input id=\"search\" type=\"search\" autocomplete=\"off\"></label>")
    page.line("<p id=\"found\" role=\"status\"></p>")
    page.line("</header>")
    page.line("<main>")
    for (heading, kind) in [
      ("Pages", RouteKind.page), ("Tasks", .task), ("Services", .service),
    ] {
      writeSection(heading, table.declarations.routes.filter { $0.kind == kind }, to: &page, write)
    }
    writeSection("Topics", table.topics, to: &page, write)
    writeSection("Types", table.types, to: &page, write)
    writeSection("Redirects", table.declarations.redirects, to: &page, write)
    page.line("</main>")
    page.verbatim("<script>\n\(Self.script)\n</script>\n")
    page.line("</body>")
    page.line("</html>")
    return page.text
  }

  private var summary: String {
    let count = table.declarations.routes.count
    return
      "\(count) route\(count == 1 ? "" : "s"), \(table.topics.count) topics, hash \(table.stamp.hash)"
  }

  private func writeSection<Thing>(
    _ heading: String, _ things: [Thing], to page: inout CodeWriter,
    _ write: (Thing, inout CodeWriter) -> Void
  ) {
    if things.isEmpty { return }
    page.line("<section>")
    page.line("<h2>\(heading)</h2>")
    for thing in things {
      page.line("<article>")
      write(thing, &page)
      page.line("</article>")
    }
    page.line("</section>")
  }

  private func write(_ route: Route, to page: inout CodeWriter) {
    writeHead(route.name, route.title, route.purpose, to: &page)
    if let demo {
      let link = "\(demo)#route=\(Self.percentEncoded(route.name))"
      page.line("<p><a href=\"\(Self.escaped(link))\">Open it in the demo</a></p>")
    }
    page.line("<ul>")
    for pattern in route.patterns {
      page.line("<li><code>\(Self.escaped(pattern.text))</code></li>")
    }
    page.line("</ul>")
    page.line("<dl>")
    for fact in TableRouteFacts.of(route, in: table) {
      page.line("<dt>\(Self.escaped(fact.label))</dt><dd>\(Self.escaped(fact.text))</dd>")
    }
    page.line("</dl>")
    write("Parameter", TableRouteFacts.rows(route.parameters), to: &page)
    write(result: route.result, "Result", to: &page)
    for method in route.methods {
      page.line("<h4>\(Self.escaped(method.name))</h4>")
      writeText(method.title, method.purpose, to: &page)
      write("Parameter", TableRouteFacts.rows(method.parameters), to: &page)
      write(result: method.result, "Answer", to: &page)
    }
  }

  private func write(_ topic: TableTopicDeclaration, to page: inout CodeWriter) {
    writeHead(topic.name, topic.title, topic.purpose, to: &page)
    write(result: topic.data, "Data", to: &page)
  }

  private func write(_ type: (name: String, schema: ValueSchema), to page: inout CodeWriter) {
    writeHead(type.name, type.schema.title ?? type.schema.kind.rawValue, nil, to: &page)
    for fact in type.schema.constraints { page.line("<p>\(Self.escaped(fact))</p>") }
    if let allowed = type.schema.allowed {
      let values = allowed.map { "<code>\(Self.escaped($0.text))</code>" }
      page.line("<p>One of \(values.joined(separator: ", "))</p>")
    }
    write("Member", TableRouteFacts.rows(type.schema), to: &page)
  }

  private func write(_ redirect: Redirect, to page: inout CodeWriter) {
    page.line("<h3><code>\(Self.escaped(redirect.from.text))</code></h3>")
    page.line("<ul>")
    for target in TableRouteFacts.targets(of: redirect) {
      page.line("<li>\(Self.escaped(target))</li>")
    }
    page.line("</ul>")
  }

  private func writeHead(
    _ name: String, _ title: String?, _ purpose: String?, to page: inout CodeWriter
  ) {
    page.line("<h3>\(Self.escaped(name))</h3>")
    writeText(title, purpose, to: &page)
  }

  private func writeText(_ title: String?, _ purpose: String?, to page: inout CodeWriter) {
    if let title { page.line("<p><strong>\(Self.escaped(title))</strong></p>") }
    if let purpose { page.line("<p>\(Self.escaped(purpose))</p>") }
  }

  private func write(result: ValueSchema?, _ word: String, to page: inout CodeWriter) {
    guard let result else { return }
    let title = result.title.map { ", \($0)" } ?? ""
    page.line("<p>\(word): \(Self.escaped(result.typeDescription + title))</p>")
    if result.typeName == nil { write("Member", TableRouteFacts.rows(result), to: &page) }
  }

  private func write(_ head: String, _ rows: [TableRouteFacts.Row], to page: inout CodeWriter) {
    if rows.isEmpty { return }
    page.line("<table>")
    page.line("<tr><th>\(head)</th><th>Type</th><th>Required</th><th>Notes</th></tr>")
    for row in rows {
      let cells = [row.name, row.type, row.requirement, row.notes]
      page.line("<tr>\(cells.map { "<td>\(Self.escaped($0))</td>" }.joined())</tr>")
    }
    page.line("</table>")
  }

  /// The text on one line, with character references for special characters in text and attributes.
  static func escaped(_ text: String) -> String {
    var result = ""
    for scalar in text.visible.unicodeScalars {
      switch scalar {
      case "&": result += "&amp;"
      case "<": result += "&lt;"
      case ">": result += "&gt;"
      case "\"": result += "&quot;"
      case "'": result += "&#39;"
      default: result.unicodeScalars.append(scalar)
      }
    }
    return result
  }

  private static func percentEncoded(_ text: String) -> String {
    text.utf8.map { byte in
      let scalar = Unicode.Scalar(byte)
      let isPlain =
        ("a"..."z").contains(scalar) || ("A"..."Z").contains(scalar)
        || ("0"..."9").contains(scalar) || "-._~".unicodeScalars.contains(scalar)
      let digits = String(byte, radix: 16, uppercase: true)
      return isPlain ? String(Character(scalar)) : "%" + (byte < 0x10 ? "0" : "") + digits
    }.joined()
  }

  private static let style = """
    :root { color-scheme: light dark; font: 1rem/1.5 system-ui, sans-serif; }
    body { margin: 0 auto; max-width: 60rem; padding: 1rem; }
    header { background: Canvas; position: sticky; top: 0; padding-bottom: .5rem; }
    input { font: inherit; padding: .25rem .5rem; width: min(24rem, 70vw); }
    article { border-top: 1px solid color-mix(in srgb, currentColor 25%, transparent); padding: .5rem 0; }
    h3, code { overflow-wrap: anywhere; }
    table { border-collapse: collapse; margin: .5rem 0; }
    th, td { border: 1px solid color-mix(in srgb, currentColor 25%, transparent); padding: .2rem .5rem; text-align: start; vertical-align: top; overflow-wrap: anywhere; }
    dl { display: grid; grid-template-columns: max-content 1fr; gap: 0 1rem; }
    dd { margin: 0; overflow-wrap: anywhere; }
    """

  private static let script = """
    const search = document.querySelector("#search");
    const found = document.querySelector("#found");
    search.addEventListener("input", () => {
      const words = search.value.toLowerCase().split(/\\s+/).filter(Boolean);
      let count = 0;
      for (const section of document.querySelectorAll("section")) {
        for (const article of section.querySelectorAll("article")) {
          const text = article.textContent.toLowerCase();
          article.hidden = !words.every((word) => text.includes(word));
          if (!article.hidden) count += 1;
        }
        section.hidden = !section.querySelector("article:not([hidden])");
      }
      found.textContent = words.length ? `${count} found` : "";
    });
    """
}
