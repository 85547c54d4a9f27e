import WayNavigation
import WayRouting
import WayValues

/// An edit of the stack that opens pages, from its request until their hosts have agreed or it has
/// failed. Belongs to the isolation of its session.
///
/// Each page has a call of its own, which resolves its URI. When all are resolved, the edit waits for
/// its turn. Then the hosts are asked one after another, lowest page first. The stack changes when the
/// last one has agreed.
final class StackEdit {
  /// The phase of an edit.
  enum EditPhase {
    /// The URIs of the pages are being resolved.
    case resolving
    /// It waits for its turn, or for guards.
    case queued
    /// The hosts of the pages are being asked.
    case asking
  }

  /// The call that gets the change of the stack.
  let call: CallNumber
  let caller: Caller
  /// The calls that resolve the pages, lowest first.
  let parts: [CallNumber]
  private let range: PageRange<PageReference>?
  /// Those that the hosts of closed pages get.
  let exts: ValueObject
  /// Returns why the caller may not close a page of others, or close it without asking its guards.
  let closing: (Page, _ byForce: Bool) -> CallError?
  /// The pages that the guards allow to close; `nil` before they were asked.
  var approvedPages: Set<String>?
  private(set) var phase = EditPhase.resolving
  private var openings: [CallNumber: PageOpening] = [:]
  /// The ids of the pages whose hosts have agreed.
  private var agreed: Set<String> = []
  /// The styles and the change with which the hosts were asked.
  private var planned = StackChange()

  init(
    _ range: PageRange<PageReference>?, parts: [CallNumber], for call: CallNumber,
    by caller: Caller,
    exts: ValueObject, closing: @escaping (Page, _ byForce: Bool) -> CallError?
  ) {
    self.range = range
    self.parts = parts
    self.call = call
    self.caller = caller
    self.exts = exts
    self.closing = closing
  }

  /// The stack operation of the edit.
  var operation: StackOperation { .edit(range, opening: orderedOpenings.map(\.page)) }

  /// The edit as a request that may close pages.
  var closingRequest: StackRequest {
    StackRequest(operation: operation, call: call, caller: caller, exts: exts, closing: closing)
  }

  /// The openings of the pages, lowest first.
  var orderedOpenings: [PageOpening] { parts.compactMap { openings[$0] } }

  /// The openings whose hosts have agreed, lowest first.
  var agreedOpenings: [PageOpening] { orderedOpenings.filter { agreed.contains($0.page.id) } }

  /// Whether a page belongs to the edit.
  func contains(_ page: String) -> Bool { openings.values.contains { $0.page.id == page } }

  /// Adds the opening of a page that is resolved. Returns whether the edit may be queued.
  func add(_ opening: PageOpening) -> Bool {
    openings[opening.call] = opening
    guard phase == .resolving, openings.count == parts.count else { return false }
    phase = .queued
    return true
  }

  /// Begins to ask the hosts for a change of the stack.
  func begin(_ change: StackChange) {
    phase = .asking
    planned = change
  }

  /// Whether the stack changes as it was planned when the hosts were asked.
  func isAsPlanned(_ change: StackChange) -> Bool {
    change.closed.map(\.page.id) == planned.closed.map(\.page.id)
      && change.coveringPage == planned.coveringPage
  }

  /// Records that a host has agreed.
  func agree(_ opening: PageOpening) { agreed.insert(opening.page.id) }

  /// The opening whose host is to be asked next; `nil` if all have agreed.
  var next: PageOpening? { orderedOpenings.first { !agreed.contains($0.page.id) } }

  /// Tells an opening how its page will lie on the stack.
  func place(_ opening: PageOpening) {
    guard let index = parts.firstIndex(of: opening.call), index < planned.opened.count else {
      return
    }
    opening.style = planned.opened[index].style
    opening.upperPage =
      index + 1 < parts.count ? openings[parts[index + 1]]?.page.id : planned.coveringPage
  }
}

/// The edits of a session that open pages, by their calls.
struct StackEdits {
  private var edits: [CallNumber: StackEdit] = [:]

  var isEmpty: Bool { edits.isEmpty }

  subscript(call: CallNumber) -> StackEdit? { edits[call] }

  mutating func begin(_ edit: StackEdit) { edits[edit.call] = edit }

  /// Removes and returns an edit that has ended.
  mutating func remove(_ call: CallNumber) -> StackEdit? { edits.removeValue(forKey: call) }

  /// Whether a page belongs to an edit.
  func contains(_ page: String) -> Bool { edits.values.contains { $0.contains(page) } }

  /// Returns the edits of which a host, given by its name, has agreed to show a page and shows only
  /// `shown`.
  func losing(host: String, showing shown: [String] = []) -> [StackEdit] {
    edits.values.filter { edit in
      edit.agreedOpenings.contains { $0.page.host == host && !shown.contains($0.page.id) }
    }.sorted { $0.call < $1.call }
  }
}

extension CallError {
  /// The error of a call that resolves a page of an edit that has ended.
  static var editEnded: CallError { CallError(.cancelled, "The edit of the stack has ended") }
}
