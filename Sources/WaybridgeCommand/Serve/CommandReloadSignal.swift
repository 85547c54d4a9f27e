import Dispatch
import Foundation
import Waybridge

/// Makes a server reload its files on SIGHUP, but only under a service manager. At a terminal the
/// signal means that the terminal has closed, and ends the program.
struct CommandReloadSignal {
  private let source: any DispatchSourceSignal
  private let task: Task<Void, Never>

  /// Handles the signal from now on; nil if no service manager accepts notifications.
  init?(of server: BridgeServer) {
    guard server.sendsSystemdNotifications else { return nil }
    // A signal during a reload causes one further reload, which also covers the signals after it.
    let (signals, sink) = AsyncStream.makeStream(
      of: Void.self, bufferingPolicy: .bufferingNewest(1))
    task = Task {
      for await _ in signals { await server.reload() }
    }
    signal(SIGHUP, SIG_IGN)
    source = DispatchSource.makeSignalSource(signal: SIGHUP)
    source.setEventHandler { sink.yield() }
    source.resume()
  }

  func cancel() {
    source.cancel()
    task.cancel()
  }
}
