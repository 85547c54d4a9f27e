import WayValues

@testable import WayPatterns

extension FuzzTarget {
  /// URIs: they consist of their parts, have one normal form, and match a pattern that is made of them.
  static let uris = FuzzTarget("uris") { bytes throws(FuzzFailure) in
    let text = bytes.text
    let parsed: RouteURI?
    do throws(RouteURIError) { parsed = try RouteURI(text) } catch {
      parsed = nil
      try FuzzFailure.unless(
        (0...text.utf8.count).contains(error.offset), "the fault is at \(error.offset)")
    }
    if let parsed { try Self.checkParts(of: parsed, text) }
    guard let mapped = try? RouteURI(mapping: text) else { return }
    try FuzzFailure.unless(
      (try? RouteURI(mapping: mapped.text)) == mapped, "\(mapped) is mapped to another URI")
    let normal = RouteURI.normalForm(of: text)
    try FuzzFailure.unless(
      RouteURI.normalForm(of: normal) == normal, "\(normal) has another normal form")
    guard mapped.hasScheme, let uri = try? RouteURI(normal), let split = try? SplitURI(uri),
      let pattern = try? RoutePattern(uri.literalPattern)
    else { return }
    let isMatch = RouteTrie([(pattern, 0)]).best(split) != nil
    try FuzzFailure.unless(isMatch, "\(uri) does not match the pattern \(pattern)")
  }

  /// Checks the parts of a URI that was parsed from a text.
  private static func checkParts(of uri: RouteURI, _ text: String) throws(FuzzFailure) {
    try FuzzFailure.unless(uri.joined == text, "its parts are \(uri.joined)")
    let normalized = uri.normalized
    try FuzzFailure.unless(
      normalized.normalized == normalized, "\(normalized) is normalized to another URI")
    try FuzzFailure.unless(
      (try? RouteURI(normalized.text)) == normalized, "\(normalized) is read as another URI")
    if let base = try? RouteURI("native://base/a/b?c#d"), text.utf8.count < 60_000 {
      try FuzzFailure.unless(
        (try? uri.resolved(against: base))?.scheme != nil, "it cannot be resolved")
    }
    _ = try? uri.queryParameters()
  }

  /// Patterns, with parameters in the lines after the first: they match their sample URIs, their
  /// expansions are patterns, and a URI that is made of parameters has these parameters.
  static let patterns = FuzzTarget("patterns") { bytes throws(FuzzFailure) in
    let lines = bytes.split(separator: 0x0A, omittingEmptySubsequences: false).map {
      Array($0).text
    }
    let text = lines.first ?? ""
    let pattern: RoutePattern
    do throws(RoutePatternError) { pattern = try RoutePattern(text) } catch {
      try FuzzFailure.unless(
        (0...text.utf8.count).contains(error.offset), "the fault is at \(error.offset)")
      return
    }
    let names = pattern.parameterNames
    try FuzzFailure.unless(
      (1...RoutePattern.maxForms).contains(pattern.formCount), "\(pattern.formCount) forms")
    try FuzzFailure.unless(Set(names).count == names.count, "a name occurs twice: \(names)")
    let trie = RouteTrie([(pattern, 0)])
    for uri in pattern.sampleURIs {
      guard let called = try? RouteURI(mapping: uri.text), let split = try? SplitURI(called) else {
        continue
      }
      let isMatch = trie.best(split) != nil
      try FuzzFailure.unless(isMatch, "it does not match its sample \(called)")
    }
    for expansion in pattern.expansions {
      guard let alone = try? RoutePattern(expansion.text) else {
        throw FuzzFailure("its expansion \(expansion.text) is no pattern")
      }
      try FuzzFailure.unless(
        alone.formCount == 1 && alone.parameterNames == expansion.names,
        "its expansion \(expansion.text) has the parameters \(alone.parameterNames)")
    }
    var params = ValueObject()
    for (name, value) in zip(names, lines.dropFirst()) {
      params[name] =
        name == RoutePattern.wildcardName
        ? .array(value.split(separator: "/").map { .string(String($0)) }) : .string(value)
    }
    guard let uri = try? pattern.uri(params, scheme: "native"),
      RouteURI.normalForm(of: uri.text) == uri.text
    else { return }
    try Self.checkParameters(of: uri, trie, are: params)
  }

  /// Checks that a URI has exactly these parameters, in its path or in its query.
  private static func checkParameters(
    of uri: RouteURI, _ trie: RouteTrie, are params: ValueObject
  ) throws(FuzzFailure) {
    guard let split = try? SplitURI(uri), let found = trie.best(split),
      let captures = try? trie.captures(of: found, in: split),
      let query = try? uri.queryParameters()
    else { throw FuzzFailure("it does not match its URI \(uri)") }
    for member in params.members {
      let value = captures[member.name] ?? query[member.name]
      let isEmpty = member.value.array?.isEmpty == true && value == nil
      // An array of one value is one query parameter.
      let isSingle = member.value.array?.count == 1 && member.value.array?.first == value
      try FuzzFailure.unless(
        value == member.value || isEmpty || isSingle,
        "\(uri) has \(member.name)=\(value.debugDescription), not \(member.value)")
    }
  }
}

extension RouteURI {
  /// The URI, joined of its parts.
  fileprivate var joined: String {
    (scheme.map { $0 + ":" } ?? "") + (authority.map { "//" + $0 } ?? "") + path
      + (query.map { "?" + $0 } ?? "") + (fragment.map { "#" + $0 } ?? "")
  }

  /// A pattern without parameters for this URI, in which no character has a special meaning.
  fileprivate var literalPattern: String {
    var text = (scheme ?? "") + ":"
    if let authority {
      let start = userinfo.map { $0.utf8.count + 1 } ?? 0
      text +=
        "//"
        + String(decoding: authority.utf8.dropFirst(start), as: UTF8.self)
        .replacing("*", with: "%2A").replacing("(", with: "%28").replacing(")", with: "%29")
    }
    for character in path {
      switch character {
      case ":": text += "%3A"
      case "*": text += "%2A"
      case "(": text += "%28"
      case ")": text += "%29"
      default: text.append(character)
      }
    }
    return text
  }
}
