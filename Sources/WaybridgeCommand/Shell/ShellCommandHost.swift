import WayShell
import WaybridgeClient

/// Handles the server's requests to the shell with the input of its user.
actor ShellCommandHost: PageHost {
  private let view: any ShellCommandView
  private let content: [String: [Value]]
  private var state = ShellState()
  private var routes: [String: ShellRoute] = [:]
  /// The calls that wait for the result of a sheet, by the sheet's id.
  private var continuations: [String: CheckedContinuation<Value, any Error>] = [:]
  private var progressHandlers: [String: @Sendable (Value) -> Void] = [:]
  private var lastSheetNumber = 0
  /// The callers that wait until a page or sheet needs a response.
  private var waiters: [CheckedContinuation<Void, Never>] = []

  init(_ view: any ShellCommandView, content: [String: [Value]]) {
    self.view = view
    self.content = content
  }

  /// Runs the tasks of a pattern by asking the user.
  nonisolated func task(_ pattern: String) -> BridgeClient.Host {
    .task(pattern) { call in try await self.runTask(call, pattern) }
  }

  func open(_ page: BridgeClient.HostedPage) {
    let route = page.route.flatMap { routes[$0] }
    let choices = page.route.flatMap { content[$0] } ?? content[page.uri]
    show(
      Screen(
        id: page.id, kind: .page, uri: page.uri, title: route?.title ?? "",
        purpose: route?.purpose ?? "", caller: page.caller?.name ?? "", params: page.params,
        content: ScreenContent(known: choices, params: page.params, result: route?.result)))
  }

  func close(_ page: BridgeClient.HostedPage, reason: Outcome.OutcomeKind, exts: ValueObject) {
    guard state.hide(page.id) else { return }
    report("closed \(page.id) \(reason.rawValue)")
  }

  func resume(_ page: BridgeClient.HostedPage) {
    state.raise(page.id)
    report("top \(page.id) \(page.uri)")
  }

  func call(
    _ call: BridgeClient.MethodCall, of page: BridgeClient.HostedPage
  ) async throws -> Value {
    guard let method = page.route.flatMap({ routes[$0] })?.methods[call.method] else {
      throw call.methodNotFoundError
    }
    let screen = Screen(
      id: nextSheetID, kind: .sheet, uri: "\(page.uri) \(call.method)",
      title: method["title"]?.string ?? call.method, caller: call.caller?.name ?? "",
      params: call.params.object ?? [:],
      content: ScreenContent(known: nil, params: [:], result: method["result"]))
    return try await presentSheet(screen, call.reportProgress)
  }

  private func runTask(_ call: BridgeClient.TaskCall, _ pattern: String) async throws -> Value {
    let route = routes.values.first { $0.patterns.contains(pattern) }
    let screen = Screen(
      id: nextSheetID, kind: .sheet, uri: call.uri, title: route?.title ?? "",
      purpose: route?.purpose ?? "", caller: call.caller?.name ?? "", params: call.params,
      content: ScreenContent(
        known: route.flatMap { content[$0.name] } ?? content[call.uri], params: call.params,
        result: route?.result))
    return try await presentSheet(screen, call.reportProgress)
  }

  private var nextSheetID: String {
    lastSheetNumber += 1
    return "sheet-\(lastSheetNumber)"
  }

  /// Shows a sheet until it is completed, or its caller no longer waits for it.
  private func presentSheet(
    _ screen: Screen, _ report: @escaping @Sendable (Value) -> Void
  ) async throws -> Value {
    try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { continuation in
        continuations[screen.id] = continuation
        progressHandlers[screen.id] = report
        show(screen)
      }
    } onCancel: {
      Task { await self.withdraw(screen.id) }
    }
  }

  private func withdraw(_ id: String) {
    closeSheet(id, .failure(CancellationError()), "withdrawn")
  }

  private func closeSheet(_ id: String, _ result: Result<Value, any Error>, _ word: String) {
    guard let continuation = continuations.removeValue(forKey: id) else { return }
    progressHandlers[id] = nil
    _ = state.hide(id)
    report("closed \(id) \(word)")
    continuation.resume(with: result)
  }

  private func show(_ screen: Screen) {
    state.show(screen)
    let verb = screen.kind == .page ? "shown" : "asked"
    let block = ["\(verb) \(screen.id) \(screen.layout) \(screen.uri)", "  \(screen.title)"]
    let body = screen.details + screen.contentLines
    report(
      block + body.prefix(Self.maxBodyLines).map { "  \($0)" } + ["  \(screen.prompt)"],
      noteCount: 1)
    wake()
  }

  /// The largest number of lines of a page that are printed.
  private static let maxBodyLines = 200

  /// Handles a line; returns the action to perform, if there is one.
  func receive(_ line: String) -> ShellState.ShellAction? {
    do throws(ShellInputCommand.InvalidCommand) {
      let action = try state.handle(line)
      view.show(state)
      if case .redraw = action { reportPrompt() }
      return action
    } catch {
      report("error \(error.text)")
      return nil
    }
  }

  private func reportPrompt() {
    guard let top = state.top, case .form = top.content else { return }
    view.report(["  \(top.prompt)".sanitized()])
  }

  /// Completes a sheet with a value.
  func submit(_ id: String, _ value: Value) { closeSheet(id, .success(value), "answered") }

  /// Fails a sheet with an application error.
  func cancel(_ id: String) {
    closeSheet(id, .failure(CallError(code: 1, message: "cancelled by the user")), "cancelled")
  }

  func reportProgress(_ id: String, _ value: Value) { progressHandlers[id]?(value) }

  /// Reports that a call to the server has failed.
  func reportFailure(_ id: String?, _ error: any Error) {
    if let id { state.reopen(id) }
    report("error \(error)")
  }

  /// Returns when a page or sheet needs a response, or the task is cancelled.
  func wait() async {
    while !state.isAwaitingInput, !Task.isCancelled {
      await withTaskCancellationHandler {
        await withCheckedContinuation { waiters.append($0) }
      } onCancel: {
        // Runs on this actor, which is free only while a caller waits.
        Task { await self.wake() }
      }
    }
  }

  /// Makes all waiting callers check again.
  private func wake() {
    let waiting = waiters
    waiters = []
    for waiter in waiting { waiter.resume() }
  }

  /// Fails all sheets, since they can no longer be completed.
  func withdrawAll() {
    for id in continuations.keys { withdraw(id) }
  }

  func setRoutes(_ routes: [ShellRoute]) {
    self.routes = Dictionary(routes.map { ($0.name, $0) }) { first, _ in first }
  }

  func updateConnection(_ text: String, session: String? = nil) {
    state.connection = text
    if let session { state.session = session }
    view.show(state)
  }

  func report(_ text: String) { report([text], noteCount: 1) }

  /// Prints lines and shows them instead of the page.
  func showPanel(_ lines: [String]) {
    state.panel = lines
    report(lines, noteCount: 0)
  }

  /// Prints lines, of which the first `count` are kept as notes of the screen.
  func report(_ lines: [String], noteCount count: Int) {
    let shown = lines.map { $0.sanitized() }
    for line in shown.prefix(count) { state.addNote(line) }
    view.report(shown)
    view.show(state)
  }
}

extension BridgeClient.CallerDescription {
  /// The caller's name, in a word or two.
  fileprivate var name: String {
    [user, client?.name ?? client?.id].compactMap(\.self).joined(separator: ", ")
  }
}
