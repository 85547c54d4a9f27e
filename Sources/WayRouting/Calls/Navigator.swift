import WayNavigation
import WayValues

/// What a handler may do in the session of its call.
///
/// A call may carry values of any `Sendable` type, a model object or a closure, under names: to
/// Swift code of this process, which takes them with ``Call/carried(_:as:)``. Interceptors see them
/// too, and they go with the call wherever it is led. Where that is a client or the stack, it is
/// the error 2405 with `data.kind` `notOverTheWire`, and neither has been asked anything.
public protocol Navigator: Sendable {
  /// The id of the session.
  var session: String { get }
  /// Opens a page, whoever shows it, and returns when it is gone; of a task, when it has run.
  ///
  /// Throws ``CallError`` with the protocol's code when the page is not shown or the task fails.
  /// Cancelling the Swift task closes a page that is shown. Past `deadline`, from 1 ms to a day, it
  /// is 2408 unless the page is shown by then.
  func open(
    _ uri: String, params: ValueObject, exts: ValueObject, style: Style?, deadline: Duration?,
    carrying: [String: any Sendable]
  ) async throws -> Outcome
  /// Runs a task or service and returns its value. Throws ``CallError`` with its own code or the
  /// protocol's; past `deadline`, from 1 ms to a day, with 2408.
  func invoke(
    _ uri: String, params: ValueObject, exts: ValueObject, deadline: Duration?,
    carrying: [String: any Sendable]
  ) async throws -> Value
  /// Runs a task or service of Swift code of this process, which replies with
  /// ``Call/carryBack(_:)``. Throws as the other, and -32603 when it replies with anything else.
  func invoke<Back: Sendable>(
    _ uri: String, params: ValueObject, exts: ValueObject, deadline: Duration?,
    carrying: [String: any Sendable], carryingBack: Back.Type
  ) async throws -> Back
  /// Whether ``open(_:params:exts:style:deadline:carrying:)`` would find a route and somebody to
  /// serve it. Runs no handler.
  func canOpen(_ uri: String) async -> Bool
  /// Calls a method of an open page of the session: of the client that runs in it, else of its
  /// host. Throws ``CallError`` with the code that it answers or the protocol's.
  func call(page: String, _ method: String, params: ValueObject) async throws -> Value
  /// Goes back, through modal stacks; the root stays. A page is named by its id, a URI or the name
  /// of its route. The result is for the opener of the lowest page that closes; the `exts`,
  /// `animated` for instance, are told to the hosts of the pages that close.
  ///
  /// Like all that changes the stack it waits for its turn, behind pages that are being opened.
  /// Throws ``CallError``: -32602 for a negative count, 2404 for a page that is not on the stack,
  /// 2409 for a result when no page closes.
  @discardableResult
  func back(
    _ target: BackTarget<String>, result: PageResult?, exts: ValueObject
  ) async throws -> NavigationChange
  /// Closes the page with this id and gives its opener the result; pages above it are dismissed.
  /// Nil means the page on whose behalf the code runs: the one that a ``PageHandler`` shows, or in
  /// which the caller of a task runs. The `exts` are told to the hosts of the pages that close.
  ///
  /// Throws ``CallError``: 2404 when the page is not on the stack, since a page ends once; -32602
  /// without any page.
  @discardableResult
  func finish(
    _ result: PageResult?, page: String?, exts: ValueObject
  ) async throws -> NavigationChange
  /// Shows a tab by its index, from 0 in the order of the route table. Throws ``CallError``: 2404
  /// when there is no such tab, and as ``open(_:params:exts:style:deadline:carrying:)`` where the
  /// tab's first page has to be opened.
  @discardableResult
  func selectTab(_ index: Int) async throws -> NavigationChange
  /// Shows the tab with this URI of its first page. Throws as ``selectTab(_:)-(Int)``.
  @discardableResult
  func selectTab(_ uri: String) async throws -> NavigationChange
  /// The pages of the session as they are now.
  func stack() async -> NavigationStack
  /// The page on the stack that is meant by an id, a URI or the name of a route; nil where there is none.
  func contains(_ page: String) async -> Page?
}

extension Navigator {
  /// As the full call, with what is left out being empty, `push`, or without end; throws as it
  /// does.
  public func open(
    _ uri: String, _ params: ValueObject = [:], exts: ValueObject = [:], style: Style? = nil,
    deadline: Duration? = nil, carrying: [String: any Sendable] = [:]
  ) async throws -> Outcome {
    try await open(
      uri, params: params, exts: exts, style: style, deadline: deadline, carrying: carrying)
  }

  /// As the full call, with what is left out being empty, or without end; throws as it does.
  public func invoke(
    _ uri: String, _ params: ValueObject = [:], exts: ValueObject = [:], deadline: Duration? = nil,
    carrying: [String: any Sendable] = [:]
  ) async throws -> Value {
    try await invoke(uri, params: params, exts: exts, deadline: deadline, carrying: carrying)
  }

  /// As the full call, with what is left out being empty, or without end; throws as it does.
  public func invoke<Back: Sendable>(
    _ uri: String, _ params: ValueObject = [:], exts: ValueObject = [:], deadline: Duration? = nil,
    carrying: [String: any Sendable] = [:], carryingBack type: Back.Type
  ) async throws -> Back {
    try await invoke(
      uri, params: params, exts: exts, deadline: deadline, carrying: carrying, carryingBack: type)
  }

  /// As the full call, without a result and `exts` where none are given; throws as it does.
  @discardableResult
  public func back(
    _ target: BackTarget<String>, result: PageResult? = nil
  ) async throws -> NavigationChange {
    try await back(target, result: result, exts: [:])
  }

  /// Goes back by so many pages, as the full call; throws as it does.
  @discardableResult
  public func back(
    _ count: Int = 1, result: PageResult? = nil, exts: ValueObject = [:]
  ) async throws -> NavigationChange {
    try await back(.count(count), result: result, exts: exts)
  }

  /// As the full call, of the page on whose behalf the code runs where none is named; throws as it
  /// does.
  @discardableResult
  public func finish(
    _ result: PageResult? = nil, page: String? = nil
  ) async throws -> NavigationChange {
    try await finish(result, page: page, exts: [:])
  }

  /// Begins a call that is put together step by step.
  public func build(_ uri: String) -> CallBuilder<any Navigator> {
    CallBuilder(self, uri)
  }
}

extension CallBuilder where Caller == any Navigator {
  /// Has the call carry a value of Swift code, for Swift code of this process; the last value of a
  /// name counts.
  public func carrying(_ name: String, _ value: some Sendable) -> Self {
    changed { $0.carried[name] = value }
  }

  /// Opens it, as ``Navigator/open(_:_:exts:style:deadline:carrying:)`` with the same arguments,
  /// and throws as that does.
  public func open() async throws -> Outcome {
    try await caller.open(
      uri, params, exts: exts, style: style, deadline: deadline, carrying: carried)
  }

  /// Runs it, as ``Navigator/invoke(_:_:exts:deadline:carrying:)`` with the same arguments, and
  /// throws as that does.
  public func invoke() async throws -> Value {
    try await caller.invoke(uri, params, exts: exts, deadline: deadline, carrying: carried)
  }

  /// Runs it, as ``Navigator/invoke(_:_:exts:deadline:carrying:carryingBack:)`` with the same
  /// arguments, and throws as that does.
  public func invoke<Back: Sendable>(carryingBack type: Back.Type) async throws -> Back {
    try await caller.invoke(
      uri, params, exts: exts, deadline: deadline, carrying: carried, carryingBack: type)
  }
}
