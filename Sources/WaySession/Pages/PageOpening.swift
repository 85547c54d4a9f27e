import WayNavigation
import WayRPC
import WayRouting
import WayTransport
import WayValues

/// The opening of one page, from the queue until its host has agreed or the opening has failed.
/// Belongs to the isolation of its session.
final class PageOpening {
  /// The request to show the page.
  enum PageOpenRequest {
    case client(RequestID, Client)
    case app(Task<Void, Never>)
  }

  /// The phase of an opening.
  enum OpeningPhase: Equatable {
    case queued
    case requesting
    /// The opener does not want the page any more, but the host is still being asked.
    case abandoned
    case ended
  }

  /// The consequence of the host's response.
  enum OpeningDecision: Equatable {
    /// Put the page on the stack.
    case commit
    /// Complete the opener's call with the host's error. Nothing has changed.
    case fail
    /// Ask the host to close the page, which it shows although the opener does not want it any
    /// more.
    case closeAtHost
    case ignore
  }

  let page: Page
  let hostReference: HostReference
  let call: CallNumber
  /// The rights of the opener.
  private let rights: Rights
  /// The call that a Swift handler gets; `nil` for a page that a client shows.
  let handlerCall: Call?
  /// The host of a page that a client shows; `nil` for a page of Swift code.
  let chosenHost: ChosenHost?
  /// The page of the opener, which `page.open` sends to the host.
  let opener: String?
  /// The tab whose first page is to be opened.
  let tab: Int?
  /// The tab of the table whose first page a `popTo` opens.
  let ownTab: Int?
  /// The call of the edit of the stack that the page belongs to.
  let edit: CallNumber?
  /// Whether the call's result is the change of the stack, instead of the page's outcome.
  let respondsWithChange: Bool
  /// The data of the call for a page that is already open.
  let delivery: NavigationDelivery?
  /// The page that `exts.pop` names.
  let popTarget: PageReference?
  /// Returns why the opener may not close a page of others, or close it without asking its guards.
  let closing: (Page, _ byForce: Bool) -> CallError?
  let charge: ByteBudget.Charge

  /// The effective style of the page on the stack at the time of its turn. It can differ, for
  /// example, for a push on an empty stack.
  var style: Style
  /// The id of the page that will lie directly over it; `nil` if it comes on top.
  var upperPage: String?
  /// The pages that the guards allow to close; `nil` before they were asked.
  var approvedPages: Set<String>?
  /// The request to the host, while its response is awaited.
  var request: PageOpenRequest?
  /// Fires if the host has not responded in time.
  var timeoutTimer: (any ScheduledWork)?
  /// When the host was asked, in nanoseconds of the loop's clock.
  var requestedAt: UInt64 = 0
  private(set) var phase = OpeningPhase.queued

  init(
    page: Page, hostReference: HostReference, call: CallNumber, by rights: Rights,
    charge: ByteBudget.Charge,
    handlerCall: Call? = nil, chosenHost: ChosenHost? = nil, opener: String? = nil, tab: Int? = nil,
    ownTab: Int? = nil, edit: CallNumber? = nil, respondsWithChange: Bool = false,
    delivering delivery: NavigationDelivery? = nil,
    popTo target: PageReference? = nil,
    closing: @escaping (Page, _ byForce: Bool) -> CallError? = { _, _ in nil }
  ) {
    self.page = page
    self.hostReference = hostReference
    self.call = call
    self.rights = rights
    self.charge = charge
    self.handlerCall = handlerCall
    self.chosenHost = chosenHost
    self.opener = opener
    self.tab = tab
    self.ownTab = ownTab
    self.edit = edit
    self.respondsWithChange = respondsWithChange
    self.delivery = delivery
    popTarget = target
    self.closing = closing
    style = page.style
  }

  /// The opener.
  var caller: Caller { rights.caller }

  /// The host to wait for: a client's name, or the name of the route if Swift code shows the page.
  var hostName: String {
    switch hostReference {
    case .client: page.host
    case .app: page.route ?? page.uri
    }
  }

  /// Whether the opening may use a page that is already open.
  var mayFindPage: Bool { page.style == .popTo || tab != nil }

  /// The stack operation of the opening.
  var operation: StackOperation {
    if let tab {
      .select(tab: tab, first: page, delivering: delivery)
    } else {
      .open(page, delivering: delivery, popTo: popTarget, tab: ownTab)
    }
  }

  /// The opening as a request that may close pages.
  var closingRequest: StackRequest {
    StackRequest(
      operation: operation, call: call, caller: caller, exts: page.exts, closing: closing)
  }

  /// The params of `page.open`.
  var params: Value {
    Self.params(
      page, style, caller: rights.callerValue, chosenHost: chosenHost, opener: opener,
      under: upperPage)
  }

  /// Returns the params of `page.open` for a page.
  static func params(
    _ page: Page, _ style: Style, caller: Value, chosenHost: ChosenHost?, opener: String?,
    under upperPage: String? = nil
  ) -> Value {
    let page = value(of: page, style, opener, under: upperPage)
    guard let host = chosenHost?.value else { return ["page": page, "caller": caller] }
    return ["page": page, "host": host, "caller": caller]
  }

  private static func value(
    of page: Page, _ style: Style, _ opener: String?, under upperPage: String?
  ) -> Value {
    // The names differ, so that no member has to be searched for.
    var members: [ValueObject.ObjectMember] = [
      .init(name: "id", value: .string(page.id)), .init(name: "uri", value: .string(page.uri)),
      .init(name: "route", value: page.route.map(Value.string) ?? .null),
      .init(name: "params", value: .object(page.params)),
      .init(name: "exts", value: .object(page.exts)),
      .init(name: "style", value: .string(style.rawValue)),
    ]
    if let opener { members.append(.init(name: "opener", value: .string(opener))) }
    if let upperPage { members.append(.init(name: "under", value: .string(upperPage))) }
    return .object(ValueObject(distinct: members))
  }

  /// Starts the opening in its turn. Returns false if it was abandoned in the queue.
  func start() -> Bool {
    guard phase == .queued else { return false }
    phase = .requesting
    return true
  }

  /// Abandons the opening, because its opener has cancelled or its deadline has passed. Returns
  /// true if the host was asked and must be notified.
  func abandon() -> Bool {
    switch phase {
    case .queued:
      phase = .ended
      return false
    case .requesting:
      phase = .abandoned
      return true
    case .abandoned, .ended: return false
    }
  }

  /// Completes the opening. `agreed` is false if the host has declined, is gone or has not
  /// responded in time.
  func complete(agreed: Bool) -> OpeningDecision {
    defer { phase = .ended }
    switch phase {
    case .requesting: return agreed ? .commit : .fail
    case .abandoned: return agreed ? .closeAtHost : .ignore
    case .queued, .ended: return .ignore
    }
  }
}
