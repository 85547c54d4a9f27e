import WayPatterns
import WayValues

/// An identifier of an app for iOS and its relatives: the prefix of ten capital letters and digits,
/// usually the team's, a dot and the bundle identifier.
package struct AppleAppID: Sendable, Hashable {
  /// The identifier, such as `ABCDE12345.com.example.app`.
  package let text: String

  /// Returns `nil` for a text of another form.
  package init?(_ text: String) {
    let (prefix, rest) = (text.prefix { $0 != "." }, text.drop { $0 != "." }.dropFirst())
    let isPrefix =
      prefix.utf8.count == 10
      && prefix.unicodeScalars.allSatisfy { "A"..."Z" ~= $0 || "0"..."9" ~= $0 }
    let labels = rest.split(separator: ".", omittingEmptySubsequences: false)
    guard isPrefix, rest.utf8.count <= 155,
      labels.allSatisfy({ !$0.isEmpty && $0.allSatisfy { $0.isASCIILetterOrDigit || $0 == "-" } })
    else { return nil }
    self.text = text
  }
}

/// Apple's file about the URLs of a website that open in an app (universal links), in the form that
/// iOS 13 introduced.
///
/// Apple's rules: a component matches the whole path. `*` stands for any characters and `?` for one,
/// both also for a slash. The first component that matches decides. So paths with more segments come
/// first, and before those of each length a component excludes all longer paths. A value of
/// `:name` then cannot contain a slash.
struct AppSiteAssociation {
  /// The maximum size of the file, uncompressed.
  static let maxSize = 128 * 1024

  private let paths: AssociatedPaths
  private let appIDs: [AppleAppID]

  init(_ paths: AssociatedPaths, appIDs: [AppleAppID]) {
    self.paths = paths
    self.appIDs = appIDs
  }

  /// The text of the file. Throws if it is larger than Apple allows.
  func text() throws(TableExportError) -> String {
    let details: Value = [
      "appIDs": .array(appIDs.map(\.text).map(Value.string)),
      "components": .array(components.map(\.value)),
    ]
    let text = PrettyTableJSON.text(["applinks": ["details": [details]]]) + "\n"
    guard text.utf8.count <= Self.maxSize else {
      throw TableExportError(
        "the file for \"\(paths.host)\" has \(text.utf8.count) bytes, and Apple reads at most "
          + "\(Self.maxSize); replace patterns by one with a wildcard, such as "
          + "\"https://\(paths.host)/shop/*\"")
    }
    return text
  }

  /// A rule of the file for paths.
  private struct PathComponent: Hashable {
    let path: String
    var isExcluded = false
    let comment: String

    var value: Value {
      let texts = zip(["/", "comment"], [path, comment].map(Value.string))
      var members = ValueObject(texts.map { ($0, $1) })
      if isExcluded { members["exclude"] = true }
      return .object(members)
    }
  }

  /// The components in the order in which the system compares them.
  private var components: [PathComponent] {
    var components: [PathComponent] = []
    // A wildcard matches paths of any length.
    for path in paths.paths where path.path.segments.last == .wildcard {
      components += Self.components(of: path)
    }
    if let all = components.first(where: { $0.path == "/*" }) { return [all] }
    let bounded = paths.paths.filter { $0.path.segments.last != .wildcard }
    let withEmpty = bounded.filter { $0.path.segments.contains(.literal("")) }
    let others = bounded.filter { !$0.path.segments.contains(.literal("")) }
    for path in withEmpty { components += Self.components(of: path) }
    if others.contains(where: { $0.path.segments.contains(.parameter) }) {
      components.append(
        PathComponent(path: "*//*", isExcluded: true, comment: "an empty segment"))
    }
    let lengths = Set(others.map(\.path.segments.count)).sorted(by: >)
    for length in lengths {
      let ofLength = others.filter { $0.path.segments.count == length }
      if ofLength.contains(where: { $0.path.segments.contains(.parameter) }) {
        components.append(
          PathComponent(
            path: String(repeating: "/?*", count: length + 1), isExcluded: true,
            comment: "more than \(length) segments"))
      }
      for path in ofLength { components += Self.components(of: path) }
    }
    var known: Set<String> = []
    return components.filter { known.insert($0.path).inserted }
  }

  /// The components of a path. If it does not end with a parameter or a wildcard, there is another one
  /// for the same path with a slash after it, which is ignored.
  private static func components(of path: AssociatedPaths.AssociatedPath) -> [PathComponent] {
    var text = ""
    for segment in path.path.segments {
      switch segment {
      case .literal(let literal): text += "/" + escaped(literal)
      case .parameter: text += "/?*"
      case .wildcard: break
      }
    }
    let texts: [String] =
      switch path.path.segments.last {
      case nil: ["/"]
      case .parameter: [text]
      case .literal: [text, text + "/"]
      // After a parameter, its own asterisk also stands for the remaining segments.
      case .wildcard where text.hasSuffix("/?*"): [text]
      case .wildcard: text.isEmpty ? ["/*"] : [text, text + "/*"]
      }
    return texts.map { PathComponent(path: $0, comment: path.comment) }
  }

  /// A literal in which no character has a meaning: `?` matches it, and any other one.
  private static func escaped(_ literal: String) -> String {
    literal.replacing("*", with: "?").replacing("$(", with: "?(")
  }
}
