import WayPatterns
import WayRouting
import WayValues

/// Reads the document of a route table.
struct TableReader: DocumentReader {
  var faults: [DocumentFault] = []
  /// The unparsed named types of the document.
  var typeSources: [UTF8Key: Value] = [:]
  /// The parsed named types; `nil` for one with errors.
  var types: [UTF8Key: ValueSchema?] = [:]
  /// The named types that are being parsed, the outermost first.
  var openTypes: [String] = []
  /// The groups, and the permissions, that the document declares; `nil` for any.
  var groups: DeclaredNames?
  var permissions: DeclaredNames?
}

/// The names that a document declares.
struct DeclaredNames {
  /// In the order of the document.
  let all: [String]
  private let keys: Set<UTF8Key>

  init(_ names: [String]) {
    all = names
    keys = Set(names.map(UTF8Key.init))
  }

  func contains(_ name: String) -> Bool { keys.contains(UTF8Key(name)) }
}
