import WayTable
import WayValues

/// A table for other programs and for people.
package struct TableExport {
  /// In which form.
  package enum Format: String, Sendable, CaseIterable {
    /// The document itself in one order, without what goes without saying.
    case json
    /// The same as a property list in XML.
    case plist
    /// A page for people.
    case markdown
    /// A page for people, with a search.
    case html
  }

  private let table: RouteTable
  private let demo: String?

  /// `demo` is the address of a running demo, which a page links to; nil for no links.
  package init(_ table: RouteTable, demo: String? = nil) {
    self.table = table
    self.demo = demo
  }

  /// The text: the same for the same table, always.
  package func text(as format: Format) -> String {
    switch format {
    case .json: PrettyTableJSON.text(NormalizedTable(table).value) + "\n"
    case .plist: PropertyList.text(NormalizedTable(table).value)
    case .markdown: MarkdownPage(table).text
    case .html: HTMLPage(table, demo: demo).text
    }
  }
}
