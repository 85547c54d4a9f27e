import Dispatch
import Foundation
import Logging
import Synchronization

/// Logs what the start of a server waits for, if it takes some seconds.
final class CommandStartReport: Sendable {
  /// After how many seconds it logs for the first time, and at which interval then.
  private static let (delay, interval) = (3, 10)

  private final class StartStep: Sendable {
    let name = Mutex("")
  }

  private let step: StartStep
  private let timer: Mutex<any DispatchSourceTimer>

  init(_ logger: Logger) {
    let step = StartStep()
    let source = DispatchSource.makeTimerSource(queue: .global())
    source.schedule(deadline: .now() + .seconds(Self.delay), repeating: .seconds(Self.interval))
    source.setEventHandler {
      logger.notice(
        "not listening yet", metadata: ["waiting": "for \(step.name.withLock { $0 })"])
    }
    source.resume()
    self.step = step
    timer = Mutex(source)
  }

  /// The start waits for this from now on.
  func wait(for step: String) { self.step.name.withLock { $0 = step } }

  /// The server listens, or has not started.
  func end() { timer.withLock { $0.cancel() } }
}
