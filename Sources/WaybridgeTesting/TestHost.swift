import WayTransport
import Waybridge
import WaybridgeClient

/// A client that shows pages and runs tasks as a test tells it, and tells the test what it was
/// asked for.
///
/// ```swift
/// let router = Router()
/// try router.page("native://address/list")
/// let app = try await TestBridge(router)
/// let shell = try await app.host("native")
///
/// async let outcome = app.open("native://address/list")
/// let page = try await shell.page()
/// try await shell.finish(page, ["city": "Ulm"])
/// print(try await outcome.data)
/// ```
///
/// Each page is told once by each of ``page()``, ``asked()``, ``closed()`` and ``resumed()``, in
/// their order. They wait for what has not come yet, for ten seconds of the real time unless
/// ``TestBridge`` was told otherwise, and then throw `CallError` 2408, which says what they waited
/// for. Usable from any thread.
public final class TestHost: Sendable {
  /// What a host does about the pages that it is asked for.
  public enum Behavior: Sendable {
    /// Shows each at once.
    case shows
    /// Refuses each with an error: its opener gets 2502 with the error's text, and the error itself
    /// in `data.host`.
    case refuses(CallError)
    /// Does not answer. Pages that wait like this are shown or refused when ``TestHost/behavior``
    /// is set to that.
    case staysSilent
  }

  /// A page that was taken away.
  public struct ClosedPage: Sendable, Hashable {
    /// The page, as the host was asked for it.
    public let page: BridgeClient.Page
    /// The kind of the outcome that its opener got; `Outcome.Kind.failed` where the connection has
    /// ended.
    public let reason: Outcome.Kind
    /// What whoever closed the page gave along, `animated` for instance.
    public let exts: ValueObject
  }

  /// The client of this host.
  public let client: BridgeClient
  private let record = HostRecord()
  private let patience: Patience

  init(
    on client: BridgeClient, pages: (HostRecord) -> [BridgeClient.Host], tasks: [String],
    patience: Patience
  ) async throws(CallError) {
    self.client = client
    self.patience = patience
    let opened = try await client.events(["page.opened"])
    Task(executorPreference: client.loop) { [record] in
      for try await event in opened {
        if let page = event.data["page"]?.string { record.isOnStack(page) }
      }
    }
    let running = tasks.map { pattern in
      BridgeClient.Host.task(pattern) { [record] in try await record.run($0) }
    }
    try await client.register(pages(record) + running)
  }

  /// What it does about pages, those that wait included; at first ``Behavior/shows``.
  public var behavior: Behavior {
    get { record.behavior }
    set { record.behavior = newValue }
  }

  /// The pages that are shown now, in the order in which they came.
  public var pages: [BridgeClient.Page] { record.pages }

  /// The next page that is shown: it is on the stack, and its opener knows. Throws `CallError` 2408
  /// when none is shown.
  @discardableResult
  public func page() async throws(CallError) -> BridgeClient.Page {
    try await patience.next(of: record.shown, "a page to be shown", instead: instead)
  }

  /// The next page that the host was asked for, shown or not. Throws `CallError` 2408 when it is
  /// asked for none.
  @discardableResult
  public func asked() async throws(CallError) -> BridgeClient.Page {
    try await patience.next(of: record.asked, "a page to be asked for", instead: instead)
  }

  /// The next page that was taken away. Throws `CallError` 2408 when none is.
  @discardableResult
  public func closed() async throws(CallError) -> ClosedPage {
    try await patience.next(of: record.closed, "a page to be closed", instead: instead)
  }

  /// The next page that came on top again. Throws `CallError` 2408 when none does.
  @discardableResult
  public func resumed() async throws(CallError) -> BridgeClient.Page {
    try await patience.next(of: record.resumed, "a page to come on top again", instead: instead)
  }

  /// The next task that the host was asked to run, which waits for its answer. Throws `CallError`
  /// 2408 when it is asked for none.
  public func task() async throws(CallError) -> TestTask {
    try await patience.next(of: record.tasks, "a task to be run")
  }

  /// Ends a page as its user does, with a result for its opener.
  ///
  /// Throws `CallError` 2404 when the page is not on the stack, since a page ends once.
  ///
  /// - Parameters:
  ///   - page: one that is shown.
  ///   - data: what the page gives.
  ///   - code: 0, or a code of the page's own.
  ///   - message: text for people.
  @discardableResult
  public func finish(
    _ page: BridgeClient.Page, _ data: Value = .null, code: Int = 0, message: String = ""
  ) async throws(CallError) -> NavigationChange {
    let client = client
    return try await patience.result(of: "the end of \(page.uri)") { () throws(CallError) in
      try await client.finish(PageResult(data, code: code, message: message), page: page.id)
    }
  }

  /// Goes back from the page on top, as its user does without a result. Throws `CallError` when the
  /// connection is lost.
  @discardableResult
  public func back() async throws(CallError) -> NavigationChange {
    let client = client
    return try await patience.result(of: "going back") { () throws(CallError) in
      try await client.back()
    }
  }

  /// What there is where something else was waited for.
  private func instead() -> String {
    let uris = pages.map(\.uri)
    return "the host shows \(uris.isEmpty ? "nothing" : uris.joined(separator: ", "))"
      + (behavior.isSilent ? " and stays silent" : "")
  }
}

extension TestHost.Behavior {
  fileprivate var isSilent: Bool {
    if case .staysSilent = self { true } else { false }
  }
}
