import TestSupport
import Testing
import WayValues

@testable import WayNavigation

/// Random sequences of operations. A failure names its seed; every run uses the same seeds.
struct NavigationPropertyTests {
  @Test("every opened page ends exactly once and the stack stays consistent", arguments: 1...40)
  func everyPageEndsExactlyOnce(seed: Int) throws {
    var random = SeededRandom(seed: UInt64(seed))
    var stack = NavigationStack()
    var expected: [String] = []
    var ended: Set<String> = []
    var opened = 0

    func record(_ change: StackChange) {
      for closed in change.closed {
        #expect(
          ended.insert(closed.page.id).inserted, "seed \(seed): \(closed.page.id) ended twice")
        #expect(expected.contains(closed.page.id), "seed \(seed): \(closed.page.id) was not there")
        expected.removeAll { $0 == closed.page.id }
      }
      if let shown = change.shown { expected.append(shown.id) }
      expected += change.opened.map(\.id)
    }

    for step in 0..<300 {
      let operation = randomOperation(stack, opened: &opened, using: &random)
      let before = stack.pages
      let selected = stack.selected
      do {
        let planned = try stack.check(operation)
        let change = try stack.apply(operation)
        #expect(planned.closed.map(\.page) == change.closed.map(\.page))
        #expect(planned.existing == change.existing)
        if change.delivered != nil {
          #expect(stack.pages.contains { $0 == change.existing }, "seed \(seed): not stored")
        }
        let survived = stack.pages.map(\.id).filter { id in
          id != change.shown?.id && !change.opened.contains { $0.id == id }
        }
        if stack.selected == selected {
          #expect(survived == before.map(\.id).filter(survived.contains), "order, seed \(seed)")
        }
        if let resumed = change.resumed {
          #expect(resumed.id != before.last?.id && resumed == stack.top)
        }
        record(change)
      } catch {
        #expect(stack.pages == before, "seed \(seed), step \(step): rejected but changed")
      }
      let waiting = stack.backgroundTabs.flatMap(\.pages)
      #expect(
        (stack.pages + waiting).map(\.id).sorted() == expected.sorted(),
        "seed \(seed), step \(step)")
      #expect(waiting.allSatisfy { $0.level == 0 }, "a modal waits, seed \(seed), step \(step)")
      checkLevels(stack, "seed \(seed), step \(step)")
    }
    record(try stack.apply(.end(outcome: .cancelled())))
    #expect(expected.isEmpty && stack.pages.isEmpty && stack.backgroundTabs.isEmpty)
  }

  private func checkLevels(_ stack: NavigationStack, _ place: String) {
    var level = 0
    for (index, page) in stack.pages.enumerated() {
      let begins = page.level == level + 1 && index > 0
      #expect(page.level == level || begins, "levels with a gap, \(place)")
      if !begins, index > 0 {
        #expect(page.hasStack, "two pages without a stack, \(place)")
      }
      level = page.level
    }
    #expect(stack.pages.first?.hasStack != false, "no stack at the bottom, \(place)")
  }

  private func randomOperation(
    _ stack: NavigationStack, opened: inout Int, using random: inout SeededRandom
  ) -> StackOperation {
    let anyPage = stack.allPages.randomElement(using: &random)?.id ?? "none"
    switch Int.random(in: 0..<18, using: &random) {
    case 0...7:
      opened += 1
      let style = Style.allCases.randomElement(using: &random) ?? .push
      var exts = ValueObject()
      if style == .present { exts["navigation"] = .bool(Bool.random(using: &random)) }
      if style == .push, opened % 9 == 0 {
        let count = Value.integer(.random(in: 0...3, using: &random))
        let pops: [Value] = [count, "root", ["to": .string(anyPage)]]
        exts["pop"] = pops.randomElement(using: &random)
      }
      let rare = style == .root && opened % 4 != 0
      let route = ["a", "b", "c", nil][Int.random(in: 0..<4, using: &random)]
      let page = Page(
        id: "p\(opened)", uri: "x://\(Int.random(in: 0..<3, using: &random))", route: route,
        style: rare ? .push : style, params: ["n": .integer(Int64(opened))], exts: exts,
        host: ["h", "i", "j"][Int.random(in: 0..<3, using: &random)])
      return .open(
        page, delivering: NavigationDelivery(of: page, hasParams: opened % 3 == 0, hasExts: false),
        tab: opened % 4 == 0 ? Int.random(in: 0..<3, using: &random) : nil)
    case 8:
      return .back(.count(.random(in: -1...4, using: &random)), result: result(&random))
    case 9: return .back(.to(.page(anyPage)), result: result(&random))
    case 10:
      return .back(.before(.uri(PageURI("x://a", route: "a"))), result: result(&random))
    case 11: return .finish(page: anyPage, result: .finished())
    case 12: return .cancel(page: anyPage, outcome: .cancelled())
    case 13, 14:
      opened += 1
      let first = Page(id: "p\(opened)", uri: "x://tab", route: nil, host: "h")
      return .select(
        tab: .random(in: 0..<3, using: &random), first: opened % 5 == 0 ? nil : first)
    case 15, 16: return edit(stack, opened: &opened, using: &random)
    default:
      return .remove(
        host: ["h", "i", "j", "k"][Int.random(in: 0..<4, using: &random)],
        outcome: .failed(code: 1, message: "gone"))
    }
  }

  private func edit(
    _ stack: NavigationStack, opened: inout Int, using random: inout SeededRandom
  ) -> StackOperation {
    let reference = { (random: inout SeededRandom) in
      PageReference.page(stack.pages.randomElement(using: &random)?.id ?? "none")
    }
    let range: PageRange<PageReference>? =
      switch Int.random(in: 0..<6, using: &random) {
      case 0: .page(reference(&random))
      case 1: .between(reference(&random), reference(&random))
      case 2: .from(reference(&random))
      case 3: .above(reference(&random))
      case 4: opened % 3 == 0 ? .all : .page(reference(&random))
      default: nil
      }
    let pages = (0..<Int.random(in: 0...3, using: &random)).map { _ in
      opened += 1
      return Page(
        id: "p\(opened)", uri: "x://edit", route: ["a", "b"].randomElement(using: &random),
        style: Bool.random(using: &random) ? .push : .present,
        exts: Bool.random(using: &random) ? ["navigation": false] : [:], host: "h")
    }
    return .edit(range, opening: pages)
  }

  private func result(_ random: inout SeededRandom) -> Outcome? {
    Bool.random(using: &random) ? .finished() : nil
  }
}
