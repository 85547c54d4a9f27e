import Testing
import WayValues

@testable import WayNavigation

@Suite("protocol/navigation.json")
struct NavigationTableTests {
  @Test("the stack follows the published table", arguments: NavigationRow.all)
  func stackFollowsPublishedRow(_ row: NavigationRow) throws {
    var stack = try StackNotation(row.stack).stack()
    guard let operation = try row.operation.stackOperation() else {
      let reference = StackNotation.reference(try #require(row.operation.contains))
      #expect(stack.find(reference)?.id == row.found)
      return
    }
    if let kind = row.error {
      let rejected = #expect(throws: StackError.self) { _ = try stack.apply(operation) }
      #expect(rejected?.kind == kind)
      #expect(#expect(throws: StackError.self) { try stack.check(operation) }?.kind == kind)
    } else {
      let planned = try stack.check(operation)
      #expect(
        StackNotation(stack).description
          == StackNotation(try StackNotation(row.stack).stack()).description)
      let change = try stack.apply(operation)
      try row.expect(change, stack)
      try row.expect(planned, stack)
    }
    #expect(StackNotation(stack).description == row.after)
  }

  @Test("has a row for every operation on every kind of stack")
  func coversEveryOperationOnEveryStackKind() throws {
    #expect(Set(NavigationRow.all.map(\.name)).count == NavigationRow.all.count)
    var rows: Set<String> = []
    for row in NavigationRow.all {
      rows.insert("\(row.operation.name) on \(try StackNotation(row.stack).stack().kind)")
    }
    let cells = NavigationRow.RowOperation.names.flatMap { operation in
      NavigationStack.kinds.map { "\(operation) on \($0)" }
    }
    #expect(rows.symmetricDifference(cells).sorted() == [])
  }
}

extension NavigationRow.RowOperation {
  /// Every operation that the table covers.
  static let names =
    Style.allCases.map(\.rawValue) + [
      "push, pop by count", "push, pop root", "push, pop to", "popTo, delivering",
      "tab, delivering", "back by count", "back to", "back before", "back to root", "finish",
      "cancel", "hostGone", "end", "contains", "edit, remove", "edit, replace", "edit, all",
      "edit, above", "edit, on top",
    ]

  /// The name of this operation, one of ``names``.
  var name: String {
    if let open {
      switch open.exts?.value["pop"] {
      case nil: break
      case .string("root")?: return "push, pop root"
      case .object?: return "push, pop to"
      case _?: return "push, pop by count"
      }
      let delivers = open.params != nil || open.exts != nil || open.page.contains("?")
      return open.style == "popTo" && delivers ? "popTo, delivering" : open.style ?? "push"
    }
    if let back {
      if back.to != nil { return "back to" }
      if back.before != nil { return "back before" }
      return back.root == true ? "back to root" : "back by count"
    }
    if let select {
      return select.params != nil || select.exts != nil ? "tab, delivering" : "tab"
    }
    if finish != nil { return "finish" }
    if cancel != nil { return "cancel" }
    if removedHost != nil { return "hostGone" }
    if let edit {
      guard let remove = edit.remove else { return "edit, on top" }
      if edit.open == nil { return "edit, remove" }
      if remove.all == true { return "edit, all" }
      return remove.above == nil ? "edit, replace" : "edit, above"
    }
    return end != nil ? "end" : "contains"
  }
}

extension NavigationStack {
  /// The kinds of stack that the table covers.
  static let kinds = [
    "nothing", "the root alone", "pages of one stack", "a modal stack", "a modal without a stack",
    "a modal over a modal", "tabs",
  ]

  /// The kind of this stack, one of ``kinds``.
  var kind: String {
    guard selected == nil else { return "tabs" }
    guard let top = pages.last else { return "nothing" }
    switch top.level {
    case 0: return pages.count == 1 ? "the root alone" : "pages of one stack"
    case 1: return top.hasStack ? "a modal stack" : "a modal without a stack"
    default: return "a modal over a modal"
    }
  }
}

extension NavigationRow {
  func expect(_ change: StackChange, _ stack: NavigationStack) throws {
    let expected: [(String, Outcome)] = try (closed ?? []).map { entry in
      let list = try #require(entry.value.array)
      let kind = try #require(list[1].string.flatMap(Outcome.OutcomeKind.init))
      let id = try #require(list[0].string)
      return switch kind {
      case .failed: (id, Self.failed)
      case .cancelled: (id, Self.cancelled)
      default: (id, Outcome(kind: kind, data: list.count > 2 ? list[2] : .null))
      }
    }
    #expect(change.closed.map(\.page.id) == expected.map(\.0))
    #expect(change.closed.map(\.outcome) == expected.map(\.1))
    #expect(change.shown.map { [$0.id, $0.style.rawValue] } == shown)
    #expect(change.opened.map { [$0.id, $0.style.rawValue] } == opened ?? [])
    for page in change.opened { #expect(stack.pages.contains(page)) }
    #expect(change.existing?.id == existing)
    if let delivered {
      let page = try #require(change.existing)
      #expect(delivered.first?.value == .string(page.id))
      let params = delivered[1].value.object
      #expect(change.delivered?.params == params)
      if let params { #expect(page.params == params && page.uri == change.delivered?.uri) }
      let exts = delivered.count > 2 ? delivered[2].value.object : nil
      #expect(change.delivered?.exts == exts)
      // Whether the page has a stack stays as it is.
      #expect(page.exts["animated"] == (exts ?? page.exts)["animated"])
      #expect(stack.allPages.first(where: { $0.id == page.id }) == page)
    } else {
      #expect(change.delivered == nil)
    }
    #expect(change.resumed?.id == resumed)
    #expect(change.top == stack.top)
    if let page = change.shown { #expect(stack.top == page) }
  }
}
