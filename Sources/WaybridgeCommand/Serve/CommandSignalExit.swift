import Dispatch
import Foundation

/// Ends the program at the second signal that asks it to end, whatever it waits for.
struct CommandSignalExit {
  private let sources: [any DispatchSourceSignal]

  /// Listens to SIGTERM and SIGINT from now on.
  init() {
    let queue = DispatchQueue(label: "waybridge.signals")
    nonisolated(unsafe) var count: UInt = 0
    sources = [SIGTERM, SIGINT].map { signal in
      let source = DispatchSource.makeSignalSource(signal: signal, queue: queue)
      // All of them run on the one queue.
      source.setEventHandler {
        count += source.data
        if count > 1 { _exit(1) }
      }
      source.resume()
      return source
    }
  }

  func end() {
    for source in sources { source.cancel() }
  }
}
