import Dispatch
import Foundation
import Waybridge

/// Has a server read its files when SIGHUP comes. Only under a service manager: at a terminal the
/// signal says that the terminal is gone, and ends the program.
struct CommandReloadSignal {
  private let source: any DispatchSourceSignal
  private let work: Task<Void, Never>

  /// Listens from now on; nil where no service manager takes notices.
  init?(of server: BridgeServer) {
    guard server.isManaged else { return nil }
    // One that comes while files are read is served by the next reading, as are all that follow it.
    let (signals, sink) = AsyncStream.makeStream(
      of: Void.self, bufferingPolicy: .bufferingNewest(1))
    work = Task {
      for await _ in signals { await server.reload() }
    }
    signal(SIGHUP, SIG_IGN)
    source = DispatchSource.makeSignalSource(signal: SIGHUP)
    source.setEventHandler { sink.yield() }
    source.resume()
  }

  func end() {
    source.cancel()
    work.cancel()
  }
}
