import Dispatch
import Foundation

/// Ends the program at the second termination signal without waiting for anything.
struct CommandSignalExit {
  private let signalSources: [any DispatchSourceSignal]

  /// Handles SIGTERM and SIGINT from now on.
  init() {
    let queue = DispatchQueue(label: "waybridge.signals")
    nonisolated(unsafe) var count: UInt = 0
    signalSources = [SIGTERM, SIGINT].map { signal in
      let source = DispatchSource.makeSignalSource(signal: signal, queue: queue)
      // All handlers run on this queue.
      source.setEventHandler {
        count += source.data
        if count > 1 { _exit(1) }
      }
      source.resume()
      return source
    }
  }

  func cancel() {
    for source in signalSources { source.cancel() }
  }
}
