import WayShell
import WaybridgeClient

/// What the bridge asks of the shell, and what whoever sits there answers.
actor ShellCommandHost: PageHost {
  private let view: any ShellCommandView
  private let content: [String: [Value]]
  private var state = ShellState()
  private var routes: [String: ShellRoute] = [:]
  /// Who waits for the answer of a sheet.
  private var callers: [String: CheckedContinuation<Value, any Error>] = [:]
  private var progress: [String: @Sendable (Value) -> Void] = [:]
  private var lastSheet = 0
  /// Who waits until there is something to answer.
  private var waiting: [CheckedContinuation<Void, Never>] = []

  init(_ view: any ShellCommandView, content: [String: [Value]]) {
    self.view = view
    self.content = content
  }

  /// Runs the tasks of a pattern by asking.
  nonisolated func task(_ pattern: String) -> BridgeClient.Host {
    .task(pattern) { call in try await self.run(call, pattern) }
  }

  // MARK: What the bridge asks

  func open(_ page: BridgeClient.Page) {
    let route = page.route.flatMap { routes[$0] }
    let known = page.route.flatMap { content[$0] } ?? content[page.uri]
    show(
      Screen(
        id: page.id, kind: .page, uri: page.uri, title: route?.title ?? "",
        purpose: route?.purpose ?? "", caller: page.caller?.name ?? "", params: page.params,
        content: Content(known: known, params: page.params, result: route?.result)))
  }

  func close(_ page: BridgeClient.Page, reason: Outcome.Kind, exts: ValueObject) {
    guard state.hide(page.id) else { return }
    tell("closed \(page.id) \(reason.rawValue)")
  }

  func resume(_ page: BridgeClient.Page) {
    state.raise(page.id)
    tell("top \(page.id) \(page.uri)")
  }

  func call(
    _ call: BridgeClient.MethodCall, of page: BridgeClient.Page
  ) async throws -> Value {
    guard let method = page.route.flatMap({ routes[$0] })?.methods[call.method] else {
      throw call.unknown
    }
    let screen = Screen(
      id: nextSheet, kind: .sheet, uri: "\(page.uri) \(call.method)",
      title: method["title"]?.string ?? call.method, caller: call.caller?.name ?? "",
      params: call.params.object ?? [:],
      content: Content(known: nil, params: [:], result: method["result"]))
    return try await answer(screen, call.progress)
  }

  private func run(_ call: BridgeClient.TaskCall, _ pattern: String) async throws -> Value {
    let route = routes.values.first { $0.patterns.contains(pattern) }
    let screen = Screen(
      id: nextSheet, kind: .sheet, uri: call.uri, title: route?.title ?? "",
      purpose: route?.purpose ?? "", caller: call.caller?.name ?? "", params: call.params,
      content: Content(
        known: route.flatMap { content[$0.name] } ?? content[call.uri], params: call.params,
        result: route?.result))
    return try await answer(screen, call.progress)
  }

  private var nextSheet: String {
    lastSheet += 1
    return "sheet-\(lastSheet)"
  }

  /// Shows a sheet until it is answered, or nobody waits for it any more.
  private func answer(
    _ screen: Screen, _ report: @escaping @Sendable (Value) -> Void
  ) async throws -> Value {
    try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { continuation in
        callers[screen.id] = continuation
        progress[screen.id] = report
        show(screen)
      }
    } onCancel: {
      Task { await self.withdraw(screen.id) }
    }
  }

  private func withdraw(_ id: String) {
    end(id, .failure(CancellationError()), "withdrawn")
  }

  private func end(_ id: String, _ result: Result<Value, any Error>, _ word: String) {
    guard let caller = callers.removeValue(forKey: id) else { return }
    progress[id] = nil
    _ = state.hide(id)
    tell("closed \(id) \(word)")
    caller.resume(with: result)
  }

  private func show(_ screen: Screen) {
    state.show(screen)
    let asked = screen.kind == .page ? "shown" : "asked"
    let block = ["\(asked) \(screen.id) \(screen.form) \(screen.uri)", "  \(screen.title)"]
    let body = screen.facts + screen.tasks
    tell(block + body.prefix(Self.maxBody).map { "  \($0)" } + ["  \(screen.prompt)"], note: 1)
    wake()
  }

  /// So many lines of a page are printed.
  private static let maxBody = 200

  // MARK: What is typed

  /// Takes a line; gives what is to be done about it, where there is anything.
  func take(_ line: String) -> ShellState.Action? {
    do throws(Order.Fault) {
      let action = try state.take(line)
      view.show(state)
      if case .draw = action { tellPrompt() }
      return action
    } catch {
      tell("error \(error.text)")
      return nil
    }
  }

  private func tellPrompt() {
    guard let top = state.top, case .form = top.content else { return }
    view.tell(["  \(top.prompt)".shown()])
  }

  /// Answers a sheet.
  func answer(_ id: String, _ value: Value) { end(id, .success(value), "answered") }

  /// Fails a sheet, as an app's own error.
  func cancel(_ id: String) {
    end(id, .failure(CallError(code: 1, message: "cancelled by the user")), "cancelled")
  }

  func report(_ id: String, _ value: Value) { progress[id]?(value) }

  /// What was asked of the bridge has failed.
  func failed(_ id: String?, _ error: any Error) {
    if let id { state.reopen(id) }
    tell("error \(error)")
  }

  /// Returns when there is something to answer, or its task is cancelled.
  func wait() async {
    while !state.isAsking, !Task.isCancelled {
      await withTaskCancellationHandler {
        await withCheckedContinuation { waiting.append($0) }
      } onCancel: {
        // On this actor, which is free only when there is somebody to wake.
        Task { await self.wake() }
      }
    }
  }

  /// Has those that wait look again.
  private func wake() {
    let all = waiting
    waiting = []
    for waiter in all { waiter.resume() }
  }

  /// Whoever waits for a sheet does so in vain.
  func end() {
    for id in callers.keys { withdraw(id) }
  }

  // MARK: What is told

  func learn(_ routes: [ShellRoute]) {
    self.routes = Dictionary(routes.map { ($0.name, $0) }) { first, _ in first }
  }

  func connection(_ text: String, session: String? = nil) {
    state.connection = text
    if let session { state.session = session }
    view.show(state)
  }

  func tell(_ text: String) { tell([text], note: 1) }

  /// Tells lines that are read in the place of the page.
  func unfold(_ lines: [String]) {
    state.panel = lines
    tell(lines, note: 0)
  }

  /// Tells lines, of which the first so many are kept as notes of the screen.
  func tell(_ lines: [String], note count: Int) {
    let shown = lines.map { $0.shown() }
    for line in shown.prefix(count) { state.note(line) }
    view.tell(shown)
    view.show(state)
  }
}

extension BridgeClient.Caller {
  /// Who it is, in a word or two.
  fileprivate var name: String {
    [user, client?.name ?? client?.id].compactMap(\.self).joined(separator: ", ")
  }
}
