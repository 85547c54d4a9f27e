import CLibwebsockets
import WayTransport

/// The outgoing connections of a loop.
final class ClientSockets: SocketOwner, @unchecked Sendable {  // confined to its loop
  private struct PendingClientSocket {
    var attempt: ConnectionAttempt
    var socket: OpaquePointer?
    /// The HTTP status of the server's response.
    var status: Int?
    var timer: (any ScheduledWork)?
  }

  private let loop: SocketLoop
  /// Pending sockets by the number that lws stores as the socket's opaque user data.
  private var pending: [UInt: PendingClientSocket] = [:]
  private var lastNumber: UInt = 0

  init(loop: SocketLoop) throws(SocketError) {
    self.loop = loop
    super.init()
    _ = try VirtualHost(loop: loop, isServer: false, subprotocols: [], owner: self)
    loop.shutdownHandlers[ObjectIdentifier(self)] = { [weak self] in self?.end() }
  }

  func connect(_ attempt: ConnectionAttempt, timeout: Duration) {
    guard let context = loop.context, let virtualHost, let vhost = virtualHost.pointer else {
      return attempt.finish(.failure(SocketError(.ended, "the loop has ended")))
    }
    lastNumber += 1
    let number = lastNumber
    pending[number] = PendingClientSocket(attempt: attempt)
    let strings: [String?] = [
      attempt.address.host, attempt.address.target, attempt.address.authority, attempt.origin,
      attempt.subprotocol, virtualHost.name,
    ]
    let socket = withCStrings(strings) { strings in
      var info = lws_client_connect_info()
      info.context = context
      info.vhost = vhost
      info.address = strings[0]
      info.port = Int32(attempt.address.port)
      info.path = strings[1]
      info.host = strings[2]
      info.origin = strings[3]
      info.protocol = strings[4]
      info.local_protocol_name = strings[5]
      info.ietf_version_or_minus_one = -1
      info.ssl_connection = way_lws_no_follow_redirect
      info.opaque_user_data = UnsafeMutableRawPointer(bitPattern: number)
      return lws_client_connect_via_info(&info)
    }
    guard let socket else { return fail(number, "the connection could not be started") }
    guard pending[number] != nil else { return }
    pending[number]?.socket = socket
    pending[number]?.timer = loop.schedule(after: timeout) { [weak self] in
      self?.timedOut(number)
    }
  }

  private func timedOut(_ number: UInt) {
    guard let entry = removePending(number) else { return }
    if let socket = entry.socket {
      lws_set_timeout(socket, PENDING_TIMEOUT_AWAITING_CONNECT_RESPONSE, LWS_TO_KILL_SYNC)
    }
    entry.attempt.finish(
      .failure(
        SocketError(.timeout, "ws://\(entry.attempt.address.authority) did not answer in time")))
  }

  private func fail(_ number: UInt, _ text: String) {
    guard let entry = removePending(number) else { return }
    let url = "ws://\(entry.attempt.address.authority)\(entry.attempt.address.target)"
    let error: SocketError
    if let status = entry.status, status != 101 {
      error = SocketError(
        .rejected(status: status), "\(url) rejected the connection with HTTP status \(status)")
    } else if entry.status == 101 {
      error = SocketError(.rejected(status: 101), "the handshake with \(url) failed: \(text)")
    } else {
      error = SocketError(.rejected(status: nil), "cannot connect to \(url): \(text)")
    }
    entry.attempt.finish(.failure(error))
  }

  private func removePending(_ number: UInt) -> PendingClientSocket? {
    let entry = pending.removeValue(forKey: number)
    entry?.timer?.cancel()
    return entry
  }

  private func end() {
    for number in Array(pending.keys) {
      removePending(number)?.attempt.finish(.failure(SocketError(.ended, "the loop has ended")))
    }
  }

  private func number(of wsi: OpaquePointer) -> UInt {
    UInt(bitPattern: lws_get_opaque_user_data(wsi))
  }

  override func isResponseAcceptable(_ wsi: OpaquePointer, _ reason: lws_callback_reasons) -> Bool {
    let number = number(of: wsi)
    pending[number]?.status = Int(lws_http_client_http_response(wsi))
    guard reason == LWS_CALLBACK_CLIENT_FILTER_PRE_ESTABLISH else { return true }
    guard let attempt = pending[number]?.attempt else { return false }
    // lws treats a response without a subprotocol as one with the first offered subprotocol.
    return attempt.subprotocol == nil || lws_hdr_total_length(wsi, WSI_TOKEN_PROTOCOL) > 0
  }

  override func connectionFailed(_ wsi: OpaquePointer, _ text: String) {
    fail(number(of: wsi), text)
  }

  override func makeConnection(_ wsi: OpaquePointer) -> SocketConnection? {
    guard let limits = pending[number(of: wsi)]?.attempt.limits else { return nil }
    return SocketConnection(loop: loop, wsi: wsi, limits: limits)
  }

  override func accept(_ connection: SocketConnection, _ wsi: OpaquePointer) {
    guard let entry = removePending(number(of: wsi)) else { return }
    connection.attach(entry.attempt.accept(connection))
    entry.attempt.finish(.success(()))
  }

  /// lws does not report when outgoing sockets are created, so they are not counted. It also does
  /// not report an attempt whose connection is reset before the request is sent.
  override func socketDestroyed(_ wsi: OpaquePointer) {
    fail(number(of: wsi), "the connection was lost before the server answered")
  }
}

/// Calls `body` with C copies of the strings.
private func withCStrings<Result>(
  _ strings: [String?], _ body: ([UnsafePointer<CChar>?]) -> Result
) -> Result {
  let copies = strings.map { $0.map { ContiguousArray($0.utf8CString) } }
  func next(_ index: Int, _ pointers: [UnsafePointer<CChar>?]) -> Result {
    guard index < copies.count else { return body(pointers) }
    guard let copy = copies[index] else { return next(index + 1, pointers + [nil]) }
    return copy.withUnsafeBufferPointer { next(index + 1, pointers + [$0.baseAddress]) }
  }
  return next(0, [])
}
