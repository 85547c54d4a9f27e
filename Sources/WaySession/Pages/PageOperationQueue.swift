import DequeModule
import WayNavigation
import WayRouting
import WayTransport

/// An operation on the stack of a session.
indirect enum PageOperation {
  case open(PageOpening)
  /// An edit whose pages are resolved.
  case edit(StackEdit)
  /// A change that needs no response of a host.
  case change(StackRequest)
  /// Puts a page on the stack that is already shown.
  case adopt(Page, HostReference, call: CallNumber, by: Caller, ByteBudget.Charge)
  /// Closes the page of a call, unless another call awaits it by then.
  case cancel(page: String, call: CallNumber)

  var call: CallNumber {
    switch self {
    case .open(let opening): opening.call
    case .edit(let edit): edit.call
    case .change(let request): request.call
    case .adopt(_, _, let call, _, _), .cancel(_, let call): call
    }
  }

  /// The request as one that may close pages; `nil` if guards are not asked.
  var closingRequest: StackRequest? {
    switch self {
    case .open(let opening): opening.closingRequest
    case .edit(let edit): edit.closingRequest
    case .change(let request): request
    case .adopt, .cancel: nil
    }
  }

  /// The pages that the guards allow to close; `nil` before they were asked.
  var approvedPages: Set<String>? {
    get {
      switch self {
      case .open(let opening): opening.approvedPages
      case .edit(let edit): edit.approvedPages
      case .change(let request): request.approvedPages
      case .adopt, .cancel: nil
      }
    }
    nonmutating set {
      switch self {
      case .open(let opening): opening.approvedPages = newValue
      case .edit(let edit): edit.approvedPages = newValue
      case .change(let request): request.approvedPages = newValue
      case .adopt, .cancel: break
      }
    }
  }
}

/// The operations on a stack that wait for their turn, or for the guards of the pages that they would
/// close.
struct PageOperationQueue {
  private var queue: Deque<PageOperation> = []
  /// The operations that wait for guards, by their calls.
  private var leaving: [CallNumber: PageOperation] = [:]

  /// Whether the operation of a call waits.
  func contains(_ call: CallNumber) -> Bool {
    leaving[call] != nil || queue.contains { $0.call == call }
  }

  mutating func append(_ operation: PageOperation) { queue.append(operation) }

  /// Inserts an operation that is to be the next one.
  mutating func prepend(_ operation: PageOperation) { queue.prepend(operation) }

  /// Removes and returns the next operation.
  mutating func popFirst() -> PageOperation? { queue.popFirst() }

  /// Removes the operation of a call.
  mutating func remove(_ call: CallNumber) {
    queue.removeAll { $0.call == call }
    leaving[call] = nil
  }

  /// Removes the operations of openings and edits that wait for a host, given by its name, and returns
  /// them.
  mutating func removeOpenings(at host: String) -> [PageOperation] {
    removeAll { operation in
      switch operation {
      case .open(let opening): opening.hostName == host
      case .edit(let edit): edit.orderedOpenings.contains { $0.hostName == host }
      case .change, .adopt, .cancel: false
      }
    }
  }

  /// Removes the operations for which `isRemoved` returns true from those that wait for their turn, and
  /// returns them.
  private mutating func removeAll(where isRemoved: (PageOperation) -> Bool) -> [PageOperation] {
    let removed = queue.filter(isRemoved)
    if !removed.isEmpty { queue.removeAll(where: isRemoved) }
    return Array(removed)
  }

  /// Lets an operation wait for guards.
  mutating func hold(_ operation: PageOperation) { leaving[operation.call] = operation }

  /// Lets an operation that has waited for guards wait for its turn, at a position of the queue. They
  /// allow to close `pages`. Returns false if there is no such operation.
  mutating func release(
    _ call: CallNumber, approving pages: Set<String>, to position: Int
  ) -> Bool {
    guard let operation = leaving.removeValue(forKey: call) else { return false }
    operation.approvedPages = pages
    queue.insert(operation, at: position)
    return true
  }
}
