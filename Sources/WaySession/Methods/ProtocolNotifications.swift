import WayRPC
import WayValues

/// The notifications that mean something of themselves.
enum ProtocolNotifications {
  static let all = [
    Notice(name: "$/cancelRequest", takes: [Param(.id, .any)]) { session, client, params in
      guard let id = params[.id].flatMap(RequestID.init), let number = client.call(id) else {
        return
      }
      session.stop(number, .cancelled)
    },
    Notice(
      name: "$/progress", takes: [Param(.id, .any), Param(.value, .any)]
    ) { session, client, params in
      guard let id = params[.id].flatMap(RequestID.init), let value = params[.value],
        let request = client.pending[id], let number = request.purpose.call
      else { return }
      if let asker = request.asker as? PeerRequester { return asker.report(value) }
      session.reach((request.asker as? Session) ?? session) { $0.report(value, of: number) }
    },
  ]

  static func find(_ notification: RequestView) -> Notice? {
    for notice in all where notification.isFor(notice.name) { return notice }
    return nil
  }
}
