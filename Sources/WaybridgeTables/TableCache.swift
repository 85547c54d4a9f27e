import Foundation
import WayRPC
import WayValues
import Waybridge

/// The last good table of each address, kept in a folder under the whole address.
struct TableCache: Sendable {
  /// What is kept.
  struct Entry: Sendable {
    let document: Value
    let etag: String?
  }

  /// The longest part of an address that a file's name has.
  private static let maxName = 180
  let folder: URL

  /// The folder is made where there is none, for its owner alone. Throws ``TableError``.
  init(folder: String) throws(TableError) {
    self.folder = URL(fileURLWithPath: folder, isDirectory: true)
    do {
      try FileManager.default.createDirectory(
        at: self.folder, withIntermediateDirectories: true,
        attributes: [.posixPermissions: 0o700])
    } catch {
      throw TableError(
        .unreadable,
        "The folder \(folder) for the last good table cannot be made: \(error.localizedDescription)"
      )
    }
  }

  /// `$XDG_CACHE_HOME/waybridge/tables`, or `~/.cache/waybridge/tables`.
  static var usualFolder: String {
    let environment = ProcessInfo.processInfo.environment
    let base =
      environment["XDG_CACHE_HOME"].flatMap { $0.hasPrefix("/") ? $0 : nil }
      ?? NSHomeDirectory() + "/.cache"
    return base + "/waybridge/tables"
  }

  /// The file of an address. Where the address is too long for a name, its hash tells it apart, and
  /// the file's own `url` is compared.
  func file(of source: TableURL) -> URL {
    let allowed = CharacterSet.alphanumerics.intersection(
      CharacterSet(charactersIn: "\0"..."\u{7f}")
    )
    .union(CharacterSet(charactersIn: "-._"))
    let escaped =
      source.description.addingPercentEncoding(withAllowedCharacters: allowed) ?? "table"
    guard escaped.utf8.count > Self.maxName else {
      return folder.appendingPathComponent(escaped + ".json")
    }
    var hash = StableHash()
    hash.add(source.description)
    return folder.appendingPathComponent("\(escaped.prefix(Self.maxName))~\(hash.text).json")
  }

  /// The last good table; nil where there is none, or it cannot be read.
  func read(_ source: TableURL) -> Entry? {
    let file = BoundedFile(file(of: source).path, limit: 2 * TableDocument.maxSize, isRegular: true)
    guard let bytes = try? file.read().bytes, let kept = try? JSON.parse(bytes.span.bytes),
      kept["url"]?.string == source.description, let document = kept["table"]
    else { return nil }
    return Entry(document: document, etag: kept["etag"]?.string)
  }

  /// Keeps a table in the place of the one before, as a whole or not at all. Throws ``TableError``.
  func write(_ document: Value, etag: String?, of source: TableURL) throws(TableError) {
    var kept: ValueObject = ["url": .string(source.description)]
    kept["etag"] = etag.map(Value.string)
    kept["table"] = document
    do {
      let file = file(of: source)
      try Data(try JSON.text(.object(kept)).utf8).write(to: file, options: .atomic)
      try FileManager.default.setAttributes(
        [.posixPermissions: 0o600], ofItemAtPath: file.path)
    } catch {
      throw TableError(
        .unreadable, "The last good table cannot be kept in \(folder.path): \(error)")
    }
  }
}
