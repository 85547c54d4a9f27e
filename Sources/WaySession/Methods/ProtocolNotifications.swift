import WayRPC
import WayValues

/// The notifications that have a meaning of their own.
enum ProtocolNotifications {
  static let all = [
    ProtocolNotification(
      name: "$/cancelRequest", paramList: ParamList([Param(.id, .any)], ignoresOthers: true)
    ) {
      session, client, params in
      guard let id = params[.id].flatMap(RequestID.init), let number = client.calls.number(of: id)
      else {
        return
      }
      session.stop(number, .cancelled)
    },
    ProtocolNotification(
      name: "$/progress",
      paramList: ParamList([Param(.id, .any), Param(.value, .any)], ignoresOthers: true)
    ) { session, client, params in
      guard let id = params[.id].flatMap(RequestID.init), let value = params[.value],
        let request = client.pending[id.comparedByValue], let number = request.purpose.call
      else { return }
      guard let requester = request.requester, requester !== session else {
        return session.reportProgress(value, of: number)
      }
      requester.receiveProgress(value, of: number, on: session.loop)
    },
  ]

  static func find(_ notification: RPCRequestView) -> ProtocolNotification? {
    for candidate in all where notification.hasMethod(candidate.name) { return candidate }
    return nil
  }
}
