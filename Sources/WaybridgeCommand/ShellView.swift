import Glibc
import WayShell

/// Where a shell is seen. Its methods are called on the client's thread, and do not wait for whoever
/// reads.
protocol ShellView: Sendable {
  /// Tells what has happened, one or several lines.
  func tell(_ lines: [String])

  /// The state has changed.
  func show(_ state: ShellState)

  /// Writes what there is, until ``end()``.
  func run() async throws

  /// There is nothing more to write.
  func end()
}

/// Lines on standard output, for programs.
struct ShellLines: ShellView {
  /// What may wait for a reader that does not read.
  private static let buffer = 16_384

  private let lines: AsyncStream<[String]>
  private let source: AsyncStream<[String]>.Continuation

  init() {
    (lines, source) = AsyncStream.makeStream(bufferingPolicy: .bufferingOldest(Self.buffer))
  }

  func tell(_ lines: [String]) { source.yield(lines) }

  func show(_ state: ShellState) {}

  func run() async throws {
    var output = Output()
    for await lines in lines {
      for line in lines { try output.line(line) }
      try output.flush()
    }
  }

  func end() { source.finish() }
}
