import WayRPC
import WayValues

/// What `rpc.discover` answers.
enum OpenRPC {
  static let document: Value = (try? JSON.parse(openRPCText)) ?? .null
}
