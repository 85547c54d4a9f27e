import Foundation
import Testing
import WayValues

@testable import WayNavigation

/// A row of `protocol/navigation.json`.
struct NavigationRow: Decodable, CustomTestStringConvertible {
  let name: String
  let stack: String
  let operation: Operation
  let closed: [JSON]?
  let shown: [String]?
  let existing: String?
  let resumed: String?
  let found: String?
  let error: String?
  let after: String

  var testDescription: String { name }

  /// Exactly one member is there.
  struct Operation: Decodable {
    struct Open: Decodable {
      let page: String
      let style: String?
      let exts: JSON?
    }
    struct Back: Decodable {
      let count: Int?
      let to: String?
      let before: String?
      let root: Bool?
      let result: JSON?
    }
    struct Select: Decodable {
      let tab: Int
      let page: String?
    }
    struct Named: Decodable {
      let page: String?
      let host: String?
      let result: JSON?
    }

    let open: Open?
    let back: Back?
    let select: Select?
    let finish: Named?
    let cancel: Named?
    let hostGone: Named?
    let end: Named?
    let contains: String?
  }

  static let failed = Outcome.failed(code: 2504, message: "its host is gone")
  static let cancelled = Outcome.cancelled(code: -32800, message: "cancelled")

  /// The published table.
  static let all: [NavigationRow] = {
    struct Document: Decodable {
      let rows: [NavigationRow]
    }
    let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
      .deletingLastPathComponent().deletingLastPathComponent()
    let file = root.appendingPathComponent("protocol/navigation.json")
    do {
      return try JSONDecoder().decode(Document.self, from: Data(contentsOf: file)).rows
    } catch {
      Issue.record("\(file.path): \(error)")
      return []
    }
  }()
}

extension NavigationRow.Operation {
  /// The operation; nil for `contains`, which is none.
  func stackOperation() throws -> StackOperation? {
    if let open {
      let style = try #require(Style(rawValue: open.style ?? "push"))
      return .open(
        try StackNotation.page(open.page, style: style, exts: open.exts?.value.object ?? [:]))
    }
    if let back { return .back(try back.target(), result: back.result.map(Self.finished)) }
    if let select {
      return .select(tab: select.tab, first: try select.page.map { try StackNotation.page($0) })
    }
    if let finish {
      return .finish(
        page: try #require(finish.page), result: Self.finished(try #require(finish.result)))
    }
    if let cancel {
      return .cancel(page: try #require(cancel.page), outcome: NavigationRow.cancelled)
    }
    if let hostGone {
      return .remove(host: try #require(hostGone.host), outcome: NavigationRow.failed)
    }
    if end != nil { return .end(outcome: NavigationRow.cancelled) }
    try #require(contains != nil)
    return nil
  }

  private static func finished(_ result: JSON) -> Outcome {
    .finished(data: result.value["data"] ?? .null)
  }
}

extension NavigationRow.Operation.Back {
  func target() throws -> BackTarget<PageReference> {
    if let count { return .count(count) }
    if let to { return .to(StackNotation.reference(to)) }
    if let before { return .before(StackNotation.reference(before)) }
    try #require(root == true)
    return .root
  }
}
