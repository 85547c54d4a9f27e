import WayNavigation
import WayValues

/// The operations that a handler can perform in the session of its call.
///
/// A call can attach values of any `Sendable` type, such as a model object or a closure, under
/// names. Only Swift code of this process can read them, with ``Call/attachment(_:as:)``.
/// Interceptors see them too, and redirects keep them. If the target is a client or the stack, the
/// call fails with the error 2405, `data.kind` `notOverTheWire`, before a request is sent.
public protocol Navigator: Sendable {
  /// The id of the session.
  var session: String { get }
  /// Opens a page on any host, and returns when it has closed; for a task, when it has run.
  ///
  /// Throws ``CallError`` with the protocol's code if the page cannot be shown or the task fails.
  /// If the Swift task is cancelled, a page that is shown closes. `timeout`, from 1 ms to a day,
  /// limits the time until the page is shown or the task has run; after it the error is 2408.
  func open(
    _ uri: String, params: ValueObject, exts: ValueObject, style: Style?, timeout: Duration?,
    attachments: [String: any Sendable]
  ) async throws -> Outcome
  /// Runs a task or service and returns its value. Throws ``CallError`` with its own code or the
  /// protocol's, and 2408 after `timeout`, from 1 ms to a day.
  func invoke(
    _ uri: String, params: ValueObject, exts: ValueObject, timeout: Duration?,
    attachments: [String: any Sendable]
  ) async throws -> Value
  /// Runs a task or service of Swift code of this process, which returns its result with
  /// ``Call/attachResult(_:)``. Throws the errors of the other method, and -32603 for any other
  /// result.
  func invoke<Returned: Sendable>(
    _ uri: String, params: ValueObject, exts: ValueObject, timeout: Duration?,
    attachments: [String: any Sendable], returning: Returned.Type
  ) async throws -> Returned
  /// Whether ``open(_:params:exts:style:timeout:attachments:)`` would find a route and a handler or
  /// host for it. Runs no handler.
  func canOpen(_ uri: String) async -> Bool
  /// Calls a method of an open page of the session: of the client that runs in it, else of its
  /// host. Throws ``CallError`` with the code of the response or the protocol's.
  func call(page: String, _ method: String, params: ValueObject) async throws -> Value
  /// Goes back, through modal stacks; the root stays. A page is named by its id, a URI or the name
  /// of its route. The opener of the lowest page that closes receives the result. The hosts of the
  /// pages that close receive the `exts`, for example `animated`.
  ///
  /// Like all changes of the stack it waits until pages that are being opened are shown. Throws
  /// ``CallError``: -32602 for a negative count, 2404 for a page that is not on the stack, 2409 for
  /// a result if no page closes.
  @discardableResult
  func back(
    _ target: BackTarget<String>, result: PageResult?, exts: ValueObject
  ) async throws -> NavigationChange
  /// Closes the page with this id and sends the result to its opener; pages above it are dismissed.
  /// `nil` means the page for which the code runs: the one that a ``PageHandler`` shows, or in
  /// which the caller of a task runs. The hosts of the pages that close receive the `exts`.
  ///
  /// Throws ``CallError``: 2404 if the page is not on the stack, since a page ends once; -32602
  /// without any page.
  @discardableResult
  func finish(
    _ result: PageResult?, page: String?, exts: ValueObject
  ) async throws -> NavigationChange
  /// Removes a range of pages, and opens others in its place, lowest first; without a range, on top.
  /// The stack changes at once when the hosts of all new pages have agreed. Each page that closes has
  /// one outcome: `replaced`, or `dismissed` if no page is opened. No caller waits for the outcomes of
  /// the new pages. The hosts of the pages that close receive the `exts`.
  ///
  /// Throws ``CallError``: 2404 for a page that is not on the stack, 2409 if no page would stay, 2423
  /// if a page refuses to close, 2405 for a URI that is no page, 2429 for more than 32 pages, and the
  /// errors of ``open(_:params:exts:style:timeout:attachments:)``. The stack is unchanged then.
  @discardableResult
  func edit(
    _ remove: PageRange<String>?, opening pages: [AddedPage], exts: ValueObject
  ) async throws -> NavigationChange
  /// Shows a tab by its index, from 0 in the order of the route table. Throws ``CallError``: 2404
  /// if there is no such tab. If the tab's first page has to be opened, throws the errors of
  /// ``open(_:params:exts:style:timeout:attachments:)``.
  @discardableResult
  func selectTab(_ index: Int) async throws -> NavigationChange
  /// Shows the tab with this URI of its first page. Throws the errors of ``selectTab(_:)-(Int)``.
  @discardableResult
  func selectTab(_ uri: String) async throws -> NavigationChange
  /// Opens or closes a ``Gate`` in the session, for instance after the user has signed in or out by
  /// other means than its page. The calls that wait at the gate continue when it opens. Throws
  /// ``CallError``: 2404 if there is no such gate.
  func setGate(_ name: String, isOpen: Bool) async throws
  /// Returns the current pages of the session.
  func stack() async -> NavigationStack
  /// Returns the page on the stack with this id, URI or name of a route; `nil` if there is none.
  func contains(_ page: String) async -> Page?
}

extension Navigator {
  /// Opens a page as the method with all arguments does. Omitted values are empty, the style is
  /// that of the route or `push`, and there is no timeout. Throws the same errors.
  public func open(
    _ uri: String, _ params: ValueObject = [:], exts: ValueObject = [:], style: Style? = nil,
    timeout: Duration? = nil, attachments: [String: any Sendable] = [:]
  ) async throws -> Outcome {
    try await open(
      uri, params: params, exts: exts, style: style, timeout: timeout, attachments: attachments)
  }

  /// Runs a task or service as the method with all arguments does. Omitted values are empty, and
  /// there is no timeout. Throws the same errors.
  public func invoke(
    _ uri: String, _ params: ValueObject = [:], exts: ValueObject = [:], timeout: Duration? = nil,
    attachments: [String: any Sendable] = [:]
  ) async throws -> Value {
    try await invoke(uri, params: params, exts: exts, timeout: timeout, attachments: attachments)
  }

  /// Runs a task or service as the method with all arguments does. Omitted values are empty, and
  /// there is no timeout. Throws the same errors.
  public func invoke<Returned: Sendable>(
    _ uri: String, _ params: ValueObject = [:], exts: ValueObject = [:], timeout: Duration? = nil,
    attachments: [String: any Sendable] = [:], returning type: Returned.Type
  ) async throws -> Returned {
    try await invoke(
      uri, params: params, exts: exts, timeout: timeout, attachments: attachments, returning: type)
  }

  /// Goes back as the method with all arguments does, with empty `exts`. Throws the same errors.
  @discardableResult
  public func back(
    _ target: BackTarget<String>, result: PageResult? = nil
  ) async throws -> NavigationChange {
    try await back(target, result: result, exts: [:])
  }

  /// Goes back by a number of pages, as the method with all arguments does. Throws the same errors.
  @discardableResult
  public func back(
    _ count: Int = 1, result: PageResult? = nil, exts: ValueObject = [:]
  ) async throws -> NavigationChange {
    try await back(.count(count), result: result, exts: exts)
  }

  /// Closes a page as the method with all arguments does, with empty `exts`. Without an id it
  /// closes the page for which the code runs. Throws the same errors.
  @discardableResult
  public func finish(
    _ result: PageResult? = nil, page: String? = nil
  ) async throws -> NavigationChange {
    try await finish(result, page: page, exts: [:])
  }

  /// Edits the stack as the method with all arguments does, with empty `exts`. Throws the same errors.
  @discardableResult
  public func edit(
    removing remove: PageRange<String>? = nil, opening pages: [AddedPage] = []
  ) async throws -> NavigationChange {
    try await edit(remove, opening: pages, exts: [:])
  }

  /// Returns a builder for a call.
  public func build(_ uri: String) -> CallBuilder<any Navigator> {
    CallBuilder(self, uri)
  }
}

extension CallBuilder where Caller == any Navigator {
  /// Attaches a Swift value for Swift code of this process; the last value of a name counts.
  public func attaching(_ name: String, _ value: some Sendable) -> Self {
    changed { $0.attachments[name] = value }
  }

  /// Opens the URI, as ``Navigator/open(_:_:exts:style:timeout:attachments:)`` with the same
  /// arguments, and throws its errors.
  public func open() async throws -> Outcome {
    try await caller.open(
      uri, params, exts: exts, style: style, timeout: timeout, attachments: attachments)
  }

  /// Runs the URI, as ``Navigator/invoke(_:_:exts:timeout:attachments:)`` with the same arguments,
  /// and throws its errors.
  public func invoke() async throws -> Value {
    try await caller.invoke(uri, params, exts: exts, timeout: timeout, attachments: attachments)
  }

  /// Runs the URI, as ``Navigator/invoke(_:_:exts:timeout:attachments:returning:)`` with the same
  /// arguments, and throws its errors.
  public func invoke<Returned: Sendable>(returning type: Returned.Type) async throws -> Returned {
    try await caller.invoke(
      uri, params, exts: exts, timeout: timeout, attachments: attachments, returning: type)
  }
}

// Calls with typed results, as `waybridge routes generate` creates them from a route table.
extension Navigator {
  /// Opens a page, as ``open(_:params:exts:style:timeout:attachments:)`` with the same arguments,
  /// and decodes its result.
  ///
  /// Throws the errors of that method. Throws ``CallError`` -32602 for parameters that the URI
  /// cannot hold, and -32603, of the kind `malformed`, with the path of the fault in a result.
  public func open<Result>(
    _ call: PageCall<Result>, exts: ValueObject = [:], style: Style? = nil,
    timeout: Duration? = nil, attachments: [String: any Sendable] = [:]
  ) async throws -> PageOutcome<Result> {
    try call.check()
    return try call.decode(
      try await open(
        call.uri, params: call.params, exts: exts, style: style, timeout: timeout,
        attachments: attachments))
  }

  /// Runs a task or service, as ``invoke(_:params:exts:timeout:attachments:)`` with the same
  /// arguments, and decodes its value. Throws the errors of that method and of
  /// ``open(_:exts:style:timeout:attachments:)``.
  public func invoke<Result>(
    _ call: ValueCall<Result>, exts: ValueObject = [:], timeout: Duration? = nil,
    attachments: [String: any Sendable] = [:]
  ) async throws -> Result {
    try call.check()
    return try call.decode(
      try await invoke(
        call.uri, params: call.params, exts: exts, timeout: timeout, attachments: attachments))
  }

  /// Calls a method of an open page, as ``call(page:_:params:)``, and decodes its result. Throws
  /// the errors of that method and of ``open(_:exts:style:timeout:attachments:)``.
  public func call<Result>(page: String, _ call: PageMethodCall<Result>) async throws -> Result {
    try call.check()
    return try call.decode(try await self.call(page: page, call.method, params: call.params))
  }
}
