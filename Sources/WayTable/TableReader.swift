import WayPatterns
import WayRouting
import WayValues

/// Takes the document of a route table apart.
struct TableReader: DocumentReader {
  var faults: [DocumentFault] = []
  /// The named types as the document has them.
  var typeSources: [UTF8Key: Value] = [:]
  /// Those of them that were read; nil for one with a fault.
  var types: [UTF8Key: ValueSchema?] = [:]
  /// The named types that are being read, the outermost first.
  var open: [String] = []
  /// The groups, and the permissions, that the document declares; nil for any.
  var groups: [String]?
  var permissions: [String]?
}
