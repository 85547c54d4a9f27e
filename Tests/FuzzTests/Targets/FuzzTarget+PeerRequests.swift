import Dispatch
import Synchronization
import WayRPC
import WayRouting
import WayTransport
import WayValues

@testable import WaySession

extension FuzzTarget {
  /// Requests of other servers, as JSON: each has a response that can be written for its sender.
  static let peerRequests = FuzzTarget("peer-requests") { bytes throws(FuzzFailure) in
    guard let request = try? JSON.parse(bytes.span.bytes, maxDepth: JSON.maxStoredDepth) else {
      return
    }
    let response = PeerFixture().response(to: request)
    let message = SessionClusterMessage.response(1, response)
    guard let read = try? SessionClusterMessage(ByteReader(message.bytes)),
      case .response(1, let value) = read
    else { throw FuzzFailure("the response \(response) cannot be read") }
    try FuzzFailure.unless(value == response, "the response is read as \(value)")
  }
}

/// A server in memory, without clients, that handles requests of another server.
private struct PeerFixture {
  private let loop = MemoryLoop()
  private let server: SessionServer
  private let sessions: LoopSessions

  init() {
    let router = Router()
    // Without its routes, the server answers that there are none.
    _ = try? router.page("native://cart/:id")
    _ = try? router.task("action://pay") { _ in 1 }
    server = SessionServer(
      SessionServerConfiguration(router: router, now: { 1_750_000_000_000 }))
    sessions = LoopSessions(loop: loop, in: server)
  }

  /// Handles a request as ``SessionPeerRequests`` does. Blocks until it has a response.
  func response(to request: Value) -> Value {
    let handlers = ClusterPeerHandlers(sessionServer: server, openedPages: Locked([:]))
    let response = ResponseBox()
    Task.detached {
      do throws(CallError) {
        let value = try await handlers.handle(request) { _ in }
        response.value.withLock { $0 = ["result": value] }
      } catch {
        response.value.withLock { $0 = ["error": error.value] }
      }
      response.isComplete.signal()
    }
    response.isComplete.wait()
    return response.value.withLock { $0 }
  }
}

/// A response that another thread produces.
private final class ResponseBox: Sendable {
  let value = Mutex<Value>(.null)
  let isComplete = DispatchSemaphore(value: 0)
}
