extension RoutePattern.PatternForm {
  /// Returns the first segments in which two forms differ, each as a pattern writes it.
  func firstDifference(from other: Self) -> (mine: String, other: String)? {
    for position in 0..<min(segments.count, other.segments.count)
    where segments[position] != other.segments[position] {
      return (text(of: position), other.text(of: position))
    }
    guard segments.count != other.segments.count else { return nil }
    let end = "nothing"
    return segments.count < other.segments.count
      ? (end, other.text(of: segments.count)) : (text(of: other.segments.count), end)
  }

  /// Returns the reason why the form does not match. Its pattern names the URI's scheme or is
  /// global.
  func mismatchReason(with split: borrowing SplitURI, isGlobal: Bool) -> String {
    let start = isGlobal && !split.isAuthorityGlobal && split.shape == .authority ? 1 : 0
    for position in segments.indices {
      if segments[position] == .wildcard { break }
      guard start + position < split.count else {
        return "the URI ends before \(text(of: position))"
      }
      let found = split.decoded(start + position)
      switch segments[position] {
      case .wildcard: break
      case .parameter where found.isEmpty: return "no value for \(text(of: position))"
      case .parameter: continue
      case .literal(let literal):
        let isFolded = split.isFolded(start + position)
        let isSame =
          isFolded
          ? found.map(\.lowercased) == literal.map(\.lowercased) : found == literal
        guard isSame else {
          return "'\(String(decoding: found, as: UTF8.self).brief)' is not \(text(of: position))"
        }
      }
    }
    return "the URI continues after its end"
  }

  private func text(of position: Int) -> String {
    switch segments[position] {
    case .literal(let bytes): "'\(String(decoding: bytes, as: UTF8.self).brief)'"
    case .parameter: "':\(captures.first { $0.segment == position }?.name ?? "")'"
    case .wildcard: "'*'"
    }
  }
}

extension SplitURI {
  /// Returns the decoded bytes of a segment.
  func decoded(_ position: Int) -> [UInt8] {
    let segment = self[position]
    let bytes = uri.text.utf8.span
    var result: [UInt8] = []
    var next = Int(segment.start)
    while next < Int(segment.end) {
      let isTriplet = bytes[next] == .percent
      result.append(isTriplet ? bytes.percentDecodedByte(at: next) : bytes[next])
      next += isTriplet ? 3 : 1
    }
    return result
  }
}
