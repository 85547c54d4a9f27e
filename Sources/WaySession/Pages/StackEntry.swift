import WayNavigation
import WayRouting
import WayTransport
import WayValues

/// A page on the stack. Belongs to the isolation of its session.
final class StackEntry {
  var page: Page
  let hostReference: HostReference
  /// The caller that opened the page.
  let caller: Caller
  /// The host of a page that a client shows. `opener` is the page that it was opened from.
  let chosenHost: ChosenHost?
  let opener: String?
  /// The calls that get the page's outcome.
  var openers: [CallNumber]
  /// When the page was put on the stack, in nanoseconds of the loop's clock.
  let openedAt: UInt64
  /// The memory charge of the page, as long as it is open.
  var charge: ByteBudget.Charge
  /// The result of the page if it closes without another one, and its memory charge.
  private(set) var earlyResult: PageResult?
  private var resultCharge: ByteBudget.Charge?

  init(
    _ page: Page, _ hostReference: HostReference, by caller: Caller, chosenHost: ChosenHost?,
    opener: String?, openers: [CallNumber], openedAt: UInt64, _ charge: ByteBudget.Charge
  ) {
    self.page = page
    self.hostReference = hostReference
    self.caller = caller
    self.chosenHost = chosenHost
    self.opener = opener
    self.openers = openers
    self.openedAt = openedAt
    self.charge = charge
  }

  /// The params of `page.open` for this page.
  var params: Value {
    PageOpening.params(
      page, page.style, caller: caller.value, chosenHost: chosenHost, opener: opener)
  }

  /// Sets the result of the page if it closes without another one; `nil` removes it.
  func setResult(_ result: PageResult?, _ charge: ByteBudget.Charge?) {
    earlyResult = result
    resultCharge = charge
  }

  /// Returns the outcome of the page whose closing would have the outcome `closing`. A page that
  /// is closed by navigation returns the result that it has set.
  func outcome(closing: Outcome) -> Outcome {
    switch closing.kind {
    case .dismissed, .replaced: earlyResult?.outcome ?? closing
    case .finished, .failed, .cancelled: closing
    }
  }
}

/// A page that has left the stack.
struct ClosedEntry {
  let page: Page
  let outcome: Outcome
  let entry: StackEntry

  /// Returns the action that notifies the host; `exts` are those of the operation.
  func action(_ exts: ValueObject) -> SessionPageAction {
    .close(page, entry.hostReference, reason: outcome.kind, exts: exts)
  }

  /// Returns the event about the page, which was on the stack for `time`.
  func event(after time: Duration) -> SessionEvent { .pageClosed(page, outcome, after: time) }
}

extension ByteBudget {
  /// Charges the memory of a page. Fails as ``Pages/charge(_:)``.
  func charge(_ page: Page) throws(CallError) -> Charge {
    let bytes =
      page.uri.utf8.count + (page.otherCalledURI?.utf8.count ?? 0)
      + Value.object(page.params).size + Value.object(page.exts).size
    do { return try charge(bytes) } catch { throw CallError(error, for: bytes) }
  }
}
