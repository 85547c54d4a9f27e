import DequeModule
import WayRPC
import WayRouting
import WayTransport

/// A page opening with all that the session needs to carry it out.
final class QueuedOpening {
  let page: Page
  let presenter: Presenter
  let call: CallNumber
  /// The page that the opener stands on, as `page.open` tells the host.
  let opener: String?
  /// What the page's style comes to on the stack as it is when its turn comes: a push on an empty stack, for one.
  var style: Style
  var state = PageOpening()
  /// Tells the host, while it is asked, that its answer is no longer wanted.
  var cancelAtHost: (() -> Void)?
  /// Runs while the host is asked.
  var timeout: (any ScheduledWork)?

  init(page: Page, presenter: Presenter, call: CallNumber, opener: String?) {
    self.page = page
    style = page.style
    self.presenter = presenter
    self.call = call
    self.opener = opener
  }
}

/// The stack operations of a session, done one after another: while a host is asked, the others wait.
///
/// What waits is bounded by the calls in flight: a call that ends takes its operation out.
struct OperationQueue {
  enum Operation {
    case open(QueuedOpening)
    /// A change that needs nobody's leave; the completion gets what it did. `call` is who asked, where somebody did.
    case change(StackOperation, call: CallNumber?, (Result<StackChange, RPCError>) -> Void)

    fileprivate var call: CallNumber? {
      switch self {
      case .open(let opening): opening.call
      case .change(_, let call, _): call
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
