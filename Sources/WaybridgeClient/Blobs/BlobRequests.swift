import Dispatch
import WayRPC
import WaySockets
import WayTransport
import WayValues

/// The HTTP requests of one transfer, on a thread of its own. A request that fails is repeated.
final class BlobRequests: Sendable {
  /// A response with its body, which is short.
  struct BlobRequestResponse: Sendable {
    let head: HTTPClientResponse
    let body: [UInt8]
  }

  /// The part of the result of `blobs.authorize` that is used here.
  private struct BlobAccess: Decodable {
    let token: String
  }

  /// The head of a response, and the connection that its body arrives at.
  typealias BlobExchange = (head: HTTPClientResponse, connection: HTTPClientConnection)

  /// How often a request that makes no progress is repeated.
  private static let maxRetries = 8
  /// The maximum number of bytes of a short body.
  private static let maxBody = 64 << 10

  private let client: BridgeClient
  private let url: String
  private let queue = DispatchQueue(label: "waybridge.blob-transfer")
  private let connection = Locked<HTTPClientConnection?>(nil)
  private let token = Locked<String?>(nil)
  private let isCancelled = Locked(false)

  init(_ client: BridgeClient, url: String) {
    self.client = client
    self.url = url
  }

  /// Ends the request that is being sent, and all that follow.
  func cancel() {
    isCancelled.withLock { $0 = true }
    connection.withLock { $0 }?.cancel()
  }

  /// Repeats an attempt until it succeeds, as long as `progress` grows. Throws the error of the last
  /// attempt, or one that another attempt cannot change.
  func retry<Result: Sendable>(
    progress: () -> Int = { 0 }, _ attempt: () async throws(CallError) -> Result
  ) async throws(CallError) -> Result {
    var failures = 0
    var reached = progress()
    while true {
      do throws(CallError) {
        return try await attempt()
      } catch {
        if isCancelled.withLock({ $0 }) || Task.isCancelled { throw Self.cancelled }
        guard error.isRetryable else { throw error }
        connection.withLock { $0 = nil }
        if progress() > reached { (failures, reached) = (0, progress()) }
        failures += 1
        guard failures <= Self.maxRetries else { throw error }
        try? await Task.sleep(for: .milliseconds(min(100 << failures, 5000)))
      }
    }
  }

  /// Sends one request, and receives its response with a short body.
  func send(
    _ method: String, _ name: String, _ fields: [(name: String, value: String)] = [],
    body: [UInt8] = []
  ) async throws(CallError) -> BlobRequestResponse {
    let (head, connection) = try await begin(method, name, fields, body: body)
    let text = try await readAll(head, connection)
    return BlobRequestResponse(head: head, body: text)
  }

  /// Sends one request, and receives the head of its response. Throws for a status from 400.
  func begin(
    _ method: String, _ name: String, _ fields: [(name: String, value: String)],
    body: [UInt8] = []
  ) async throws(CallError) -> BlobExchange {
    let token = try await authorize()
    let fields = fields + [("Authorization", "Bearer " + token)]
    let (head, connection) = try await block { [self] () throws(SocketError) -> BlobExchange in
      try exchange(method, name, fields, body)
    }
    guard head.status >= 400 else { return (head, connection) }
    let text = String(
      decoding: try await readAll(head, connection).prefix { $0 != 0x0A }, as: UTF8.self)
    self.connection.withLock { $0 = nil }
    // After a restart the server does not know the token. The next attempt gets another one.
    if head.status == 401 { self.token.withLock { $0 = nil } }
    throw Self.error(head.status, text)
  }

  /// Sends a request on the open connection, or on a new one. Blocks.
  private func exchange(
    _ method: String, _ name: String, _ fields: [(name: String, value: String)], _ body: [UInt8]
  ) throws(SocketError) -> BlobExchange {
    if isCancelled.withLock({ $0 }) { throw SocketError(.ended, "cancelled") }
    let opened: HTTPClientConnection
    if let known = connection.withLock({ $0 }) {
      opened = known
    } else {
      opened = try HTTPClientConnection(url: url)
      connection.withLock { $0 = opened }
    }
    return (try opened.send(method, name, fields, body: body), opened)
  }

  private func readAll(
    _ head: HTTPClientResponse, _ connection: HTTPClientConnection
  ) async throws(CallError) -> [UInt8] {
    guard head.length <= Self.maxBody else {
      throw CallError(.unavailable, "The response of the server is too long")
    }
    var bytes: [UInt8] = []
    while bytes.count < head.length {
      bytes += try await read(connection, head.length - bytes.count)
    }
    return bytes
  }

  /// Returns at most `count` bytes of a body that has at least one more.
  func read(
    _ connection: HTTPClientConnection, _ count: Int
  ) async throws(CallError) -> [UInt8] {
    try await block { () throws(SocketError) in try connection.readBody(count) }
  }

  private func authorize() async throws(CallError) -> String {
    if let known = token.withLock({ $0 }) { return known }
    let result = try await client.request("blobs.authorize")
    guard let text = try? result.decode(as: BlobAccess.self).token else {
      throw CallError(.unavailable, "The server gave no token")
    }
    token.withLock { $0 = text }
    return text
  }

  /// Runs work that blocks, and that ``cancel()`` ends.
  private func block<Result: Sendable>(
    _ work: @escaping @Sendable () throws(SocketError) -> Result
  ) async throws(CallError) -> Result {
    let result: Swift.Result<Result, SocketError> = await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        queue.async {
          do throws(SocketError) {
            continuation.resume(returning: .success(try work()))
          } catch {
            continuation.resume(returning: .failure(error))
          }
        }
      }
    } onCancel: {
      cancel()
    }
    do throws(SocketError) { return try result.get() } catch {
      throw isCancelled.withLock { $0 } ? Self.cancelled : CallError(error)
    }
  }

  private static let cancelled = CallError(.cancelled, "The transfer was cancelled")

  private static func error(_ status: Int, _ text: String) -> CallError {
    let code: ErrorCode =
      switch status {
      case 400, 415, 416: .invalidParams
      case 401: .notAuthenticated
      case 403: .forbidden
      case 404: .noRoute
      case 409: .conflict
      case 413: .tooLarge
      case 429: .tooMany
      default: .unavailable
      }
    let isRetryable = status >= 500 || [401, 408, 409].contains(status)
    return CallError(
      code, text.isEmpty ? "The server responds with the status \(status)" : text,
      data: ["retryable": .bool(isRetryable), "status": .integer(Int64(status))])
  }
}
