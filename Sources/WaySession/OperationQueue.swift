import DequeModule
import WayRPC
import WayRouting

/// The stack operations of a session, done one after another: while a host is asked, the others wait.
///
/// What waits is bounded by the calls in flight: a call that ends takes its operation out.
struct OperationQueue {
  enum Operation {
    case open(QueuedOpening)
    /// A change that needs nobody's leave; the completion gets what it did. `call` is who asked, where somebody did.
    case change(StackOperation, call: CallNumber?, (Result<StackChange, RPCError>) -> Void)
    /// The call's page closes, unless another call awaits it by then.
    case cancel(page: String, call: CallNumber)

    fileprivate var call: CallNumber? {
      switch self {
      case .open(let opening): opening.call
      case .change(_, let call, _): call
      case .cancel(_, let call): call
      }
    }
  }

  private var waiting: Deque<Operation> = []
  private(set) var current: QueuedOpening?
  /// Set while operations are carried out, and while a member is taken out: nothing is begun in between.
  var isHeld = false

  mutating func add(_ operation: Operation) {
    waiting.append(operation)
  }

  /// The next operation; nil while a host is asked, or when there is none.
  mutating func next() -> Operation? {
    guard current == nil else { return nil }
    return waiting.popFirst()
  }

  /// A host is being asked for this opening.
  mutating func began(_ opening: QueuedOpening) {
    current = opening
  }

  /// The opening no longer holds up the others.
  mutating func ended(_ opening: QueuedOpening) {
    if current === opening { current = nil }
  }

  /// Takes out what waits for a call that has ended.
  mutating func remove(_ call: CallNumber) {
    waiting.removeAll { $0.call == call }
  }
}
