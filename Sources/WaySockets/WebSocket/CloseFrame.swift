import WayTransport

/// A close frame from the peer (RFC 6455 §5.5.1).
struct CloseFrame {
  /// The code that the connection closes with.
  let code: UInt16
  /// The payload of the close frame in response.
  let response: [UInt8]

  init(_ payload: UnsafeRawBufferPointer) {
    if payload.count >= 2 {
      let code = CloseCode(rawValue: UInt16(payload[0]) << 8 | UInt16(payload[1]))
      let isText = isUTF8(UnsafeRawBufferPointer(rebasing: payload[2...]))
      let responseCode = !isText ? .invalidPayload : code.isSendable ? code : .protocolError
      self.code = responseCode.rawValue
      response = Self.payload(responseCode, "")
    } else if payload.count == 1 {
      code = CloseCode.protocolError.rawValue
      response = Self.payload(.protocolError, "an incomplete close code")
    } else {
      // A close frame without a code counts as 1005 (RFC 6455 §7.1.5), which must not be sent.
      code = 1005
      response = Self.payload(.normal, "")
    }
  }

  /// The payload of a close frame: the code, and the longest prefix of `reason` that fits, cut
  /// between characters.
  static func payload(_ code: CloseCode, _ reason: String) -> [UInt8] {
    var payload = [UInt8(code.rawValue >> 8), UInt8(code.rawValue & 0xFF)]
    for scalar in reason.unicodeScalars {
      let bytes = UTF8.encode(scalar) ?? UTF8.encode("?")
      guard let bytes, payload.count + bytes.count <= 125 else { break }
      payload.append(contentsOf: bytes)
    }
    return payload
  }
}
