import Synchronization

/// The phases of an app's start, in their order.
public enum StartPhase: String, Sendable, CaseIterable {
  /// Tables are loaded.
  case table
  /// Interceptors are added, before there is anything that they could miss.
  case interceptors
  /// Pages are registered.
  case pages
  /// Tasks and services are registered.
  case tasks
  /// Routes are put into groups.
  case groups
  /// All is there; what has to run before the first call.
  case ready
}

/// Something that a start did not get through.
public struct StartError: Error, Sendable, CustomStringConvertible {
  /// The phase in which it failed. Those behind it have not begun.
  public let phase: StartPhase
  /// What was thrown.
  public let underlying: any Error

  public var description: String {
    "the start failed in the phase '\(phase.rawValue)': \(underlying)"
  }
}

/// What an app does when it starts, phase by phase, once.
final class RouterStartup: Sendable {
  typealias Work = @Sendable (Router) async throws -> Void

  private struct Held {
    var work: [(phase: StartPhase, work: Work)] = []
    /// What need not be done a second time.
    var known: Set<ObjectIdentifier> = []
    var running: Task<Void, any Error>?
  }

  private let held = Mutex(Held())

  /// False when the start has begun.
  func add(
    _ phase: StartPhase, once type: ObjectIdentifier? = nil, _ work: @escaping Work
  ) -> Bool {
    held.withLock { held in
      guard held.running == nil else { return false }
      if let type, !held.known.insert(type).inserted { return true }
      held.work.append((phase, work))
      return true
    }
  }

  func run(_ router: Router) async throws {
    let running = held.withLock { held in
      if let running = held.running { return running }
      let work = held.work
      held.work = []
      let task = Task {
        for phase in StartPhase.allCases {
          for entry in work where entry.phase == phase {
            do { try await entry.work(router) } catch {
              throw StartError(phase: phase, underlying: error)
            }
          }
        }
      }
      held.running = task
      return task
    }
    try await running.value
  }
}

extension Router {
  /// Has something done in a phase of the start, behind what was given for that phase before. When
  /// the start has begun already this throws ``RouterError/started``.
  public func atStart(
    _ phase: StartPhase, _ work: @escaping @Sendable (Router) async throws -> Void
  ) throws(RouterError) {
    guard startup.add(phase, work) else { throw .started }
  }

  /// Carries out what ``atStart(_:_:)`` was given, phase by phase, and returns when all is done;
  /// later calls wait for the first. A server does this before it takes connections, so that no
  /// call comes before the app is ready.
  ///
  /// Throws ``StartError`` when something failed; the start is not tried again.
  public func start() async throws {
    try await startup.run(self)
  }
}
