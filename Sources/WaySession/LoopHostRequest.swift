import WayRPC
import WayRouting
import WayTransport
import WayValues

/// A request to a client whose session is on another loop, for a call of a session here. What the
/// client answers, and its progress, come to that session as if the client were here.
final class LoopHostRequest: CancellableRequest, @unchecked Sendable {  // `id` is confined to the loop of `home`
  private let client: Client
  private let home: Session
  /// The request's; nil before it is sent, and where it could not be.
  private var id: RequestID?

  init(to client: Client, of home: Session) {
    self.client = client
    self.home = home
  }

  /// Asks. `rights` are those of the call.
  func ask(
    _ method: String, _ params: Value, for purpose: RequestPurpose, by asker: Session,
    _ rights: Rights?
  ) {
    asker.reach(home) { [self] home in
      guard home.members[client.id] === client else {
        let error = CallError(.hostAbsent, "The host is gone")
        return home.reach(asker) { $0.answered(purpose, .failure(.unanswered(error))) }
      }
      do throws(RequestFailure) {
        let id = try home.mail.request(client, method, params, for: purpose, by: asker)
        if let request = client.pending[id] {
          request.rights = rights?.handed(to: home.environment.policy)
          let watch = home.environment.watch
          // The call is another session's, which counts its own.
          if watch.isOn { request.note = watch.note(id, params, for: nil) }
        }
        self.id = id
      } catch {
        home.reach(asker) { $0.answered(purpose, .failure(error)) }
      }
    }
  }

  func cancel(owing caller: Client?, on loop: any EventLoop) {
    caller?.owe()
    let debtor = caller.map { PendingRequest.Debtor(client: $0, loop: loop) }
    home.loop.execute { [self] in
      home.assumeIsolated { home in
        guard let id, let request = client.pending[id] else {
          debtor?.paid()
          return
        }
        request.debtor = debtor
        request.rights = nil
        home.mail.cancelRequest(id, client)
      }
    }
  }
}

extension Session {
  /// Does something in a session of the same server: at once where that is on this loop.
  nonisolated func reach(
    _ other: Session, _ work: @escaping @Sendable (isolated Session) -> Void
  ) {
    guard other.loop !== loop else { return other.assumeIsolated { work($0) } }
    other.loop.execute { other.assumeIsolated { work($0) } }
  }
}
