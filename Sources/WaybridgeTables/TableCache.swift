import Foundation
import WayRPC
import WayValues
import Waybridge

/// The last good table of each address, stored in a folder under the whole address.
struct TableCache: Sendable {
  /// A stored table.
  struct CachedTable: Sendable {
    let document: Value
    let etag: String?
  }

  /// The longest part of an address in a file's name, in bytes.
  private static let maxNameLength = 180
  let folder: URL

  /// Creates the folder if necessary, for its owner only. Throws ``TableError``.
  init(folder: String) throws(TableError) {
    self.folder = URL(fileURLWithPath: folder, isDirectory: true)
    do {
      try FileManager.default.createDirectory(
        at: self.folder, withIntermediateDirectories: true,
        attributes: [.posixPermissions: 0o700])
    } catch {
      throw TableError(
        .unreadable,
        "The folder \(folder) for the last valid table cannot be created: \(error.localizedDescription)"
      )
    }
  }

  /// `$XDG_CACHE_HOME/waybridge/tables`, or `~/.cache/waybridge/tables`.
  static var defaultFolder: String {
    let environment = ProcessInfo.processInfo.environment
    let base =
      environment["XDG_CACHE_HOME"].flatMap { $0.hasPrefix("/") ? $0 : nil }
      ?? NSHomeDirectory() + "/.cache"
    return base + "/waybridge/tables"
  }

  /// The file of an address. If the address is too long for a name, its hash distinguishes it, and
  /// the file's own `url` is compared.
  func file(of source: TableURL) -> URL {
    let allowed = CharacterSet.alphanumerics.intersection(
      CharacterSet(charactersIn: "\0"..."\u{7f}")
    )
    .union(CharacterSet(charactersIn: "-._"))
    let escaped =
      source.description.addingPercentEncoding(withAllowedCharacters: allowed) ?? "table"
    guard escaped.utf8.count > Self.maxNameLength else {
      return folder.appendingPathComponent(escaped + ".json")
    }
    var hash = StableHash()
    hash.add(source.description)
    return folder.appendingPathComponent(
      "\(escaped.prefix(Self.maxNameLength))~\(hash.hexString).json")
  }

  /// Reads the last good table; nil if there is none, or it cannot be read.
  func read(_ source: TableURL) -> CachedTable? {
    let file = BoundedServerFile(
      file(of: source).path, limit: 2 * TableDocument.maxSize, isRegular: true)
    guard let bytes = try? file.read().bytes, let cached = try? JSON.parse(bytes.span.bytes),
      cached["url"]?.string == source.description, let document = cached["table"]
    else { return nil }
    return CachedTable(document: document, etag: cached["etag"]?.string)
  }

  /// Replaces the stored table, as a whole or not at all. Throws ``TableError``.
  func write(_ document: Value, etag: String?, of source: TableURL) throws(TableError) {
    var cached: ValueObject = ["url": .string(source.description)]
    cached["etag"] = etag.map(Value.string)
    cached["table"] = document
    do {
      let file = file(of: source)
      try Data(try JSON.text(.object(cached)).utf8).write(to: file, options: .atomic)
      try FileManager.default.setAttributes(
        [.posixPermissions: 0o600], ofItemAtPath: file.path)
    } catch {
      throw TableError(
        .unreadable, "The last valid table cannot be stored in \(folder.path): \(error)")
    }
  }
}
