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
    /// Apple's file about the URLs of a website that open in an app.
    case appleAppSiteAssociation = "apple-app-site-association"
    /// Google's file about the apps that may open the URLs of a website.
    case assetLinks = "assetlinks"

    /// Whether it is a file about the apps of a website, which is for one host.
    package var isAssociation: Bool { self == .appleAppSiteAssociation || self == .assetLinks }
  }

  private let table: RouteTable
  /// The URL of a running demo for the links of a page; `nil` for no links.
  package var demo: String?
  /// The host that an association file is for; `nil` for the only one that the table names.
  package var host: String?
  /// The apps of Apple's association file.
  package var appIDs: [AppleAppID] = []
  /// The apps of Google's association file.
  package var androidApps: [AndroidApp] = []

  package init(_ table: RouteTable) {
    self.table = table
  }

  /// Returns the exported text. It is always the same for the same table and options. Throws for an
  /// association file without paths, for several hosts, or that is too large.
  package func text(as format: ExportFormat) throws(TableExportError) -> String {
    switch format {
    case .json: return PrettyTableJSON.text(NormalizedTable(table).value) + "\n"
    case .plist: return PropertyList.text(NormalizedTable(table).value)
    case .markdown: return MarkdownTablePage(table).text
    case .html: return HTMLTablePage(table, demo: demo).text
    case .appleAppSiteAssociation:
      return try AppSiteAssociation(AssociatedPaths(table, host: host), appIDs: appIDs).text()
    case .assetLinks:
      // It has no paths, but without any the table opens nothing of this host.
      _ = try AssociatedPaths(table, host: host)
      return AssetLinks(androidApps).text
    }
  }
}
