import Foundation
import UnixSignals
import WayShell
import WaybridgeClient

/// Runs one shell, from the opening of its session to its end.
struct ShellCommandRunner: Sendable {
  /// How long the end waits for earlier calls to the server.
  private static let shutdownTimeout = Duration.seconds(2)

  let client: BridgeClient
  let host: ShellCommandHost
  let view: any ShellCommandView
  let url: String

  private enum ShellEnd: Sendable {
    case quit
    case connection(ClientConnectionEnd)
    /// A task that does not end the shell has ended.
    case taskFinished
  }

  /// Returns after `quit`, the end of the input or a signal. Throws if the connection ends for
  /// good, the input cannot be read, or the output has no reader.
  func run(topics: [String], signals: UnixSignalsSequence) async throws {
    let (faults, source) = AsyncStream<any Error>.makeStream()
    let drawTask = Task {
      do { try await view.run() } catch { source.yield(error) }
    }
    let end: ShellEnd
    do {
      end = try await runTasks(topics, signals, faults)
    } catch {
      await close(drawTask)
      throw error
    }
    await close(drawTask)
    if case .connection(let end) = end {
      let code = end.code.map { " with code \($0)" } ?? ""
      throw CommandError("the server has ended the session\(code)")
    }
  }

  private func close(_ drawTask: Task<Void, Never>) async {
    await host.withdrawAll()
    await client.close()
    view.end()
    await drawTask.value
  }

  private func runTasks(
    _ topics: [String], _ signals: UnixSignalsSequence, _ faults: AsyncStream<any Error>
  ) async throws -> ShellEnd {
    await showSession()
    return try await withThrowingTaskGroup(of: ShellEnd.self) { group in
      group.addTask {
        for await _ in signals { break }
        return .quit
      }
      group.addTask { await watchConnection() }
      group.addTask {
        await watchTable()
        return .taskFinished
      }
      if !topics.isEmpty {
        group.addTask {
          await watchEvents(topics)
          return .taskFinished
        }
      }
      group.addTask {
        for await fault in faults { throw fault }
        return .taskFinished
      }
      group.addTask {
        try await readInput()
        return .quit
      }
      defer { group.cancelAll() }
      while let end = try await group.next() {
        if case .taskFinished = end { continue }
        return end
      }
      return .quit
    }
  }

  private func showSession() async {
    await updateRoutes()
    guard let session = await client.session else { return }
    await host.updateConnection("connected", session: session.id)
    var lines = ["connected \(url)", "session \(session.id)"]
    if let join = session.join {
      lines += [
        "join \(join.token)",
        "others join with --session \(join.session) --join \(join.token)",
      ]
    }
    await host.showPanel(lines)
  }

  private func updateRoutes() async {
    do {
      await host.setRoutes(try await client.routes().compactMap(ShellRoute.init))
    } catch {
      await host.report("error cannot read the routes: \(error)")
    }
  }

  private func watchConnection() async -> ShellEnd {
    for await state in await client.connectionStates() {
      switch state {
      case .open: await host.updateConnection("connected", session: client.session?.id)
      case .waiting(let end, let attempt, let delay):
        await host.updateConnection("lost; attempt \(attempt) in \(delay)")
        await host.report(
          "lost\(end.code.map { " with code \($0)" } ?? ""), attempt \(attempt) follows")
      case .resumed:
        await host.updateConnection("connected", session: client.session?.id)
        await host.report("resumed")
      case .sessionReplaced(let lost):
        await host.report(
          "new session: \(lost.reason), \(lost.pages.count) pages and \(lost.calls.count) calls lost"
        )
        await showSession()
      case .ended(let end): return .connection(end)
      }
    }
    return .taskFinished
  }

  private func watchTable() async {
    // A client that may not subscribe keeps the routes of the start.
    guard let changes = try? await client.events(["table.changed"]) else { return }
    do {
      for try await _ in changes { await updateRoutes() }
    } catch {
      await host.report("error no further changes of the table: \(error)")
    }
  }

  private func watchEvents(_ topics: [String]) async {
    do {
      for try await event in try await client.events(topics) {
        await host.report("event \(event.topic) \(event.data.text)")
      }
    } catch {
      await host.report("error no further events: \(error)")
    }
  }

  /// Performs the actions of lines one after another; later lines do not wait for the server.
  private func readInput() async throws {
    let (actions, source) = AsyncStream<ShellState.ShellAction>.makeStream()
    let worker = Task { for await action in actions { await perform(action) } }
    let end: Result<Void, any Error>
    do { end = .success(try await enqueueActions(source)) } catch { end = .failure(error) }
    source.finish()
    // Earlier actions are completed first; after a lost connection they are not awaited.
    let timer = Task {
      try await Task.sleep(for: Self.shutdownTimeout)
      worker.cancel()
    }
    await worker.value
    timer.cancel()
    try end.get()
  }

  /// Reads lines until the last; actions for the server are put into `source`.
  private func enqueueActions(_ source: AsyncStream<ShellState.ShellAction>.Continuation)
    async throws
  {
    try await ShellCommandInput().readLines { line in
      guard let action = await host.receive(line) else { return true }
      switch action {
      case .quit: return false
      case .wait: await host.wait()
      case .redraw: break
      default: source.yield(action)
      }
      return true
    }
  }

  private func perform(_ action: ShellState.ShellAction) async {
    do throws(CallError) {
      switch action {
      case .submit(.sheet, let id, let value): await host.submit(id, value)
      case .submit(.page, let id, let value):
        try await attempt(id) { () throws(CallError) in
          try await client.finish(.init(value), page: id)
        }
      case .cancel(.sheet, let id): await host.cancel(id)
      case .cancel(.page, let id):
        try await attempt(id) { () throws(CallError) in try await client.back(.before(id)) }
      case .back(let count): try await client.back(count)
      case .open(let uri, let params): open(uri, params)
      case .run(let uri, let params): invoke(uri, params)
      case .invite(let address): try await invite(address)
      case .tab(let index): try await client.selectTab(index)
      case .progress(let id, let value): await host.reportProgress(id, value)
      case .stack: await host.showPanel(ShellCommandStack.lines(of: try await client.stack()))
      case .help: await host.showPanel(ShellInputCommand.helpLines)
      case .wait, .redraw, .quit: break
      }
    } catch {
      await host.reportFailure(nil, error)
    }
  }

  /// Responds for a page, which waits again if that fails.
  private func attempt(
    _ id: String, _ change: () async throws(CallError) -> NavigationChange
  ) async throws(CallError) {
    do throws(CallError) {
      _ = try await change()
    } catch {
      await host.reportFailure(id, error)
    }
  }

  private func open(_ uri: String, _ params: ValueObject) {
    Task {
      do throws(CallError) {
        let outcome = try await client.open(
          uri, params, onShown: { page in Task { await host.report("opened \(page) \(uri)") } },
          onProgress: { value in Task { await host.report("progress \(uri) \(value.text)") } })
        await host.report("outcome \(uri) \(outcome.value.text)")
      } catch {
        await host.reportFailure(nil, error)
      }
    }
  }

  private func invoke(_ uri: String, _ params: ValueObject) {
    Task {
      do throws(CallError) {
        let value = try await client.invoke(
          uri, params,
          onProgress: { value in Task { await host.report("progress \(uri) \(value.text)") } })
        await host.report("value \(uri) \(value.text)")
      } catch {
        await host.reportFailure(nil, error)
      }
    }
  }

  private func invite(_ address: String) async throws(CallError) {
    let join = try await client.invite()
    await host.report("invitation \(ShellCommandInvitation.invitationURL(address, url: url, join))")
  }
}

/// An address with an invitation in its fragment, as the JavaScript client reads it.
enum ShellCommandInvitation {
  static func invitationURL(_ page: String, url: String, _ join: BridgeClient.JoinCredentials)
    -> String
  {
    let invitation: Value = [
      "url": .string(url), "session": .string(join.session), "token": .string(join.token),
    ]
    let text = Data(invitation.text.utf8).base64EncodedString()
      .replacingOccurrences(of: "+", with: "-").replacingOccurrences(of: "/", with: "_")
      .replacingOccurrences(of: "=", with: "")
    return "\(page)\(page.contains("#") ? "&" : "#")waybridge=\(text)"
  }
}

/// Formats a session's stack as lines: modal stacks are indented below the page that they cover.
enum ShellCommandStack {
  static func lines(of stack: BridgeClient.Stack) -> [String] {
    var lines = ["stack"]
    for (index, tab) in stack.tabs.enumerated() {
      let mark = index == stack.selected ? "*" : " "
      lines.append("\(mark) tab \(index) \(tab.uri), \(tab.pages.count) waiting")
    }
    add(stack.pages, 1, to: &lines)
    return lines
  }

  private static func add(
    _ pages: [BridgeClient.HostedPage], _ depth: Int, to lines: inout [String]
  ) {
    for page in pages {
      let indent = String(repeating: "  ", count: min(depth, 16))
      lines.append("\(indent)\(page.id) \(page.uri) \(page.style.rawValue) \(page.host ?? "")")
      add(page.pages, depth + 1, to: &lines)
    }
  }
}
