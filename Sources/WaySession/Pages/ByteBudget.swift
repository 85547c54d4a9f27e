import Synchronization
import WayNavigation
import WayRPC
import WayRouting
import WayValues

/// Bytes that a session may keep of what its clients chose.
final class ByteBudget: Sendable {
  /// A part of the budget, given back when nothing refers to it any more.
  final class Charge: Sendable {
    private let budget: ByteBudget
    private let bytes: Int

    fileprivate init(_ budget: ByteBudget, _ bytes: Int) {
      self.budget = budget
      self.bytes = bytes
      budget.used.add(bytes, ordering: .relaxed)
    }

    deinit {
      budget.used.subtract(bytes, ordering: .relaxed)
    }
  }

  private let limit: Int
  private let used = Atomic(0)

  init(_ limit: Int) {
    self.limit = limit
  }

  /// Takes what a page costs. Fails with ``ErrorCode/tooLarge``, and takes nothing, where there is
  /// not so much left.
  func charge(_ page: Page) throws(CallError) -> Charge {
    let bytes =
      page.uri.utf8.count + Value.object(page.params).size + Value.object(page.exts).size
    let used = used.load(ordering: .relaxed)
    guard bytes <= limit - used else {
      throw CallError(
        .tooLarge,
        "The pages of a session hold \(limit) bytes of URIs, params and exts: \(used) are taken, "
          + "and this page has \(bytes)",
        data: ["limit": .integer(Int64(limit))])
    }
    return Charge(self, bytes)
  }
}
