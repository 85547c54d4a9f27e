import CLibwebsockets
import WayTransport

/// A WebSocket handshake that was found good (RFC 6455 §4.2.1).
struct WebSocketUpgrade {
  var endpoint: Endpoint
  var subprotocol: String?
  /// What the acceptor is told.
  var handshake = Handshake()
  private var key: String

  /// Checks everything but who asks. `path` is that of the request below the prefix; nil where it is
  /// not below it.
  init(_ head: RequestHead, path: String?, endpoints: [Endpoint]) throws(RequestFault) {
    guard let endpoint = endpoints.first(where: { $0.path == path }) else {
      throw RequestFault(404, "there is no WebSocket endpoint at this path", .handshake)
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
    let offered = head.subprotocols
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

  /// The answer that ends the handshake (§4.2.2).
  var answer: OutgoingResponse {
    var answer = OutgoingResponse(status: 101)
    answer.fields = [
      ("Upgrade", "websocket"), ("Connection", "Upgrade"), ("Sec-WebSocket-Accept", acceptance),
    ]
    if let subprotocol { answer.fields.append(("Sec-WebSocket-Protocol", subprotocol)) }
    return answer
  }

  /// What shows that the key was read.
  private var acceptance: String {
    let bytes = Array((key + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11").utf8)
    let digest = [UInt8](unsafeUninitializedCapacity: 20) { digest, count in
      lws_SHA1(bytes, bytes.count, digest.baseAddress)
      count = 20
    }
    let text = [UInt8](unsafeUninitializedCapacity: 32) { text, count in
      digest.withUnsafeBytes { digest in
        let written = lws_b64_encode_string(
          digest.baseAddress, Int32(digest.count), text.baseAddress, Int32(text.count))
        count = max(Int(written), 0)
      }
    }
    return String(decoding: text, as: UTF8.self)
  }
}
