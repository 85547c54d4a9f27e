extension RoutePattern {
  /// The path of a pattern without optional groups, for a format other than a pattern.
  package struct WebPath: Sendable, Hashable {
    /// A segment of the path.
    package enum WebPathSegment: Sendable, Hashable {
      /// A literal, percent-encoded as in the normal form of a URI.
      case literal(String)
      /// One segment that is not empty.
      case parameter
      /// All remaining segments, possibly none.
      case wildcard
    }

    /// The segments; none for the path `/`.
    package let segments: [WebPathSegment]
  }

  /// The host that the pattern names, in lower case; `nil` if it is not a pattern for `https`, or
  /// not for one host.
  package var webHost: String? {
    guard scheme == "https", let form = forms.first, form.shape == .authority,
      case .literal(let host)? = form.segments.first
    else { return nil }
    return String(decoding: host, as: UTF8.self)
  }

  /// Returns the paths of the URLs `https://HOST/…` that the pattern matches, one for each of its
  /// forms; none if it matches no URL of this host. A global pattern matches the path of URLs of
  /// every host.
  ///
  /// - Parameter host: a name in lower case, without a port.
  package func webPaths(ofHost host: String) -> [WebPath] {
    guard scheme == nil || scheme == "https" else { return [] }
    return forms.compactMap { form in
      var segments = form.segments[...]
      if scheme != nil {
        guard form.shape == .authority, let first = segments.first else { return nil }
        if case .literal(let literal) = first, !literal.elementsEqual(host.utf8) { return nil }
        if first != .wildcard { segments.removeFirst() }
      }
      return WebPath(segments: segments.map(WebPath.WebPathSegment.init))
    }
  }
}

extension RoutePattern.WebPath.WebPathSegment {
  fileprivate init(_ segment: RoutePattern.PatternSegment) {
    switch segment {
    case .literal(let bytes):
      var writer = URIWriter()
      writer.append(bytes, as: .segment)
      self = .literal(String(decoding: writer.bytes, as: UTF8.self))
    case .parameter: self = .parameter
    case .wildcard: self = .wildcard
    }
  }
}
