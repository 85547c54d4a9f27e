import WayNavigation
import WayRPC
import WayRouting
import WayTransport
import WayValues

/// The opening of one page, from the queue until its host has agreed or it has come to nothing.
/// Belongs to the isolation of its session.
final class PageOpening {
  /// What was asked to show the page.
  enum Asked {
    case client(RequestID, Client)
    case swift(Task<Void, Never>)
  }

  /// Where the opening is.
  enum Phase: Equatable {
    case queued
    case asking
    /// The opener does not want the page any more while the host is still being asked.
    case abandoned
    case ended
  }

  /// What to do about the host's answer.
  enum Verdict: Equatable {
    /// Put the page on the stack.
    case commit
    /// Answer the opener with the host's error; nothing has changed.
    case fail
    /// The host shows a page that nobody wants: tell it to close the page.
    case closeAtHost
    case nothing
  }

  let page: Page
  let presenter: HostReference
  let call: CallNumber
  /// Those of who opens it.
  private let rights: Rights
  /// The call as a handler in Swift is given it; nil for a page that a client shows.
  let handed: Call?
  /// The host that a client shows the page with; nil for a page of Swift code.
  let chosen: ChosenHost?
  /// The page that the opener stands on, as `page.open` tells the host.
  let opener: String?
  /// The tab that the page is to be the first of.
  let tab: Int?
  /// The call is answered with what the opening does to the stack, not with the page's outcome.
  let answersChange: Bool
  let charge: ByteBudget.Charge

  /// What the page's style comes to on the stack as it is when its turn comes: a push on an empty
  /// stack, for one.
  var style: Style
  /// Who was asked, while an answer is awaited.
  var asked: Asked?
  /// Rings when the host has not answered in time.
  var timeout: (any ScheduledWork)?
  /// When its host was asked, in the loop's nanoseconds.
  var began: UInt64 = 0
  private(set) var phase = Phase.queued

  init(
    page: Page, presenter: HostReference, call: CallNumber, by rights: Rights,
    charge: ByteBudget.Charge,
    handed: Call? = nil, chosen: ChosenHost? = nil, opener: String? = nil, tab: Int? = nil,
    answersChange: Bool = false
  ) {
    self.page = page
    self.presenter = presenter
    self.call = call
    self.rights = rights
    self.charge = charge
    self.handed = handed
    self.chosen = chosen
    self.opener = opener
    self.tab = tab
    self.answersChange = answersChange
    style = page.style
  }

  /// Who opens it.
  var caller: Caller { rights.caller }

  /// Who is waited for: a client's name, or that of the route where Swift code shows it.
  var host: String {
    switch presenter {
    case .client: page.host
    case .swift: page.route ?? page.uri
    }
  }

  /// What the opening does to the stack.
  var operation: StackOperation {
    if let tab { .select(tab: tab, first: page) } else { .open(page) }
  }

  /// What `page.open` tells a host.
  var params: Value {
    Self.params(page, style, caller: rights.told, chosen: chosen, opener: opener)
  }

  /// What a host is told of a page that it is to show.
  static func params(
    _ page: Page, _ style: Style, caller: Value, chosen: ChosenHost?, opener: String?
  ) -> Value {
    var params: ValueObject = ["page": value(of: page, style, opener)]
    params["host"] = chosen?.value
    params["caller"] = caller
    return .object(params)
  }

  private static func value(of page: Page, _ style: Style, _ opener: String?) -> Value {
    var members: ValueObject = [
      "id": .string(page.id), "uri": .string(page.uri),
      "route": page.route.map(Value.string) ?? .null, "params": .object(page.params),
      "exts": .object(page.exts), "style": .string(style.rawValue),
    ]
    if let opener { members["opener"] = .string(opener) }
    return .object(members)
  }

  /// Its turn has come; false when it was abandoned in the queue.
  func start() -> Bool {
    guard phase == .queued else { return false }
    phase = .asking
    return true
  }

  /// The opener cancelled, or its deadline has passed; true when the host has been asked and must
  /// be told.
  func abandon() -> Bool {
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
  func answered(agreed: Bool) -> Verdict {
    defer { phase = .ended }
    switch phase {
    case .asking: return agreed ? .commit : .fail
    case .abandoned: return agreed ? .closeAtHost : .nothing
    case .queued, .ended: return .nothing
    }
  }
}
