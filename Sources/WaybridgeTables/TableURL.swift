import WayDownload
import Waybridge

/// The address of a table: `https`, or `http` on this machine's loopback.
public struct TableURL: Sendable, Hashable, CustomStringConvertible {
  private static let downloadOptions = DownloadOptions(
    maxSize: TableDocument.maxSize, userAgent: "waybridge/\(BridgeServer.version)")
  private let url: DownloadURL

  /// The address as it was given, without a fragment.
  public var description: String { url.description }

  /// Throws `TableError` for an invalid URL.
  public init(_ text: String) throws(TableError) {
    do throws(DownloadError) {
      url = try DownloadURL(text)
    } catch {
      throw TableError(.unreadable, "The table URL \(text.prefix(200)) \(error.reason)")
    }
  }

  /// Requests the table.
  ///
  /// - Parameters:
  ///   - etag: the entity tag of the stored table; nil for none.
  ///   - timeout: the limit of the whole request.
  func fetch(
    etag: String?, timeout: Duration
  ) async throws(TableError) -> Download.DownloadResult {
    do throws(DownloadError) {
      return try await Download.get(
        url, etag: etag, options: Self.downloadOptions, timeout: timeout)
    } catch {
      throw TableError(.unreadable, "The table at \(self) \(error.reason)")
    }
  }

  /// Whether a string is a URL, and not the path of a file.
  public static func hasURLScheme(in text: String) -> Bool {
    let text = text.lowercased()
    return text.hasPrefix("https://") || text.hasPrefix("http://")
  }
}
