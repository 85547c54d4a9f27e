import WayTransport
import WayValues

/// `session.…` and what every JSON-RPC peer has.
enum SessionMethods {
  static let all = [
    Method("session.open", Hello.takes, access: .connection) { _, _, _ throws(CallError) in
      throw CallError(.conflict, "This connection has opened its session already")
    },
    Method("session.close", [], close),
    Method("rpc.discover", access: .everybody) { _, _, _ throws(CallError) in .now(.document) },
    Method("$/ping") { _, _, _ throws(CallError) in .value(.null) },
  ]

  private static func close(
    _ session: isolated Session, _ params: Params, _ address: ReplyAddress
  ) throws(CallError) -> Reply {
    guard address.batch == nil else {
      throw CallError(.invalidRequest, "session.close must not stand in a batch")
    }
    session.reply(.value(.null), to: address)
    let channel = address.client.channel
    session.remove(address.client.id, code: CloseCode.normal.rawValue)
    channel?.close(.normal, "The client closed its session")
    return .later
  }
}
