import WayValues

/// What the route table says of a route, as far as it decides how its pages are drawn.
package struct ShellRoute: Sendable {
  package let name: String
  package let title: String
  package let purpose: String
  package let patterns: [String]
  /// The schema of what a page or a task of it answers with; nil where the table tells none.
  package let result: Value?
  /// The declared methods of its pages.
  package let methods: ValueObject

  /// One entry of `router.routes`; nil for what is none.
  package init?(_ entry: Value) {
    guard let name = entry["name"]?.string else { return nil }
    self.name = name
    title = entry["title"]?.string ?? ""
    purpose = entry["purpose"]?.string ?? ""
    patterns = entry["patterns"]?.list?.compactMap(\.string) ?? []
    result = entry["result"]
    methods = entry["methods"]?.object ?? [:]
  }
}
