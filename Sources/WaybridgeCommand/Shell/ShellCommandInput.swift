import Dispatch
import Foundation

/// The lines of standard input, read on a thread of their own, a piece at a time: the next when the
/// one before was taken.
struct ShellCommandInput: Sendable {
  private let lines: AsyncThrowingStream<[String], any Error>
  private let taken = DispatchSemaphore(value: 0)

  init() {
    let (lines, source) = AsyncThrowingStream<[String], any Error>.makeStream()
    self.lines = lines
    Thread.detachNewThread { [taken] in
      var input = InputLines()
      do {
        while let next = try input.next() {
          source.yield(next)
          taken.wait()
        }
        source.finish()
      } catch {
        source.finish(throwing: error)
      }
    }
  }

  /// Hands on every line, until the input ends, `take` gives false or the task is cancelled. Throws
  /// where the input cannot be read.
  func each(_ take: (String) async -> Bool) async throws {
    for try await piece in lines {
      for line in piece where !Task.isCancelled {
        guard await take(line) else { return }
      }
      taken.signal()
    }
  }
}
