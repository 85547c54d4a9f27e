import CLibwebsockets
import WayTransport

/// A valid WebSocket handshake (RFC 6455 §4.2.1).
struct WebSocketUpgrade {
  var endpoint: Endpoint
  var subprotocol: String?
  /// The value for the acceptor.
  var handshake = Handshake()
  /// The slot of the client's address; `nil` if it does not count.
  var addressSlot: AddressQuota.Slot?
  private var key: String

  /// Whether its endpoint authenticates clients.
  var authenticates: Bool { endpoint.maxMessageBeforeAdmission != nil }

  /// Checks everything except the client's access. `path` is the request's path below the prefix,
  /// or `nil` if it is not below the prefix.
  init(_ head: RequestHead, path: String?, endpoints: [Endpoint]) throws(HTTPRequestRejection) {
    guard let endpoint = endpoints.first(where: { $0.path == path }) else {
      throw HTTPRequestRejection(404, "there is no WebSocket endpoint at this path", .handshake)
    }
    guard head.method == "GET", head.minorVersion == 1 else {
      throw HTTPRequestRejection(
        400, "a WebSocket handshake must be a GET request of HTTP/1.1", .handshake)
    }
    guard head.list("connection").contains("upgrade") else {
      throw HTTPRequestRejection(
        400, "a WebSocket handshake needs the header Connection: Upgrade", .handshake)
    }
    guard head.values("sec-websocket-version") == ["13"] else {
      throw HTTPRequestRejection(
        426, "a WebSocket handshake needs the header Sec-WebSocket-Version: 13", .handshake)
    }
    let keys = head.values("sec-websocket-key")
    guard let key = keys.first, keys.count == 1, Self.isKey(key) else {
      throw HTTPRequestRejection(
        400, "a WebSocket handshake needs one Sec-WebSocket-Key of 16 bytes in base64", .handshake)
    }
    self.key = key
    self.endpoint = endpoint
    let offered = head.subprotocols
    subprotocol = offered.first(where: endpoint.subprotocols.contains)
    if subprotocol == nil, !offered.isEmpty {
      let known = endpoint.subprotocols.joined(separator: ", ")
      throw HTTPRequestRejection(
        400,
        "the server supports none of the offered subprotocols; "
          + (known.isEmpty ? "offer none" : "offer \(known), or none"), .handshake)
    }
  }

  /// Whether the text is a base64 value of 16 bytes: 22 characters and padding.
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

  /// The response that completes the handshake (RFC 6455 §4.2.2).
  var response: OutgoingResponse {
    var response = OutgoingResponse(status: 101)
    response.fields = [
      ("Upgrade", "websocket"), ("Connection", "Upgrade"), ("Sec-WebSocket-Accept", acceptKey),
    ]
    if let subprotocol { response.fields.append(("Sec-WebSocket-Protocol", subprotocol)) }
    return response
  }

  /// The value that proves that the server read the key.
  private var acceptKey: String {
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
