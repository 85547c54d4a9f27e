import WayRPC
import WayRouting

/// Who shows a page.
enum Presenter {
  /// A client that hosts it.
  case client(ClientID)
  /// Swift code of the app itself.
  case swift(PageHandler)
}

/// A page that is on the stack.
struct OpenPage {
  let page: Page
  let presenter: Presenter
  /// The calls that are answered with the page's outcome.
  var openers: [CallNumber]
  /// When it came onto the stack, by the loop's clock.
  let since: UInt64
  let charge: ByteBudget.Charge
}

/// The opening of one page, from the queue until its host has agreed or the opening has failed. Pure: it decides, the session acts.
struct PageOpening {
  enum Phase: Equatable {
    case queued
    case asking
    /// The opener no longer wants the page while the host is still being asked.
    case abandoned
    case ended
  }

  /// What to do about the host's answer.
  enum Action: Equatable {
    /// Put the page on the stack.
    case commit
    /// Answer the opener with the host's error; nothing has changed.
    case fail
    /// The host shows a page that nobody wants: tell it to close the page.
    case closeAtHost
    case nothing
  }

  private(set) var phase = Phase.queued

  /// Its turn has come; false when it was abandoned in the queue.
  mutating func start() -> Bool {
    guard phase == .queued else { return false }
    phase = .asking
    return true
  }

  /// The opener cancelled, or its deadline has passed; true when the host has been asked and must be told.
  mutating func abandon() -> Bool {
    switch phase {
    case .queued:
      phase = .ended
      return false
    case .asking:
      phase = .abandoned
      return true
    case .abandoned, .ended: return false
    }
  }

  /// The host has answered, or is gone or silent, which counts as a refusal.
  mutating func answered(agreed: Bool) -> Action {
    defer { phase = .ended }
    switch phase {
    case .asking: return agreed ? .commit : .fail
    case .abandoned: return agreed ? .closeAtHost : .nothing
    case .queued, .ended: return .nothing
    }
  }
}
