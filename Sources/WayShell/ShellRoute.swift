import WayValues

/// The route table's data of a route that determines how the shell draws its pages.
package struct ShellRoute: Sendable {
  package let name: String
  package let title: String
  package let purpose: String
  package let patterns: [String]
  /// The schema of the result of its pages or tasks; `nil` if the table has none.
  package let result: Value?
  /// The declared methods of its pages.
  package let methods: ValueObject

  /// Reads one entry of `router.routes`. Returns `nil` if it is invalid.
  package init?(_ entry: Value) {
    guard let name = entry["name"]?.string else { return nil }
    self.name = name
    title = entry["title"]?.string ?? ""
    purpose = entry["purpose"]?.string ?? ""
    patterns = entry["patterns"]?.array?.compactMap(\.string) ?? []
    result = entry["result"]
    methods = entry["methods"]?.object ?? [:]
  }
}
