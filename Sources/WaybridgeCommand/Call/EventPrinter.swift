import UnixSignals
import WaybridgeClient

/// Prints events as they arrive.
struct EventPrinter {
  /// The number of events that may wait to be printed.
  private static let bufferSize = 16_384

  let client: BridgeClient
  let printer: LinePrinter

  /// Subscribes, calls `method`, and returns after a signal. Throws if the call fails or the
  /// connection ends.
  func run(
    topics: [String], until signals: UnixSignalsSequence, calling method: String?, _ params: Value?
  ) async throws {
    let events = try await client.events(topics, buffer: Self.bufferSize)
    try await withThrowingTaskGroup(of: Bool.self) { group in
      group.addTask {
        for await _ in signals { break }
        return true
      }
      group.addTask {
        for try await event in events {
          let line: Value = [
            "topic": .string(event.topic), "data": event.data, "at": .integer(event.at),
          ]
          try await printer.printLine(line.text)
        }
        return false
      }
      if let method {
        group.addTask {
          let result = try await client.result(of: method, params)
          try await printer.printLine(Value.object(["result": result]).text)
          return false
        }
      }
      while let isSignal = try await group.next() {
        guard isSignal else { continue }
        // Ends the call and the events, without waiting for them.
        await client.close()
        return
      }
    }
  }
}

/// Prints whole lines on standard output from several tasks.
actor LinePrinter {
  private var output = Output()

  /// Writes a line at once.
  func printLine(_ text: String) throws(CommandError) {
    try output.appendLine(text)
    try output.flush()
  }
}
