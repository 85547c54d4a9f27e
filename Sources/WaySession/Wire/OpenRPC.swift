import WayRPC
import WayValues

/// What `rpc.discover` answers.
package enum OpenRPC {
  static let document: Value = (try? JSON.parse(openRPCText)) ?? .null

  /// The document as compact JSON, which is written once: asking for it must cost the others little.
  static let text: [UInt8] = (try? JSON.text(document)).map { Array($0.utf8) } ?? Array("null".utf8)

  /// The names of the methods that it describes.
  package static var methods: [String] {
    document["methods"]?.list?.compactMap { $0["name"]?.string } ?? []
  }
}
