extension RouteURI {
  /// Resolves this reference against `base`: RFC 3986 §5.2, strict (a reference with a scheme is
  /// absolute).
  ///
  /// Throws ``RouteURIError/URIErrorReason/noScheme`` if `base` has no scheme, and
  /// ``RouteURIError/URIErrorReason/tooLong`` if the result is.
  public func resolved(against base: RouteURI) throws(RouteURIError) -> RouteURI {
    guard base.parts.schemeEnd >= 0 else { throw RouteURIError(.noScheme, at: 0) }
    var target = URIComponents()
    target.fragment = fragment
    if let scheme {
      target.scheme = scheme
      target.authority = authority
      target.path = URIComponents.removingDotSegments(Array(path.utf8))
      target.query = query
    } else if let authority {
      target.scheme = base.scheme
      target.authority = authority
      target.path = URIComponents.removingDotSegments(Array(path.utf8))
      target.query = query
    } else {
      target.scheme = base.scheme
      target.authority = base.authority
      if parts.pathEnd == parts.pathStart {
        target.path = Array(base.path.utf8)
        target.query = query ?? base.query
      } else {
        target.path = URIComponents.removingDotSegments(mergedPath(base))
        target.query = query
      }
    }
    return try target.uri()
  }

  /// Returns the merged path (§5.2.3), also for an absolute path.
  private func mergedPath(_ base: RouteURI) -> [UInt8] {
    let pathBytes = Array(path.utf8)
    if pathBytes.first == .slash { return pathBytes }
    let basePath = Array(base.path.utf8)
    if base.parts.hasAuthority, basePath.isEmpty { return [.slash] + pathBytes }
    guard let slash = basePath.lastIndex(of: .slash) else { return pathBytes }
    return basePath[...slash] + pathBytes
  }

  /// The URI in its normal form, RFC 3986 §6.2.2: scheme and host in lower case, triplets in upper
  /// case and only if they are needed, no dot segments. A relative path keeps its dot segments.
  public var normalized: RouteURI {
    var result = URIComponents()
    result.scheme = scheme?.lowercased()
    if parts.hasAuthority {
      var text = userinfo.map { URIComponents.normalizingTriplets($0) + [.atSign] } ?? []
      text += URIComponents.normalizingTriplets(host ?? "", lowercasing: true)
      text += (authority ?? "").utf8.dropFirst(Int(parts.hostEnd - parts.authorityStart))
      result.authority = String(decoding: text, as: UTF8.self)
    }
    result.path = URIComponents.normalizingTriplets(path)
    if result.scheme != nil || result.authority != nil || result.path.first == .slash {
      result.path = URIComponents.removingDotSegments(result.path)
    }
    result.query = query.map {
      String(decoding: URIComponents.normalizingTriplets($0), as: UTF8.self)
    }
    result.fragment = fragment.map {
      String(decoding: URIComponents.normalizingTriplets($0), as: UTF8.self)
    }
    // Normalizing keeps a URI valid and never lengthens it, so the fallback is never used.
    return (try? result.uri()) ?? self
  }
  /// The URI without the dot segments of its path (RFC 3986 §5.2.4), including percent-encoded ones
  /// (§6.2.2.2), as it is matched; the rest is unchanged. A relative reference keeps them.
  package var withoutDotSegments: RouteURI {
    guard parts.schemeEnd >= 0, hasDotSegments else { return self }
    var result = URIComponents()
    result.scheme = scheme
    result.authority = authority
    let segments = Array(path.utf8).split(separator: .slash, omittingEmptySubsequences: false)
    result.path = URIComponents.removingDotSegments(
      Array(segments.map(URIComponents.decodingDots).joined(separator: [.slash])))
    result.query = query
    result.fragment = fragment
    // The result is not longer, so the fallback is never used.
    return (try? result.uri()) ?? self
  }

  private var hasDotSegments: Bool {
    let bytes = text.utf8.span
    let end = Int(parts.pathEnd)
    var position = Int(parts.pathStart)
    while position < end {
      var dots = 0
      while position < end {
        if bytes[position] == .dot {
          position += 1
        } else if bytes[position] == .percent, bytes.percentDecodedByte(at: position) == .dot {
          position += 3
        } else {
          break
        }
        dots += 1
      }
      if dots == 1 || dots == 2, position == end || bytes[position] == .slash { return true }
      while position < end, bytes[position] != .slash { position += 1 }
      position += 1
    }
    return false
  }
}

/// The five components of RFC 3986 §5.3, for recomposition.
private struct URIComponents {
  var scheme: String?
  var authority: String?
  var path: [UInt8] = []
  var query: String?
  var fragment: String?

  func uri() throws(RouteURIError) -> RouteURI {
    var text = ""
    if let scheme { text += scheme + ":" }
    if let authority { text += "//" + authority }
    // Without an authority, a path that begins with two slashes would be read as one.
    if authority == nil, path.starts(with: [.slash, .slash]) { text += "/." }
    text += String(decoding: path, as: UTF8.self)
    if let query { text += "?" + query }
    if let fragment { text += "#" + fragment }
    return try RouteURI(text)
  }

  /// Decodes the triplets of a dot segment; returns any other segment unchanged.
  static func decodingDots(_ segment: ArraySlice<UInt8>) -> [UInt8] {
    // The longest dot segment: six bytes.
    guard segment.count <= 6 else { return Array(segment) }
    let decoded = normalizingTriplets(String(decoding: segment, as: UTF8.self))
    return decoded == [.dot] || decoded == [.dot, .dot] ? decoded : Array(segment)
  }

  /// §5.2.4, in time linear in the path.
  static func removingDotSegments(_ path: [UInt8]) -> [UInt8] {
    var input = path[...]
    var output: [UInt8] = []
    func begins(_ text: StaticString) -> Bool {
      text.withUTF8Buffer { input.starts(with: $0) }
    }
    func isAll(_ text: StaticString) -> Bool {
      input.count == text.utf8CodeUnitCount && begins(text)
    }
    func dropLast() {
      while let byte = output.popLast(), byte != .slash {}
    }
    while !input.isEmpty {
      if begins("../") {
        input = input.dropFirst(3)
      } else if begins("./") || begins("/./") {
        input = input.dropFirst(2)
      } else if begins("/../") {
        input = input.dropFirst(3)
        dropLast()
      } else if isAll("/.") {
        output.append(.slash)
        break
      } else if isAll("/..") {
        dropLast()
        output.append(.slash)
        break
      } else if isAll(".") || isAll("..") {
        break
      } else {
        let next = input.dropFirst().firstIndex(of: .slash) ?? input.endIndex
        output += input[..<next]
        input = input[next...]
      }
    }
    return output
  }

  /// Triplets in upper case, those of unreserved characters decoded; §6.2.2.1 and §6.2.2.2.
  static func normalizingTriplets(_ text: String, lowercasing: Bool = false) -> [UInt8] {
    let bytes = text.utf8.span
    var result: [UInt8] = []
    result.reserveCapacity(bytes.count)
    var position = 0
    while position < bytes.count {
      let isTriplet = bytes[position] == .percent
      let byte = isTriplet ? bytes.percentDecodedByte(at: position) : bytes[position]
      position += isTriplet ? 3 : 1
      if isTriplet, !URIByteSet.unreserved.contains(byte) {
        result.appendPercentEncoded(byte)
      } else {
        result.append(lowercasing ? byte.lowercased : byte)
      }
    }
    return result
  }
}
