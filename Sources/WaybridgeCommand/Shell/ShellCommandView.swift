import Glibc
import Synchronization
import WayShell

/// Where a shell is seen. Its methods are called on the client's thread, and do not wait for whoever
/// reads.
protocol ShellCommandView: Sendable {
  /// Tells what has happened, one or several lines.
  func tell(_ lines: [String])

  /// The state has changed.
  func show(_ state: ShellState)

  /// Writes what there is, until ``end()``.
  func run() async throws

  /// There is nothing more to write.
  func end()
}

/// Lines on standard output, for programs. Of what is told faster than it is read the latest is left
/// out, and a line in its place tells how much.
final class ShellLines: ShellCommandView {
  /// So many blocks of lines may wait for a reader that does not read.
  private static let buffer = 16_384

  private let blocks: AsyncStream<[String]>
  private let source: AsyncStream<[String]>.Continuation
  /// How many lines were left out behind those that wait.
  private let left = Mutex(0)

  init() {
    (blocks, source) = AsyncStream.makeStream(bufferingPolicy: .bufferingOldest(Self.buffer))
  }

  func tell(_ lines: [String]) {
    left.withLock { left in
      if case .dropped = source.yield(Self.note(left) + lines) {
        left += lines.count
      } else {
        left = 0
      }
    }
  }

  func show(_ state: ShellState) {}

  func run() async throws {
    var output = Output()
    for await lines in blocks {
      for line in lines { try output.line(line) }
      try output.flush()
    }
    for line in Self.note(left.withLock { $0 }) { try output.line(line) }
    try output.flush()
  }

  private static func note(_ left: Int) -> [String] {
    left == 0 ? [] : ["\(left) lines left out"]
  }

  func end() { source.finish() }
}
