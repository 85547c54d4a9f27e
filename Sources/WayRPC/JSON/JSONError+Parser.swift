import CSimdjson

extension JSONError {
  static func tooDeep(_ limit: Int, offset: Int? = nil) -> JSONError {
    JSONError("more than \(limit) arrays and objects within one another", offset: offset)
  }

  /// Creates the error of the parser, with the position of the fault if it can be found.
  init(_ error: csimdjson_error, in bytes: [UInt8]) {
    switch error {
    case CSIMDJSON_EMPTY: self.init("there is nothing but space")
    case CSIMDJSON_NOT_UTF8:
      self.init("the text is not UTF-8", offset: Self.firstInvalidUTF8(in: bytes.span))
    case CSIMDJSON_BYTE_ORDER_MARK:
      self.init("a byte order mark, which must be left out", offset: 0)
    case CSIMDJSON_TOO_LARGE: self.init("the text is too large for the parser")
    case CSIMDJSON_NO_MEMORY: self.init("there is not enough memory to parse the text")
    default:
      self = JSONScanner.firstError(in: bytes) ?? JSONError(Self.message(of: error))
    }
  }

  /// Returns the first byte of invalid UTF-8; `nil` if there is none.
  static func firstInvalidUTF8(in bytes: Span<UInt8>) -> Int? {
    do {
      _ = try UTF8Span(validating: bytes)
      return nil
    } catch {
      return error.byteOffsets.lowerBound
    }
  }

  private static func message(of error: csimdjson_error) -> String {
    switch error {
    case CSIMDJSON_TOO_DEEP: tooDeep(JSON.maxDepth).message
    case CSIMDJSON_BAD_STRING: "a string with a wrong escape"
    case CSIMDJSON_UNCLOSED_STRING: "a string that is not closed"
    case CSIMDJSON_CONTROL_CHARACTER: "a control character in a string, which must be escaped"
    case CSIMDJSON_BAD_LITERAL: "a word that is not `true`, `false` or `null`"
    case CSIMDJSON_BAD_NUMBER: "a number that JSON does not allow"
    default: "commas, colons, brackets or braces that are missing or too many"
    }
  }
}
