import WayValues

extension RouteURI {
  /// The parameters of the query, each a string, in order. A name that occurs twice becomes an
  /// array, `?flag` an empty string, and empty pieces (`a&&b`) are ignored.
  ///
  /// Throws ``PatternParameterError/parameters(_:)`` for more than ``maxParameters``, for bytes that are
  /// no UTF-8 and for `%00`.
  package func queryParameters(plusIsSpace: Bool = true) throws(PatternParameterError)
    -> ValueObject
  {
    var result = ValueObject()
    guard parts.queryEnd >= 0 else { return result }
    let bytes = text.utf8.span
    let end = Int(parts.queryEnd)
    var position = Int(parts.pathEnd) + 1
    var count = 0
    while position < end {
      let start = position
      var equals = -1
      while position < end, bytes[position] != UInt8(ascii: "&") {
        if equals < 0, bytes[position] == UInt8(ascii: "=") { equals = position }
        position += 1
      }
      let stop = position
      position += 1
      guard stop > start else { continue }
      count += 1
      guard count <= Self.maxParameters else {
        throw PatternParameterError.fault(nil, "more than \(Self.maxParameters) query parameters")
      }
      let name = try decoded(
        bytes, start, equals < 0 ? stop : equals, plusIsSpace: plusIsSpace,
        what: "the name of a query parameter")
      let value =
        equals < 0
        ? ""
        : try decoded(
          bytes, equals + 1, stop, plusIsSpace: plusIsSpace, name: { name }, what: "the query value"
        )
      switch result[name] {
      case nil: result[name] = .string(value)
      case .array(let values)?: result[name] = .array(values + [.string(value)])
      case let first?: result[name] = .array([first, .string(value)])
      }
    }
    return result
  }

  /// Decodes a part of the URI.
  func decoded(
    _ bytes: Span<UInt8>, _ start: Int, _ end: Int, plusIsSpace: Bool,
    name: () -> String? = { nil }, what: String
  ) throws(PatternParameterError) -> String {
    var hasEscape = false
    for position in start..<end {
      let byte = bytes[position]
      if byte == .percent || (plusIsSpace && byte == UInt8(ascii: "+")) { hasEscape = true }
    }
    if !hasEscape { return slice(start, end) }
    var result: [UInt8] = []
    result.reserveCapacity(end - start)
    var position = start
    while position < end {
      var byte = bytes[position]
      if byte == .percent {
        byte = bytes.percentDecodedByte(at: position)
        guard byte != 0 else {
          throw PatternParameterError.fault(name(), "\(what) holds \"%00\" at byte \(position)")
        }
        position += 3
      } else {
        if plusIsSpace, byte == UInt8(ascii: "+") { byte = UInt8(ascii: " ") }
        position += 1
      }
      result.append(byte)
    }
    guard let text = String(validating: result, as: UTF8.self) else {
      throw PatternParameterError.fault(
        name(), "\(what) at byte \(start) is not UTF-8 after percent-decoding")
    }
    return text
  }
}

extension RoutePattern.PatternForm {
  /// Returns the decoded values of the parameters; `start` is the segment of the URI that is the
  /// form's first.
  func values(in split: borrowing SplitURI, from start: Int) throws(PatternParameterError)
    -> ValueObject
  {
    var result = ValueObject()
    let wildcard = wildcardIndex
    guard !captures.isEmpty || wildcard != nil else { return result }
    result.reserveCapacity(captures.count + 1)
    for capture in captures {
      result[capture.name] = .string(
        try split.text(at: start + capture.segment, of: capture.name))
    }
    guard let wildcard else { return result }
    var rest: [Value] = []
    // A stride, since `native:/*` also matches a path without segments.
    for position in stride(from: start + wildcard, to: split.count, by: 1) {
      rest.append(.string(try split.text(at: position, of: RoutePattern.wildcardName)))
    }
    result[RoutePattern.wildcardName] = .array(rest)
    return result
  }
}

extension SplitURI {
  /// Decodes a segment. For the error, `name` is the name of its parameter, `nil` for none; `what`
  /// describes the segment.
  ///
  /// Throws ``PatternParameterError/parameters(_:)`` for bytes that are no UTF-8 and for `%00`.
  package func text(
    at position: Int, of name: String?, what: String = "the path segment"
  ) throws(PatternParameterError) -> String {
    let segment = self[position]
    return try uri.decoded(
      uri.text.utf8.span, Int(segment.start), Int(segment.end), plusIsSpace: false,
      name: { name }, what: what)
  }
}
