import WayRPC
import WayValues

/// What the record of a call keeps of its beginning, for one that does not end at once.
struct CallMark {
  /// In the loop's nanoseconds.
  let start: UInt64
  /// Nil where nobody asks for records of calls.
  let note: CallNote?
}

/// What a request said that only its record needs.
final class CallNote {
  let method: String
  let uri: String?

  init(_ request: Request) {
    method = request.method
    uri = request.params?["uri"]?.string
  }
}

extension Session {
  /// A request of a client is about to be carried out.
  func observe(_ request: Request, _ client: Client) {
    meter.begin()
    if settings.observer.isToldCalls { client.note = CallNote(request) }
  }

  /// For the call that is carried out now and goes on.
  func mark(_ client: Client) -> CallMark {
    CallMark(start: meter.start, note: client.note)
  }

  /// A call has its answer.
  func record(_ result: Result<Value, RPCError>, of origin: Origin, _ mark: CallMark?) {
    let time = meter.ended(origin.method, result, since: mark?.start)
    guard settings.observer.isToldCalls,
      let note = mark == nil ? origin.client.note : mark?.note
    else { return }
    let code = if case .failure(let error) = result { error.code } else { 0 }
    settings.observer.tell(
      .call(
        CallRecord(
          session: id, client: origin.client.name, id: origin.id, method: note.method,
          uri: note.uri, code: code, nanoseconds: time)))
  }

  func tellSilent(_ host: Client, _ method: String) {
    settings.observer.tell(.hostSilent(session: id, client: host.name, method: method))
  }
}
