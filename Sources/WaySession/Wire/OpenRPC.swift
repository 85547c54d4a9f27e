import WayRPC
import WayValues

/// The result of `rpc.discover`.
package enum OpenRPC {
  static let document: Value = (try? JSON.parse(openRPCText)) ?? .null

  /// The document as compact JSON, encoded only once, so that requests for it cost other clients
  /// little.
  static let text: [UInt8] = (try? JSON.text(document)).map { Array($0.utf8) } ?? Array("null".utf8)

  /// The names of the methods that the document describes.
  package static var methods: [String] {
    document["methods"]?.array?.compactMap { $0["name"]?.string } ?? []
  }
}
