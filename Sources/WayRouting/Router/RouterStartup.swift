import Synchronization

/// The phases of an app's start, in order.
public enum StartPhase: String, Sendable, CaseIterable {
  /// Tables are loaded.
  case table
  /// Interceptors are added, before there are calls that they could miss.
  case interceptors
  /// Pages are registered.
  case pages
  /// Tasks and services are registered.
  case tasks
  /// Routes are put into groups.
  case groups
  /// Everything is registered; for work that has to run before the first call.
  case ready
}

/// An error that a start has failed with.
public struct StartError: Error, Sendable, CustomStringConvertible {
  /// The phase in which it failed. Later phases have not begun.
  public let phase: StartPhase
  /// The error that was thrown.
  public let underlying: any Error

  public var description: String {
    "the start failed in the phase \"\(phase.rawValue)\": \(underlying)"
  }
}

/// The work of an app's start, which runs phase by phase, once.
final class RouterStartup: Sendable {
  typealias StartupWork = @Sendable (Router) async throws -> Void

  private struct StartupState {
    var work: [(phase: StartPhase, work: StartupWork)] = []
    /// The types whose work is added already.
    var registeredTypes: Set<ObjectIdentifier> = []
    var running: Task<Void, any Error>?
  }

  private let state = Mutex(StartupState())

  /// Adds work to a phase; returns `false` if the start has begun.
  func add(
    _ phase: StartPhase, once type: ObjectIdentifier? = nil, _ work: @escaping StartupWork
  ) -> Bool {
    state.withLock { state in
      guard state.running == nil else { return false }
      if let type, !state.registeredTypes.insert(type).inserted { return true }
      state.work.append((phase, work))
      return true
    }
  }

  func run(_ router: Router) async throws {
    let running = state.withLock { state in
      if let running = state.running { return running }
      let work = state.work
      state.work = []
      let task = Task {
        for phase in StartPhase.allCases {
          for entry in work where entry.phase == phase {
            do { try await entry.work(router) } catch {
              throw StartError(phase: phase, underlying: error)
            }
          }
        }
      }
      state.running = task
      return task
    }
    try await running.value
  }
}

extension Router {
  /// Adds work to a phase of the start, after earlier work of that phase. Throws
  /// ``RouterConfigurationError/alreadyStarted`` if the start has begun.
  public func atStart(
    _ phase: StartPhase, _ work: @escaping @Sendable (Router) async throws -> Void
  ) throws(RouterConfigurationError) {
    guard startup.add(phase, work) else { throw .alreadyStarted }
  }

  /// Runs the work of ``atStart(_:_:)``, phase by phase, and returns when all is done; later calls
  /// wait for the first. A server does this before it accepts connections, so that no call is made
  /// before the app is ready.
  ///
  /// Throws ``StartError`` if any work failed; the start is not tried again.
  public func start() async throws {
    try await startup.run(self)
  }
}

/// The reason why a module or service could not be registered when the router started.
public struct RegistrationError: Error, Sendable, CustomStringConvertible {
  /// The name of the module or service.
  public let name: String
  /// The error that was thrown.
  public let underlying: any Error

  public var description: String { "\"\(name)\" could not register: \(underlying)" }
}
