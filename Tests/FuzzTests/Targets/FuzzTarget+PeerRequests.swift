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
      case .response(1, let result) = read
    else { throw FuzzFailure("the response \(response) cannot be read") }
    try FuzzFailure.unless(
      (try? result.get()) == (try? response.get()), "the response is read as \(result)")
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
    sessions = server.dispatch.makeLoopSessions(on: loop)
  }

  /// Handles a request as ``SessionPeerRequests`` does. Blocks until it has a response.
  func response(to request: Value) -> Result<Value, CallError> {
    let context = PeerContext(dispatch: server.dispatch) { _ in }
    let response = ResponseBox()
    Task.detached {
      let result: Result<Value, CallError>
      do throws(CallError) {
        let params = request["params"] ?? .null
        result = .success(
          try await PeerMethods.perform(
            request["method"]?.string ?? "", params, in: context))
      } catch {
        result = .failure(error)
      }
      response.result.withLock { $0 = result }
      response.isComplete.signal()
    }
    response.isComplete.wait()
    return response.result.withLock { $0 }
  }
}

/// A response that another thread produces.
private final class ResponseBox: Sendable {
  let result = Mutex(Result<Value, CallError>.success(.null))
  let isComplete = DispatchSemaphore(value: 0)
}
