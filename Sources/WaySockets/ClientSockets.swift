import CLibwebsockets
import WayTransport

/// The outgoing connections of a loop.
final class ClientSockets: SocketOwner, @unchecked Sendable {  // confined to its loop
  private struct Pending {
    var attempt: ConnectionAttempt
    var socket: OpaquePointer?
    /// HTTP status of the server's answer.
    var status: Int?
    var timer: (any ScheduledWork)?
  }

  private let loop: SocketLoop
  /// By the number that lws keeps as the socket's opaque user data.
  private var pending: [UInt: Pending] = [:]
  private var lastNumber: UInt = 0

  init(loop: SocketLoop) throws(SocketError) {
    self.loop = loop
    super.init()
    _ = try VirtualHost(loop: loop, isServer: false, subprotocols: [], owner: self)
    loop.endings[ObjectIdentifier(self)] = { [weak self] in self?.end() }
  }

  func connect(_ attempt: ConnectionAttempt, timeout: Duration) {
    guard let context = loop.context, let host, let vhost = host.pointer else {
      return attempt.finish(.failure(SocketError(.ended, "the loop has ended")))
    }
    lastNumber += 1
    let number = lastNumber
    pending[number] = Pending(attempt: attempt)
    let strings: [String?] = [
      attempt.address.host, attempt.address.target, attempt.address.authority, attempt.origin,
      attempt.subprotocol, host.name,
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
    guard let socket else { return fail(number, "the connection could not be begun") }
    guard pending[number] != nil else { return }
    pending[number]?.socket = socket
    pending[number]?.timer = loop.schedule(after: timeout) { [weak self] in
      self?.timedOut(number)
    }
  }

  private func timedOut(_ number: UInt) {
    guard let entry = take(number) else { return }
    if let socket = entry.socket {
      lws_set_timeout(socket, PENDING_TIMEOUT_AWAITING_CONNECT_RESPONSE, LWS_TO_KILL_SYNC)
    }
    entry.attempt.finish(
      .failure(
        SocketError(.timeout, "ws://\(entry.attempt.address.authority) did not answer in time")))
  }

  private func fail(_ number: UInt, _ text: String) {
    guard let entry = take(number) else { return }
    let place = "ws://\(entry.attempt.address.authority)\(entry.attempt.address.target)"
    let error: SocketError
    if let status = entry.status, status != 101 {
      error = SocketError(.refused(status: status), "\(place) refused: HTTP status \(status)")
    } else if entry.status == 101 {
      error = SocketError(.refused(status: 101), "the handshake with \(place) failed: \(text)")
    } else {
      error = SocketError(.refused(status: nil), "cannot connect to \(place): \(text)")
    }
    entry.attempt.finish(.failure(error))
  }

  private func take(_ number: UInt) -> Pending? {
    let entry = pending.removeValue(forKey: number)
    entry?.timer?.cancel()
    return entry
  }

  private func end() {
    for number in Array(pending.keys) {
      take(number)?.attempt.finish(.failure(SocketError(.ended, "the loop has ended")))
    }
  }

  // MARK: Callbacks

  private func number(of wsi: OpaquePointer) -> UInt {
    UInt(bitPattern: lws_get_opaque_user_data(wsi))
  }

  override func isAnswerAcceptable(_ wsi: OpaquePointer, _ reason: lws_callback_reasons) -> Bool {
    let number = number(of: wsi)
    pending[number]?.status = Int(lws_http_client_http_response(wsi))
    guard reason == LWS_CALLBACK_CLIENT_FILTER_PRE_ESTABLISH else { return true }
    guard let attempt = pending[number]?.attempt else { return false }
    // lws takes an answer without a subprotocol for one with the first that was offered.
    return attempt.subprotocol == nil || lws_hdr_total_length(wsi, WSI_TOKEN_PROTOCOL) > 0
  }

  override func connectionFailed(_ wsi: OpaquePointer, _ text: String) {
    fail(number(of: wsi), text)
  }

  override func established(_ wsi: OpaquePointer) -> SocketConnection? {
    guard let limits = pending[number(of: wsi)]?.attempt.limits else { return nil }
    return SocketConnection(loop: loop, wsi: wsi, limits: limits)
  }

  override func accept(_ connection: SocketConnection, _ wsi: OpaquePointer) {
    guard let entry = take(number(of: wsi)) else { return }
    connection.attach(entry.attempt.accept(connection))
    entry.attempt.finish(.success(()))
  }

  /// lws does not tell of the making of outgoing sockets, so they are not counted. Nor does it tell of
  /// an attempt whose connection is reset before it could ask.
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
