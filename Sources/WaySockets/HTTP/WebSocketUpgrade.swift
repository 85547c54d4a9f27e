import WayTransport

/// A WebSocket handshake that was found good (RFC 6455 §4.2.1).
struct WebSocketUpgrade {
  var endpoint: Endpoint
  var subprotocol: String?
  private var key: String

  /// Checks everything but Host and Origin.
  init(_ head: RequestHead, endpoints: [Endpoint]) throws(RequestFault) {
    guard let endpoint = endpoints.first(where: { $0.path == head.path }) else {
      throw RequestFault(404, "there is no WebSocket endpoint at \(quoted(head.path))", .handshake)
    }
    guard head.method == "GET", head.minorVersion == 1 else {
      throw RequestFault(400, "a WebSocket handshake is a GET of HTTP/1.1", .handshake)
    }
    guard head.list("connection").contains("upgrade") else {
      throw RequestFault(
        400, "a WebSocket handshake has the header Connection: Upgrade", .handshake)
    }
    guard head.values("sec-websocket-version") == ["13"] else {
      throw RequestFault(
        426, "a WebSocket handshake has the header Sec-WebSocket-Version: 13", .handshake)
    }
    let keys = head.values("sec-websocket-key")
    guard let key = keys.first, keys.count == 1, Self.isKey(key) else {
      throw RequestFault(
        400, "a WebSocket handshake has one Sec-WebSocket-Key of 16 bytes in base64", .handshake)
    }
    self.key = key
    self.endpoint = endpoint
    let offered = head.values("sec-websocket-protocol").flatMap { $0.split(separator: ",") }
      .map { $0.trimmed() }
    subprotocol = offered.first(where: endpoint.subprotocols.contains)
    if subprotocol == nil, !offered.isEmpty {
      let known = endpoint.subprotocols.joined(separator: ", ")
      throw RequestFault(
        400,
        "none of the offered subprotocols is spoken here; "
          + (known.isEmpty ? "offer none" : "offer \(known), or none"), .handshake)
    }
  }

  /// 22 characters and the padding of a sixteen-byte value.
  private static func isKey(_ text: String) -> Bool {
    let bytes = Array(text.utf8)
    guard bytes.count == 24, bytes.suffix(2) == [0x3D, 0x3D] else { return false }
    return bytes.prefix(22).allSatisfy { byte in
      switch byte {
      case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, 0x2B, 0x2F: true
      default: false
      }
    }
  }

  /// The handshake again, reduced to what lws needs: whatever else the peer sent does not reach its
  /// parser. `host` is the name of the vhost.
  func request(host: String) -> [UInt8] {
    var text = "GET / HTTP/1.1\r\nHost: \(host)\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
    text += "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: \(key)\r\n"
    if let subprotocol { text += "Sec-WebSocket-Protocol: \(subprotocol)\r\n" }
    return Array((text + "\r\n").utf8)
  }
}
