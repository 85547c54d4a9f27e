import WayTransport

/// What a peer's close frame says (RFC 6455 §5.5.1).
struct CloseFrame {
  /// The code that the connection closes with.
  let code: UInt16
  /// The payload of the close frame that answers it.
  let answer: [UInt8]

  init(_ payload: UnsafeRawBufferPointer) {
    if payload.count >= 2 {
      let code = CloseCode(rawValue: UInt16(payload[0]) << 8 | UInt16(payload[1]))
      let isText = isUTF8(UnsafeRawBufferPointer(rebasing: payload[2...]))
      let taken = !isText ? .invalidPayload : code.maySend ? code : .protocolError
      self.code = taken.rawValue
      answer = Self.payload(taken, "")
    } else if payload.count == 1 {
      code = CloseCode.protocolError.rawValue
      answer = Self.payload(.protocolError, "half a close code")
    } else {
      // §7.1.5: a close frame without a code counts as 1005, which may not be sent.
      code = 1005
      answer = Self.payload(.normal, "")
    }
  }

  /// The code, and the longest prefix of `reason` that a close frame holds, cut between characters.
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
