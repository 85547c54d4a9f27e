import Foundation
import Testing
import WayValues

@testable import WayNavigation

/// A row of `protocol/navigation.json`.
struct NavigationRow: Decodable, CustomTestStringConvertible {
  let name: String
  let stack: String
  let operation: RowOperation
  let closed: [JSONValue]?
  let shown: [String]?
  let opened: [[String]]?
  let existing: String?
  let delivered: [JSONValue]?
  let resumed: String?
  let found: String?
  let error: String?
  let after: String

  var testDescription: String { name }

  /// An operation; exactly one member is set.
  struct RowOperation: Decodable {
    struct OpenArguments: Decodable {
      let page: String
      let style: String?
      let params: JSONValue?
      let exts: JSONValue?
      let tab: Int?
    }
    struct BackArguments: Decodable {
      let count: Int?
      let to: String?
      let before: String?
      let root: Bool?
      let result: JSONValue?
    }
    struct SelectArguments: Decodable {
      let tab: Int
      let page: String?
      let params: JSONValue?
      let exts: JSONValue?
    }
    struct EditArguments: Decodable {
      struct RemoveArguments: Decodable {
        let page: String?
        let from: String?
        let through: String?
        let above: String?
        let all: Bool?
      }

      let remove: RemoveArguments?
      let open: [OpenArguments]?
    }
    struct PageArguments: Decodable {
      let page: String?
      let host: String?
      let result: JSONValue?
    }

    let open: OpenArguments?
    let back: BackArguments?
    let select: SelectArguments?
    let finish: PageArguments?
    let cancel: PageArguments?
    let removedHost: PageArguments?
    let end: PageArguments?
    let edit: EditArguments?
    let contains: String?

    private enum CodingKeys: String, CodingKey {
      case open, back, select, finish, cancel, end, edit, contains
      case removedHost = "hostGone"
    }
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

extension NavigationRow.RowOperation {
  /// Returns the stack operation; `nil` for `contains`, which only queries the stack.
  func stackOperation() throws -> StackOperation? {
    if let open {
      let style = try #require(Style(rawValue: open.style ?? "push"))
      let params = open.params?.value.object ?? [:]
      let exts = open.exts?.value.object ?? [:]
      let page = try StackNotation.page(open.page, style: style, params: params, exts: exts)
      let hasParams = !params.isEmpty || !StackNotation.query(of: page.uri).isEmpty
      return .open(
        page,
        delivering: NavigationDelivery(of: page, hasParams: hasParams, hasExts: !exts.isEmpty),
        popTo: exts["pop"]?.object.flatMap(PageReference.popTarget).map(StackNotation.reference),
        tab: open.tab)
    }
    if let back { return .back(try back.target(), result: back.result.map(Self.finishedOutcome)) }
    if let select {
      let params = select.params?.value.object ?? [:]
      let exts = select.exts?.value.object ?? [:]
      let page = try StackNotation.page(select.page ?? "first", params: params, exts: exts)
      return .select(
        tab: select.tab, first: select.page.map { _ in page },
        delivering: NavigationDelivery(
          of: page, hasParams: !params.isEmpty, hasExts: !exts.isEmpty))
    }
    if let finish {
      return .finish(
        page: try #require(finish.page), result: Self.finishedOutcome(try #require(finish.result)))
    }
    if let cancel {
      return .cancel(page: try #require(cancel.page), outcome: NavigationRow.cancelled)
    }
    if let removedHost {
      return .remove(host: try #require(removedHost.host), outcome: NavigationRow.failed)
    }
    if let edit { return .edit(try edit.remove?.range(), opening: try edit.pages()) }
    if end != nil { return .end(outcome: NavigationRow.cancelled) }
    try #require(contains != nil)
    return nil
  }

  private static func finishedOutcome(_ result: JSONValue) -> Outcome {
    .finished(data: result.value["data"] ?? .null)
  }
}

extension NavigationRow.RowOperation.EditArguments {
  func pages() throws -> [Page] {
    try (open ?? []).map { arguments in
      try StackNotation.page(
        arguments.page, style: try #require(Style(rawValue: arguments.style ?? "push")),
        exts: arguments.exts?.value.object ?? [:])
    }
  }
}

extension NavigationRow.RowOperation.EditArguments.RemoveArguments {
  func range() throws -> PageRange<PageReference> {
    let reference = StackNotation.reference
    if let page { return .page(reference(page)) }
    if let from {
      return through.map { .between(reference(from), reference($0)) } ?? .from(reference(from))
    }
    if let above { return .above(reference(above)) }
    try #require(all == true)
    return .all
  }
}

extension NavigationRow.RowOperation.BackArguments {
  func target() throws -> BackTarget<PageReference> {
    if let count { return .count(count) }
    if let to { return .to(StackNotation.reference(to)) }
    if let before { return .before(StackNotation.reference(before)) }
    try #require(root == true)
    return .root
  }
}
