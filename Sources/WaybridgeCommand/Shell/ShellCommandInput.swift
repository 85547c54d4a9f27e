import Dispatch
import Foundation

/// The lines of standard input, read on a separate thread one chunk at a time: the next chunk is
/// read when the previous one was consumed.
struct ShellCommandInput: Sendable {
  private let lines: AsyncThrowingStream<[String], any Error>
  private let consumed = DispatchSemaphore(value: 0)

  init() {
    let (lines, source) = AsyncThrowingStream<[String], any Error>.makeStream()
    self.lines = lines
    Thread.detachNewThread { [consumed] in
      var input = InputLines()
      do {
        while let next = try input.next() {
          source.yield(next)
          consumed.wait()
        }
        source.finish()
      } catch {
        source.finish(throwing: error)
      }
    }
  }

  /// Passes each line to `body`, until the input ends, `body` returns false or the task is
  /// cancelled. Throws if the input cannot be read.
  func readLines(_ body: (String) async -> Bool) async throws {
    for try await chunk in lines {
      for line in chunk where !Task.isCancelled {
        guard await body(line) else { return }
      }
      consumed.signal()
    }
  }
}
