import WayRPC
import WayValues

/// What `rpc.discover` answers.
package enum OpenRPC {
  static let document: Value = (try? JSON.parse(openRPCText)) ?? .null

  /// The names of the methods that it describes.
  package static var methods: [String] {
    document["methods"]?.list?.compactMap { $0["name"]?.string } ?? []
  }
}
