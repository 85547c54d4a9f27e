import WayValues

/// The form in which URIs that refer to pages are compared: the normal form of RFC 3986 §6.2.2,
/// without query, fragment and one trailing slash. Scheme and authority are in lower case, and
/// triplets in upper case and only if they are needed. Dot segments have been removed before.
struct NavigationURI {
  private let uri: String
  private let bytes: [UInt8]

  init(_ uri: String) {
    self.uri = uri
    bytes = Self.normalized(uri)
  }

  /// Whether another URI has the same form.
  func isEqual(to other: String) -> Bool {
    // Most URIs first differ in a letter or digit of their path, and need not be normalized.
    if let (left, right) = zip(uri.utf8, other.utf8).first(where: { $0 != $1 || $0.isDelimiter }),
      left.isAlphanumeric, right.isAlphanumeric, left.lowercased != right.lowercased
    {
      return false
    }
    return Self.normalized(other) == bytes
  }

  private static func normalized(_ uri: String) -> [UInt8] {
    let slash = UInt8(ascii: "/")
    var bytes = decoded(uri.utf8.prefix { $0 != UInt8(ascii: "?") && $0 != UInt8(ascii: "#") })
    guard let colon = bytes.firstIndex(of: UInt8(ascii: ":")) else { return bytes }
    var path = colon + 1
    if bytes[path...].starts(with: [slash, slash]) {
      path = bytes[(path + 2)...].firstIndex(of: slash) ?? bytes.endIndex
    }
    var tripletEnd = 0
    for index in 0..<path {
      if bytes[index] == UInt8(ascii: "%") { tripletEnd = index + 3 }
      if index >= tripletEnd { bytes[index] = bytes[index].lowercased }
    }
    if bytes.endIndex > path, bytes.last == slash { bytes.removeLast() }
    return bytes
  }

  /// Returns the bytes with triplets in upper case, and without those of unreserved characters.
  private static func decoded(_ text: Substring.UTF8View) -> [UInt8] {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(text.count)
    var rest = text[...]
    while let byte = rest.popFirst() {
      guard byte == UInt8(ascii: "%"), let first = rest.first?.hexValue,
        let second = rest.dropFirst().first?.hexValue
      else {
        bytes.append(byte)
        continue
      }
      let value = first << 4 | second
      if value.isUnreserved {
        bytes.append(value)
      } else {
        bytes.append(byte)
        bytes += rest.prefix(2).map(\.uppercased)
      }
      rest = rest.dropFirst(2)
    }
    return bytes
  }
}

extension UInt8 {
  private var isLetter: Bool {
    (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(self)
      || (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(self)
  }

  private var isDigit: Bool { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(self) }

  fileprivate var isAlphanumeric: Bool { isLetter || isDigit }

  /// Whether the character begins a triplet, the query or the fragment.
  fileprivate var isDelimiter: Bool {
    self == UInt8(ascii: "%") || self == UInt8(ascii: "?") || self == UInt8(ascii: "#")
  }

  /// Whether a URI never needs a triplet for this character (RFC 3986 §2.3).
  fileprivate var isUnreserved: Bool {
    isAlphanumeric || self == UInt8(ascii: "-") || self == UInt8(ascii: ".")
      || self == UInt8(ascii: "_") || self == UInt8(ascii: "~")
  }

  fileprivate var lowercased: UInt8 { isLetter ? self | 0x20 : self }
  fileprivate var uppercased: UInt8 { isLetter ? self & ~0x20 : self }

  fileprivate var hexValue: UInt8? {
    if isDigit { return self - UInt8(ascii: "0") }
    let letter = lowercased
    guard (UInt8(ascii: "a")...UInt8(ascii: "f")).contains(letter) else { return nil }
    return letter - UInt8(ascii: "a") + 10
  }
}
