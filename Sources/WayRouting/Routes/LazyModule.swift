import Synchronization

/// A part of an app that registers its handlers when its first route is called.
public final class LazyModule: Sendable {
  private enum LazyModuleState {
    case unloaded
    case loading(Task<Void, any Error>)
    case loaded
  }

  /// The name of the module in errors.
  package let name: String
  private let register: @Sendable () async throws -> Void
  private let state = Mutex(LazyModuleState.unloaded)

  init(_ name: String, _ register: @escaping @Sendable () async throws -> Void) {
    self.name = name
    self.register = register
  }

  /// Registers the module's handlers once, however many calls wait for it, and returns when it has.
  /// After a failure the next call tries again.
  package func load() async throws {
    let loading: Task<Void, any Error>? = state.withLock { state in
      switch state {
      case .loaded: return nil
      case .loading(let task): return task
      case .unloaded:
        let task = Task { try await self.register() }
        state = .loading(task)
        return task
      }
    }
    guard let loading else { return }
    let result = await loading.result
    state.withLock { state in
      guard case .loading(let own) = state, own == loading else { return }
      if case .success = result { state = .loaded } else { state = .unloaded }
    }
    try result.get()
  }
}
