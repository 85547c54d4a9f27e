/// A content coding in which a file may be stored beside its original (RFC 9110 §8.4.1).
enum ContentCoding: String, CaseIterable {
  // The smaller first: the first that a client accepts is sent.
  case brotli = "br"
  case gzip

  /// The ending of the compressed file's name, after that of the original.
  var fileNameSuffix: String {
    switch self {
    case .brotli: ".br"
    case .gzip: ".gz"
    }
  }

  /// The codings that the client accepts, most preferred first (RFC 9110 §12.5.3).
  static func accepted(by head: RequestHead) -> [ContentCoding] {
    var isAccepted: [String: Bool] = [:]
    for element in head.list("accept-encoding") {
      let parts = element.split(separator: ";", omittingEmptySubsequences: false)
        .map { $0.trimmed() }
      let weight = parts.dropFirst().first { $0.hasPrefix("q=") }
      isAccepted[parts[0]] = weight.map { (Double($0.dropFirst(2)) ?? 0) > 0 } ?? true
    }
    return allCases.filter { isAccepted[$0.rawValue] ?? isAccepted["*"] ?? false }
  }

  /// The entity tag of the compressed form of a file with this tag: two forms of a file must not
  /// have the same tag (RFC 9110 §8.8.3.3).
  func entityTag(for tag: String) -> String {
    "\(tag.dropLast())-\(rawValue)\""
  }
}
