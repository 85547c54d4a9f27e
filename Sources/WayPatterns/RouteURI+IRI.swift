extension RouteURI {
  /// Reads an IRI: characters beyond ASCII become the triplets of their UTF-8 (RFC 3987 §3.1, step
  /// 2); all else must be as in a URI. The offset of an error counts in the text as it was given.
  public init(mapping iri: String) throws(RouteURIError) {
    let first: RouteURIError
    do {
      try self.init(iri)
      return
    } catch {
      guard error.reason == .notASCII else { throw error }
      first = error
    }
    var mapped: [UInt8] = []
    mapped.reserveCapacity(iri.utf8.count * 2)
    for byte in iri.utf8 {
      if byte < 128 { mapped.append(byte) } else { mapped.appendTriplet(byte) }
    }
    do {
      try self.init(String(decoding: mapped, as: UTF8.self))
    } catch {
      // A port beyond ASCII has become a stray '%'; the first reading names it better.
      guard error.reason != .invalidCharacter(.percent) else { throw first }
      throw RouteURIError(error.reason, at: Self.offset(in: iri, ofMapped: error.offset))
    }
  }

  private static func offset(in iri: String, ofMapped target: Int) -> Int {
    var offset = 0
    var mapped = 0
    for byte in iri.utf8 {
      mapped += byte < 128 ? 1 : 3
      if mapped > target { break }
      offset += 1
    }
    return offset
  }
}
