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
  private let register: @Sendable (Router) async throws -> Void
  private let state = Mutex(LazyModuleState.unloaded)

  init(_ name: String, _ register: @escaping @Sendable (Router) async throws -> Void) {
    self.name = name
    self.register = register
  }

  /// Registers the module's handlers once, however many calls wait for it, and returns when it has.
  /// After a failure the next call tries again.
  package func load(into router: Router) async throws {
    let loading: Task<Void, any Error>? = state.withLock { state in
      switch state {
      case .loaded: return nil
      case .loading(let task): return task
      case .unloaded:
        let task = Task { try await self.register(router) }
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

extension Router {
  /// Registers routes whose module registers their handlers when one of them is called first. That
  /// call, and others in the meantime, wait for the module and are then served. Until then lookups
  /// find the routes without loading the module.
  ///
  /// - Parameters:
  ///   - name: the name of the module in errors.
  ///   - routes: the routes that the module declares; their own handlers are ignored.
  ///   - names: routes that are declared already, for instance by a table.
  ///   - register: gives each of the routes its handler, by ``handle(_:with:)``. If it throws, the
  ///     call fails, and the next one tries again.
  ///
  /// Throws, with nothing registered, the errors of ``register(contentsOf:)`` and
  /// ``handle(_:with:)``. Throws ``RouterConfigurationError/moduleConflict(route:module:)`` for a
  /// route of a module that has not registered yet.
  public func registerModule(
    _ name: String, routes: [Route] = [], handling names: [String] = [],
    register: @escaping @Sendable (Router) async throws -> Void
  ) throws(RouterConfigurationError) {
    let module = LazyModule(name, register)
    try change { (state) throws(RouterConfigurationError) in
      var next = state
      for name in routes.map(\.name) + names {
        if let other = next.module(of: name) {
          throw .moduleConflict(route: name, module: other.name)
        }
      }
      for route in routes { _ = try next.add(route.with(.lazy(module)), replacing: false) }
      for name in names { try next.bind(name, to: .lazy(module)) }
      state = next
    }
  }
}
