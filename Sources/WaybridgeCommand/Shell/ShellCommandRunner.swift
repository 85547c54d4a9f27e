import Foundation
import UnixSignals
import WayShell
import WaybridgeClient

/// One shell, from its session's opening to its end.
struct ShellCommandRunner: Sendable {
  /// How long the end waits for what was asked of the bridge before.
  private static let patience = Duration.seconds(2)

  let client: BridgeClient
  let host: ShellCommandHost
  let view: any ShellCommandView
  let url: String

  private enum ShellEnd: Sendable {
    case quit
    case connection(ClientConnectionEnd)
    /// Something that does not end the shell has ended.
    case nothing
  }

  /// Returns after `quit`, the end of the input or a signal. Throws where the connection ends for good,
  /// the input cannot be read, or nobody reads the output.
  func untilQuit(topics: [String], signals: UnixSignalsSequence) async throws {
    let (faults, source) = AsyncStream<any Error>.makeStream()
    let drawing = Task {
      do { try await view.run() } catch { source.yield(error) }
    }
    let end: ShellEnd
    do {
      end = try await live(topics, signals, faults)
    } catch {
      await leave(drawing)
      throw error
    }
    await leave(drawing)
    if case .connection(let end) = end {
      let code = end.code.map { " with code \($0)" } ?? ""
      throw CommandError("The connection ended for good\(code)")
    }
  }

  private func leave(_ drawing: Task<Void, Never>) async {
    await host.end()
    await client.close()
    view.end()
    await drawing.value
  }

  private func live(
    _ topics: [String], _ signals: UnixSignalsSequence, _ faults: AsyncStream<any Error>
  ) async throws -> ShellEnd {
    await greet()
    return try await withThrowingTaskGroup(of: ShellEnd.self) { group in
      group.addTask {
        for await _ in signals { break }
        return .quit
      }
      group.addTask { await watchConnection() }
      group.addTask {
        await watchTable()
        return .nothing
      }
      if !topics.isEmpty {
        group.addTask {
          await watch(topics)
          return .nothing
        }
      }
      group.addTask {
        for await fault in faults { throw fault }
        return .nothing
      }
      group.addTask {
        try await read()
        return .quit
      }
      defer { group.cancelAll() }
      while let end = try await group.next() {
        if case .nothing = end { continue }
        return end
      }
      return .quit
    }
  }

  // MARK: What the bridge tells

  private func greet() async {
    await learn()
    guard let session = await client.session else { return }
    await host.connection("connected", session: session.id)
    var lines = ["connected \(url)", "session \(session.id)"]
    if let join = session.join {
      lines += [
        "join \(join.token)",
        "others join with --session \(join.session) --join \(join.token)",
      ]
    }
    await host.unfold(lines)
  }

  private func learn() async {
    do {
      await host.learn(try await client.routes().compactMap(ShellRoute.init))
    } catch {
      await host.tell("error the routes are not told: \(error)")
    }
  }

  private func watchConnection() async -> ShellEnd {
    for await state in await client.connectionStates() {
      switch state {
      case .open: await host.connection("connected", session: client.session?.id)
      case .waiting(let end, let attempt, let delay):
        await host.connection("lost; attempt \(attempt) in \(delay)")
        await host.tell(
          "lost\(end.code.map { " with code \($0)" } ?? ""), attempt \(attempt) follows")
      case .resumed:
        await host.connection("connected", session: client.session?.id)
        await host.tell("resumed")
      case .begunAnew(let lost):
        await host.tell(
          "begun anew: \(lost.reason), \(lost.pages.count) pages and \(lost.calls.count) calls lost"
        )
        await greet()
      case .ended(let end): return .connection(end)
      }
    }
    return .nothing
  }

  private func watchTable() async {
    // Who may not subscribe has the routes of the start.
    guard let changes = try? await client.events(["table.changed"]) else { return }
    do {
      for try await _ in changes { await learn() }
    } catch {
      await host.tell("error changes of the table are not told any more: \(error)")
    }
  }

  private func watch(_ topics: [String]) async {
    do {
      for try await event in try await client.events(topics) {
        await host.tell("event \(event.topic) \(event.data.text)")
      }
    } catch {
      await host.tell("error events are not told any more: \(error)")
    }
  }

  // MARK: What is typed

  /// Carries lines out one after another, without those behind waiting for what the bridge does.
  private func read() async throws {
    let (actions, source) = AsyncStream<ShellState.Action>.makeStream()
    let worker = Task { for await action in actions { await carryOut(action) } }
    let end: Result<Void, any Error>
    do { end = .success(try await take(source)) } catch { end = .failure(error) }
    source.finish()
    // What was asked before the end is done; of a connection that is lost nobody waits for it.
    let timer = Task {
      try await Task.sleep(for: Self.patience)
      worker.cancel()
    }
    await worker.value
    timer.cancel()
    try end.get()
  }

  /// Takes lines until the last; what the bridge is to do goes into `source`.
  private func take(_ source: AsyncStream<ShellState.Action>.Continuation) async throws {
    try await ShellCommandInput().each { line in
      guard let action = await host.take(line) else { return true }
      switch action {
      case .quit: return false
      case .wait: await host.wait()
      case .draw: break
      default: source.yield(action)
      }
      return true
    }
  }

  private func carryOut(_ action: ShellState.Action) async {
    do throws(CallError) {
      switch action {
      case .answer(.sheet, let id, let value): await host.answer(id, value)
      case .answer(.page, let id, let value):
        try await attempt(id) { () throws(CallError) in
          try await client.finish(.init(value), page: id)
        }
      case .cancel(.sheet, let id): await host.cancel(id)
      case .cancel(.page, let id):
        try await attempt(id) { () throws(CallError) in try await client.back(.before(id)) }
      case .back(let count): try await client.back(count)
      case .open(let uri, let params): open(uri, params)
      case .run(let uri, let params): run(uri, params)
      case .invite(let address): try await invite(address)
      case .tab(let index): try await client.selectTab(index)
      case .progress(let id, let value): await host.report(id, value)
      case .stack: await host.unfold(ShellCommandStack.lines(of: try await client.stack()))
      case .help: await host.unfold(Order.words)
      case .wait, .draw, .quit: break
      }
    } catch {
      await host.failed(nil, error)
    }
  }

  /// Answers for a page, which waits again where that fails.
  private func attempt(
    _ id: String, _ change: () async throws(CallError) -> NavigationChange
  ) async throws(CallError) {
    do throws(CallError) {
      _ = try await change()
    } catch {
      await host.failed(id, error)
    }
  }

  private func open(_ uri: String, _ params: ValueObject) {
    Task {
      do throws(CallError) {
        let outcome = try await client.open(
          uri, params, onShown: { page in Task { await host.tell("opened \(page) \(uri)") } },
          onProgress: { value in Task { await host.tell("progress \(uri) \(value.text)") } })
        await host.tell("outcome \(uri) \(outcome.value.text)")
      } catch {
        await host.failed(nil, error)
      }
    }
  }

  private func run(_ uri: String, _ params: ValueObject) {
    Task {
      do throws(CallError) {
        let value = try await client.invoke(
          uri, params,
          onProgress: { value in Task { await host.tell("progress \(uri) \(value.text)") } })
        await host.tell("value \(uri) \(value.text)")
      } catch {
        await host.failed(nil, error)
      }
    }
  }

  private func invite(_ address: String) async throws(CallError) {
    let join = try await client.invite()
    await host.tell("invitation \(ShellCommandInvitation.address(address, url: url, join))")
  }
}
