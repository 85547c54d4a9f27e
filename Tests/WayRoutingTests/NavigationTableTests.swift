import Testing
import WayValues

@testable import WayRouting

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
  func coverage() {
    #expect(NavigationRow.all.count >= 140)
    #expect(Set(NavigationRow.all.map(\.name)).count == NavigationRow.all.count)
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
