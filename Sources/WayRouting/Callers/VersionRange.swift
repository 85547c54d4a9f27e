import WayValues

/// A version of a program: numbers separated by dots, `5.2.1`. Missing numbers are 0, and the text
/// after a `-` or `+` is ignored.
public struct ProgramVersion: Sendable, Hashable, Comparable {
  private static let maxParts = 8
  /// The numbers without trailing zeros.
  private let parts: [UInt32]

  /// Parses a version; `nil` if the text is none.
  public init?(_ text: String) {
    let core = text.prefix { $0 != "-" && $0 != "+" }
    let texts = core.split(separator: ".", omittingEmptySubsequences: false)
    guard texts.count <= Self.maxParts else { return nil }
    var parts: [UInt32] = []
    for text in texts {
      guard text.utf8.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }),
        let part = UInt32(text)
      else { return nil }
      parts.append(part)
    }
    while parts.last == 0 { parts.removeLast() }
    self.parts = parts
  }

  /// Compares two versions number by number.
  public static func < (left: ProgramVersion, right: ProgramVersion) -> Bool {
    left.parts.lexicographicallyPrecedes(right.parts)
  }
}

/// A set of versions of a program: `>=5.2 <6`, comparators that all have to hold.
public struct VersionRange: Sendable, Hashable, CustomStringConvertible {
  private enum Comparator: String, CaseIterable {
    // An operator that is a prefix of another one comes after it.
    case atLeast = ">="
    case atMost = "<="
    case above = ">"
    case below = "<"
    case equal = "="

    func holds(_ version: ProgramVersion, _ bound: ProgramVersion) -> Bool {
      switch self {
      case .atLeast: version >= bound
      case .atMost: version <= bound
      case .above: version > bound
      case .below: version < bound
      case .equal: version == bound
      }
    }
  }

  private struct VersionBound: Sendable, Hashable {
    let comparator: Comparator
    let version: ProgramVersion
  }

  /// The range as it was written.
  public let description: String
  private let bounds: [VersionBound]

  /// Parses a range; `nil` if the text is none.
  public init?(_ text: String) {
    var bounds: [VersionBound] = []
    for word in text.split(separator: " ") {
      let comparator = Comparator.allCases.first { word.hasPrefix($0.rawValue) }
      let rest = word.dropFirst(comparator?.rawValue.count ?? 0)
      guard let version = ProgramVersion(String(rest)), !rest.isEmpty else { return nil }
      bounds.append(VersionBound(comparator: comparator ?? .equal, version: version))
    }
    guard !bounds.isEmpty else { return nil }
    self.bounds = bounds
    description = text
  }

  /// Whether the range contains a version.
  public func contains(_ version: ProgramVersion) -> Bool {
    bounds.allSatisfy { $0.comparator.holds(version, $0.version) }
  }

  /// Whether the range contains no version, because its comparators contradict each other.
  package var isEmpty: Bool {
    // If any version fits, then one at a bound or next to a bound fits.
    var tried = bounds.map(\.version) + [.lowest]
    tried += bounds.map { $0.version.next }
    return !tried.contains(where: contains)
  }
}

extension ProgramVersion {
  fileprivate static let lowest = ProgramVersion(parts: [])

  /// The version just above this one: no range can name a version between them.
  fileprivate var next: ProgramVersion {
    ProgramVersion(parts: parts + Array(repeating: 0, count: Self.maxParts - parts.count) + [1])
  }

  private init(parts: [UInt32]) {
    self.parts = parts
  }
}
