import WayTransport
import Waybridge
import WaybridgeClient

/// A client that shows pages and runs tasks under a test's control, and reports the requests that
/// it receives.
///
/// ```swift
/// let router = Router()
/// try router.page("native://address/list")
/// let app = try await TestBridge(router)
/// let shell = try await app.registerHost("native")
///
/// async let outcome = app.open("native://address/list")
/// let page = try await shell.nextPage()
/// try await shell.finish(page, ["city": "Ulm"])
/// print(try await outcome.data)
/// ```
///
/// ``nextPage()``, ``nextRequestedPage()``, ``nextClosedPage()`` and ``nextResumedPage()`` each
/// return each page once, in order. They wait for up to ten seconds of real time, or the timeout of
/// ``TestBridge``. Then they throw `CallError` 2408, which describes what they waited for. Usable
/// from any thread.
public final class TestHost: Sendable {
  /// How a host responds to page requests.
  public enum Behavior: Sendable {
    /// Shows each page at once.
    case shows
    /// Rejects each page with an error: its opener gets 2502 with the error's text, and the error
    /// itself in `data.host`.
    case rejects(CallError)
    /// Does not respond. Waiting pages are shown or rejected when ``TestHost/behavior`` is set to
    /// that.
    case doesNotRespond
  }

  /// A page that was closed.
  public struct ClosedPage: Sendable, Hashable {
    /// The page, as it was requested from the host.
    public let page: BridgeClient.HostedPage
    /// The kind of the outcome that its opener got; `Outcome.OutcomeKind.failed` if the connection
    /// has ended.
    public let reason: Outcome.OutcomeKind
    /// The extensions of the call that closed the page, for example `animated`.
    public let exts: ValueObject
  }

  /// The client of this host.
  public let client: BridgeClient
  private let recorder = HostRecorder()
  private let timeout: WaitTimeout

  init(
    on client: BridgeClient, pages: (HostRecorder) -> [BridgeClient.Host], tasks: [String],
    timeout: WaitTimeout
  ) async throws(CallError) {
    self.client = client
    self.timeout = timeout
    let opened = try await client.events(["page.opened"])
    Task(executorPreference: client.loop) { [recorder] in
      for try await event in opened {
        if let page = event.data["page"]?.string { recorder.markShown(page) }
      }
    }
    let taskHosts = tasks.map { pattern in
      BridgeClient.Host.task(pattern) { [recorder] in try await recorder.run($0) }
    }
    try await client.register(pages(recorder) + taskHosts)
  }

  /// How the host responds to pages, including waiting ones; initially ``Behavior/shows``.
  public var behavior: Behavior {
    get { recorder.behavior }
    set { recorder.behavior = newValue }
  }

  /// The pages that are shown now, in the order in which they were shown.
  public var pages: [BridgeClient.HostedPage] { recorder.pages }

  /// Returns the next page that is shown: it is on the stack, and its opener was notified. Throws
  /// `CallError` 2408 if none is shown.
  @discardableResult
  public func nextPage() async throws(CallError) -> BridgeClient.HostedPage {
    try await timeout.next(of: recorder.shownPages, "a page to be shown", context: stateDescription)
  }

  /// Returns the next page that was requested from the host, shown or not. Throws `CallError` 2408
  /// if none is requested.
  @discardableResult
  public func nextRequestedPage() async throws(CallError) -> BridgeClient.HostedPage {
    try await timeout.next(
      of: recorder.requestedPages, "a request for a page", context: stateDescription)
  }

  /// Returns the next page that was closed. Throws `CallError` 2408 if none is.
  @discardableResult
  public func nextClosedPage() async throws(CallError) -> ClosedPage {
    try await timeout.next(
      of: recorder.closedPages, "a page to be closed", context: stateDescription)
  }

  /// Returns the next page that is on top again. Throws `CallError` 2408 if there is none.
  @discardableResult
  public func nextResumedPage() async throws(CallError) -> BridgeClient.HostedPage {
    try await timeout.next(
      of: recorder.resumedPages, "a page to be on top again", context: stateDescription)
  }

  /// Returns the next task that the host received, which waits for the test to complete it. Throws
  /// `CallError` 2408 if there is none.
  public func nextTask() async throws(CallError) -> TestTask {
    try await timeout.next(of: recorder.tasks, "a task to be run")
  }

  /// Closes a page as its user does, with a result for its opener.
  ///
  /// Throws `CallError` 2404 if the page is not on the stack, since a page ends once.
  ///
  /// - Parameters:
  ///   - page: a page that is shown.
  ///   - data: the result's data.
  ///   - code: 0, or a code of the page's own.
  ///   - message: a text for the user.
  @discardableResult
  public func finish(
    _ page: BridgeClient.HostedPage, _ data: Value = .null, code: Int = 0, message: String = ""
  ) async throws(CallError) -> NavigationChange {
    let client = client
    return try await timeout.result(of: "the end of \(page.uri)") { () throws(CallError) in
      try await client.finish(PageResult(data, code: code, message: message), page: page.id)
    }
  }

  /// Goes back from the page on top, as its user does without a result. Throws `CallError` if the
  /// connection is lost.
  @discardableResult
  public func back() async throws(CallError) -> NavigationChange {
    let client = client
    return try await timeout.result(of: "going back") { () throws(CallError) in
      try await client.back()
    }
  }

  /// Describes the state of the host, for the error of a wait that timed out.
  private func stateDescription() -> String {
    let uris = pages.map(\.uri)
    return "the host shows \(uris.isEmpty ? "nothing" : uris.joined(separator: ", "))"
      + (behavior.isUnresponsive ? " and does not answer" : "")
  }
}

extension TestHost.Behavior {
  fileprivate var isUnresponsive: Bool {
    if case .doesNotRespond = self { true } else { false }
  }
}
