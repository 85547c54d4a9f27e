import Glibc
import Synchronization
import WayShell

/// The output of a shell. Its methods are called on the client's thread, and do not wait for the
/// reader.
protocol ShellCommandView: Sendable {
  /// Reports an event, in one or several lines.
  func report(_ lines: [String])

  /// Shows a changed state.
  func show(_ state: ShellState)

  /// Writes the output, until ``end()``.
  func run() async throws

  /// Ends the output.
  func end()
}

/// Lines on standard output, for programs. If output is faster than its reader, the latest lines
/// are dropped and replaced by a line with their number.
final class ShellLines: ShellCommandView {
  /// The number of blocks of lines that may wait for the reader.
  private static let maxBufferedBlocks = 16_384

  private let blocks: AsyncStream<[String]>
  private let source: AsyncStream<[String]>.Continuation
  /// The number of lines that were dropped after those that wait.
  private let droppedLines = Mutex(0)

  init() {
    (blocks, source) = AsyncStream.makeStream(
      bufferingPolicy: .bufferingOldest(Self.maxBufferedBlocks))
  }

  func report(_ lines: [String]) {
    droppedLines.withLock { dropped in
      if case .dropped = source.yield(Self.droppedNotice(dropped) + lines) {
        dropped += lines.count
      } else {
        dropped = 0
      }
    }
  }

  func show(_ state: ShellState) {}

  func run() async throws {
    var output = Output()
    for await lines in blocks {
      for line in lines { try output.appendLine(line) }
      try output.flush()
    }
    for line in Self.droppedNotice(droppedLines.withLock { $0 }) { try output.appendLine(line) }
    try output.flush()
  }

  private static func droppedNotice(_ count: Int) -> [String] {
    count == 0 ? [] : ["\(count) lines left out"]
  }

  func end() { source.finish() }
}
