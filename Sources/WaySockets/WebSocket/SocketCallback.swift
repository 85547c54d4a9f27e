import CLibwebsockets

/// The callback of lws for all sockets of this library. The vhost's user data is the owner, the
/// socket's user data is the connection.
func socketCallback(
  _ wsi: OpaquePointer?, _ reason: lws_callback_reasons, _ user: UnsafeMutableRawPointer?,
  _ input: UnsafeMutableRawPointer?, _ length: Int
) -> Int32 {
  guard let wsi else { return 0 }
  let bytes = UnsafeRawBufferPointer(start: input, count: input == nil ? 0 : length)
  switch reason {
  case LWS_CALLBACK_RAW_RX_FILE:
    return connection(user)?.becameReadable() ?? 0
  case LWS_CALLBACK_CLIENT_RECEIVE:
    connection(user)?.receive(bytes)
  case LWS_CALLBACK_RAW_WRITEABLE_FILE, LWS_CALLBACK_CLIENT_WRITEABLE:
    return connection(user)?.becameWritable() ?? 0
  case LWS_CALLBACK_WS_PEER_INITIATED_CLOSE:
    connection(user)?.receiveClose(bytes)
    connection(user)?.flushAtTurnEnd()
    return -1
  case LWS_CALLBACK_RAW_ADOPT_FILE, LWS_CALLBACK_CLIENT_ESTABLISHED:
    return establish(wsi)
  case LWS_CALLBACK_RAW_CLOSE_FILE, LWS_CALLBACK_CLIENT_CLOSED:
    release(wsi, user)
  case LWS_CALLBACK_WSI_CREATE:
    socketOwner(of: wsi)?.virtualHost?.socketCount += 1
  case LWS_CALLBACK_WSI_DESTROY:
    socketOwner(of: wsi)?.socketDestroyed(wsi)
  case LWS_CALLBACK_CLIENT_FILTER_PRE_ESTABLISH, LWS_CALLBACK_ESTABLISHED_CLIENT_HTTP:
    return socketOwner(of: wsi)?.isResponseAcceptable(wsi, reason) == false ? -1 : 0
  case LWS_CALLBACK_CLIENT_CONNECTION_ERROR:
    // Some texts include the terminating zero.
    let text = bytes.prefix { $0 != 0 }
    socketOwner(of: wsi)?.connectionFailed(wsi, String(decoding: text, as: UTF8.self))
  default:
    break
  }
  return 0
}

/// The owner of a vhost's sockets: a server, or the clients of a loop.
class SocketOwner {
  var virtualHost: VirtualHost?

  /// Creates the connection after a completed handshake. Returns `nil` to reject it.
  func makeConnection(_ wsi: OpaquePointer) -> SocketConnection? { nil }

  /// Attaches the receiver of a connection that is set up.
  func accept(_ connection: SocketConnection, _ wsi: OpaquePointer) {}

  func isResponseAcceptable(_ wsi: OpaquePointer, _ reason: lws_callback_reasons) -> Bool { true }

  func connectionFailed(_ wsi: OpaquePointer, _ text: String) {}

  /// The last callback for a socket.
  func socketDestroyed(_ wsi: OpaquePointer) {
    virtualHost?.socketCount -= 1
  }
}

private func socketOwner(of wsi: OpaquePointer) -> SocketOwner? {
  guard let vhost = lws_get_vhost(wsi), let user = lws_vhost_user(vhost) else { return nil }
  return Unmanaged<SocketOwner>.fromOpaque(user).takeUnretainedValue()
}

/// The code of the close frame that lws has sent for a client.
func sentCloseCode(_ wsi: OpaquePointer) -> UInt16? {
  guard lws_get_close_length(wsi) >= 2, let payload = lws_get_close_payload(wsi) else { return nil }
  return UInt16(payload[0]) << 8 | UInt16(payload[1])
}

/// The connection that ``establish(_:)`` stored as the socket's user data.
private func connection(_ user: UnsafeMutableRawPointer?) -> SocketConnection? {
  user.map { Unmanaged<SocketConnection>.fromOpaque($0).takeUnretainedValue() }
}

/// Creates the connection, and gives lws its only reference to it. lws allocates no user data of
/// its own, since the protocols have none.
private func establish(_ wsi: OpaquePointer) -> Int32 {
  guard let owner = socketOwner(of: wsi), let connection = owner.makeConnection(wsi) else {
    return -1
  }
  lws_set_wsi_user(wsi, Unmanaged.passRetained(connection).toOpaque())
  owner.accept(connection, wsi)
  return 0
}

/// Releases the reference of lws.
private func release(_ wsi: OpaquePointer, _ user: UnsafeMutableRawPointer?) {
  guard let user else { return }
  lws_set_wsi_user(wsi, nil)
  Unmanaged<SocketConnection>.fromOpaque(user).takeRetainedValue().ended()
}
