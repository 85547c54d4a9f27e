import Dispatch
import Foundation

/// The lines of standard input, read on a thread of their own, a piece at a time: the next when the
/// one before was taken.
struct ShellInput: Sendable {
  private let lines: AsyncStream<[String]>
  private let taken = DispatchSemaphore(value: 0)

  init() {
    let (lines, source) = AsyncStream<[String]>.makeStream()
    self.lines = lines
    Thread.detachNewThread { [taken] in
      var input = InputLines()
      while let next = try? input.next() {
        source.yield(next)
        taken.wait()
      }
      source.finish()
    }
  }

  /// Hands on every line, until the input ends, `take` gives false or the task is cancelled.
  func each(_ take: (String) async -> Bool) async {
    for await piece in lines {
      for line in piece where !Task.isCancelled {
        guard await take(line) else { return }
      }
      taken.signal()
    }
  }
}
