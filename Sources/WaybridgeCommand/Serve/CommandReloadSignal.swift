import Dispatch
import Foundation
import Synchronization
import Waybridge

/// Makes a server reload its files on SIGHUP. A signal that arrives before the server listens is
/// handled then.
final class CommandReloadSignal: Sendable {
  // A signal during a reload causes one further reload, which also covers the signals after it.
  private let signals = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
  private let listening = AsyncStream.makeStream(of: Void.self)
  private let source: Mutex<any DispatchSourceSignal>

  /// Handles the signal from now on, so that it no longer ends the process.
  init() {
    signal(SIGHUP, SIG_IGN)
    let signalSource = DispatchSource.makeSignalSource(signal: SIGHUP)
    let sink = signals.continuation
    signalSource.setEventHandler { sink.yield() }
    signalSource.resume()
    source = Mutex(signalSource)
  }

  /// The server listens from now on.
  func didListen() { listening.continuation.finish() }

  /// Reloads the server's files once for each signal, until the task is cancelled.
  func reload(_ server: BridgeServer) async {
    for await _ in listening.stream {}
    for await _ in signals.stream { await server.reload() }
  }

  func cancel() { source.withLock { $0.cancel() } }
}
