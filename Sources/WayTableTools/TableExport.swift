import WayTable
import WayValues

/// Exports a table for other programs and for people.
package struct TableExport {
  /// The format of an export.
  package enum ExportFormat: String, Sendable, CaseIterable {
    /// The normalized document.
    case json
    /// The normalized document as an XML property list.
    case plist
    /// A page for people.
    case markdown
    /// A page for people, with a search.
    case html
  }

  private let table: RouteTable
  private let demo: String?

  /// `demo` is the URL of a running demo for the links of a page; `nil` for no links.
  package init(_ table: RouteTable, demo: String? = nil) {
    self.table = table
    self.demo = demo
  }

  /// The exported text. It is always the same for the same table.
  package func text(as format: ExportFormat) -> String {
    switch format {
    case .json: PrettyTableJSON.text(NormalizedTable(table).value) + "\n"
    case .plist: PropertyList.text(NormalizedTable(table).value)
    case .markdown: MarkdownTablePage(table).text
    case .html: HTMLTablePage(table, demo: demo).text
    }
  }
}
