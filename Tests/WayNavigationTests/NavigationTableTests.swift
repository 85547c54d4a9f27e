import Testing
import WayValues

@testable import WayNavigation

@Suite("protocol/navigation.json")
struct NavigationTableTests {
  @Test("says what the stack does", arguments: NavigationRow.all)
  func row(_ row: NavigationRow) throws {
    var stack = try StackNotation(row.stack).stack()
    guard let operation = try row.operation.stackOperation() else {
      let reference = StackNotation.reference(try #require(row.operation.contains))
      #expect(stack.contains(reference)?.id == row.found)
      return
    }
    if let kind = row.error {
      let refused = #expect(throws: StackError.self) { _ = try stack.apply(operation) }
      #expect(refused?.kind == kind)
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
  func coverage() throws {
    #expect(Set(NavigationRow.all.map(\.name)).count == NavigationRow.all.count)
    var rows: Set<String> = []
    for row in NavigationRow.all {
      rows.insert("\(row.operation.name) on \(try StackNotation(row.stack).stack().kind)")
    }
    let cells = NavigationRow.Operation.names.flatMap { operation in
      NavigationStack.kinds.map { "\(operation) on \($0)" }
    }
    #expect(rows.symmetricDifference(cells).sorted() == [])
  }
}

extension NavigationRow.Operation {
  /// Every operation that the table is about.
  static let names =
    Style.allCases.map(\.rawValue) + [
      "push, pop by count", "push, pop all", "back by count", "back to", "back before",
      "back to root", "finish", "cancel", "hostGone", "end", "contains",
    ]

  /// The one of ``names`` that this is.
  var name: String {
    if let open {
      switch open.exts?.value["pop"] {
      case nil: return open.style ?? "push"
      case .string("all")?: return "push, pop all"
      case _?: return "push, pop by count"
      }
    }
    if let back {
      if back.to != nil { return "back to" }
      if back.before != nil { return "back before" }
      return back.root == true ? "back to root" : "back by count"
    }
    if select != nil { return "tab" }
    if finish != nil { return "finish" }
    if cancel != nil { return "cancel" }
    if hostGone != nil { return "hostGone" }
    return end != nil ? "end" : "contains"
  }
}

extension NavigationStack {
  /// The kinds of stack that an operation may meet.
  static let kinds = [
    "nothing", "the root alone", "pages of one stack", "a modal stack", "a modal without a stack",
    "a modal over a modal", "tabs",
  ]

  /// The one of ``kinds`` that this is.
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
      let list = try #require(entry.value.list)
      let kind = try #require(list[1].string.flatMap(Outcome.Kind.init))
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
    #expect(change.existing?.id == existing)
    #expect(change.resumed?.id == resumed)
    #expect(change.top == stack.top)
    if let page = change.shown { #expect(stack.top == page) }
  }
}
