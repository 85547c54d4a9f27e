extension RouteURI {
  /// Parses a URI as browsers give it, and percent-encodes the characters that RFC 3986 does not
  /// allow: those beyond ASCII (RFC 3987 §3.1, step 2), and in the path, the query and the fragment
  /// of a text with a scheme also those that the URL Standard leaves. Mapping the result again does
  /// not change it.
  ///
  /// A URL of `http`, `https`, `ws`, `wss` or `ftp` gets one spelling of its host and port, and a path.
  ///
  /// Control characters are errors, and so is everything else in the authority. A `%` without two
  /// hexadecimal digits is encoded for the schemes that browsers parse; in other schemes it is an
  /// error. The offset of an error is that in the original text.
  public init(mapping text: String) throws(RouteURIError) {
    self = try Self(encoding: text).webNormalForm()
  }

  private init(encoding text: String) throws(RouteURIError) {
    let first: RouteURIError
    do {
      try self.init(text)
      return
    } catch {
      guard error.isEncodable else { throw error }
      first = error
    }
    let encoder = URITextEncoder(text)
    do {
      try self.init(encoder.encodedText)
    } catch {
      // A port beyond ASCII has become a stray '%'; the error of the first parse is more precise.
      guard error.reason != .invalidCharacter(.percent) else { throw first }
      throw RouteURIError(error.reason, at: encoder.offset(ofEncoded: error.offset))
    }
  }

  /// Returns the text of a called URI in the form that is matched and that hosts see: mapped as
  /// ``init(mapping:)`` does, without dot segments. Less changes than in ``normalized``. A text that
  /// is no URI with a scheme stays unchanged.
  package static func normalForm(of text: String) -> String {
    guard let uri = try? RouteURI(mapping: text), uri.hasScheme else { return text }
    return uri.withoutDotSegments.text
  }

  /// The normal form of a string without its query and fragment, which may contain data that does
  /// not belong in a log.
  package static func logForm(of text: String) -> String {
    String(normalForm(of: text).prefix { $0 != "?" && $0 != "#" })
  }
}

extension RouteURIError {
  /// Whether percent-encoding may remove the fault.
  fileprivate var isEncodable: Bool {
    switch reason {
    case .invalidCharacter, .notASCII, .badPercent: true
    case .tooLong, .badScheme, .badIPLiteral, .badPort, .noScheme, .noHost, .badHost,
      .tooManySegments:
      false
    }
  }
}

/// Percent-encodes the bytes of a text for ``RouteURI/init(mapping:)``.
private struct URITextEncoder {
  private let bytes: [UInt8]
  /// The position of the path; the end of a text without a scheme, which is encoded less.
  private let pathStart: Int
  /// The position of the `#` before the fragment; the end if there is none.
  private let fragmentSign: Int
  /// The position of the query or fragment; the end without either.
  private let pathEnd: Int
  /// Whether browsers parse the scheme. Then a `%` without two hexadecimal digits is encoded.
  private let isBrowserScheme: Bool

  init(_ text: String) {
    var bytes = Array(text.utf8)
    let colon = bytes.firstIndex { $0 == .colon || Self.endsAuthority($0) }
    let scheme = colon.flatMap { bytes[$0] == .colon ? bytes[..<$0] : nil }
    isBrowserScheme =
      scheme.map { RouteURI.isBrowserScheme(String(decoding: $0, as: UTF8.self)) } ?? false
    // Browsers remove spaces at the end.
    while isBrowserScheme, bytes.last == UInt8(ascii: " ") { bytes.removeLast() }
    self.bytes = bytes
    pathEnd = bytes.firstIndex { $0 == .questionMark || $0 == .numberSign } ?? bytes.count
    fragmentSign = bytes.firstIndex(of: .numberSign) ?? bytes.count
    guard let scheme else {
      pathStart = bytes.count
      return
    }
    let rest = bytes[(scheme.endIndex + 1)...]
    if rest.starts(with: [.slash, .slash]) {
      pathStart = rest.dropFirst(2).firstIndex(where: Self.endsAuthority) ?? bytes.count
    } else {
      pathStart = scheme.endIndex + 1
    }
  }

  /// The text with the triplets.
  var encodedText: String {
    var encoded: [UInt8] = []
    encoded.reserveCapacity(bytes.count * 2)
    for position in bytes.indices {
      if isSlash(at: position) {
        encoded.append(.slash)
      } else if isEncoded(at: position) {
        encoded.appendPercentEncoded(bytes[position])
      } else {
        encoded.append(bytes[position])
      }
    }
    return String(decoding: encoded, as: UTF8.self)
  }

  /// Returns the offset in the original text for one in the encoded text.
  func offset(ofEncoded target: Int) -> Int {
    var end = 0
    for position in bytes.indices {
      end += isEncoded(at: position) && !isSlash(at: position) ? 3 : 1
      if end > target { return position }
    }
    return bytes.count
  }

  /// Whether browsers read this byte, a backslash of the path, as a slash.
  private func isSlash(at position: Int) -> Bool {
    isBrowserScheme && bytes[position] == UInt8(ascii: "\\") && position >= pathStart
      && position < pathEnd
  }

  private func isEncoded(at position: Int) -> Bool {
    let byte = bytes[position]
    if byte >= 128 { return true }
    // Control characters stay, so that the second parse reports them.
    guard position >= pathStart, byte >= 0x20, byte != 0x7F else { return false }
    switch byte {
    case .percent: return isBrowserScheme && !isTriplet(at: position)
    case .numberSign: return position > fragmentSign
    default: return !URIByteSet.query.contains(byte)
    }
  }

  private func isTriplet(at position: Int) -> Bool {
    position + 2 < bytes.count && bytes[position + 1].hexValue != nil
      && bytes[position + 2].hexValue != nil
  }

  private static func endsAuthority(_ byte: UInt8) -> Bool {
    byte == .slash || byte == .questionMark || byte == .numberSign
  }
}
