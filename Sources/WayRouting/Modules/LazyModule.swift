import Synchronization

/// A part of an app that registers when its first route is called.
public final class LazyModule: Sendable {
  private enum State {
    case waiting
    case loading(Task<Void, any Error>)
    case loaded
  }

  /// For errors.
  package let name: String
  private let register: @Sendable (Router) async throws -> Void
  private let state = Mutex(State.waiting)

  init(_ name: String, _ register: @escaping @Sendable (Router) async throws -> Void) {
    self.name = name
    self.register = register
  }

  /// Returns when the module has registered, which it does once, however many calls wait for it.
  /// After a failure the next call tries again.
  package func load(into router: Router) async throws {
    let loading: Task<Void, any Error>? = state.withLock { state in
      switch state {
      case .loaded: return nil
      case .loading(let task): return task
      case .waiting:
        let task = Task { try await self.register(router) }
        state = .loading(task)
        return task
      }
    }
    guard let loading else { return }
    let result = await loading.result
    state.withLock { state in
      guard case .loading(let own) = state, own == loading else { return }
      if case .success = result { state = .loaded } else { state = .waiting }
    }
    try result.get()
  }
}

extension Router {
  /// Registers routes whose module registers their handlers when one of them is called first; that
  /// call, and others that come meanwhile, wait for it and are then served. Until then whoever asks
  /// where a URI leads is told of the routes, and the module stays as it is.
  ///
  /// - Parameters:
  ///   - name: names the module in errors.
  ///   - routes: what the module declares; their own handlers are not looked at.
  ///   - names: routes that are declared already, for instance by a table.
  ///   - register: gives each of the routes its handler, by ``handle(_:with:)``. When it throws,
  ///     the call fails, and the next one tries again.
  ///
  /// Throws, with nothing registered, as ``register(contentsOf:)`` and ``handle(_:with:)`` do, and
  /// ``RouterError/moduleClash(route:module:)`` for a route of a module that has not registered
  /// yet.
  public func module(
    _ name: String, routes: [Route] = [], serving names: [String] = [],
    register: @escaping @Sendable (Router) async throws -> Void
  ) throws(RouterError) {
    let module = LazyModule(name, register)
    try change { (state) throws(RouterError) in
      var next = state
      for name in routes.map(\.name) + names {
        if let other = next.module(of: name) {
          throw .moduleClash(route: name, module: other.name)
        }
      }
      for route in routes { _ = try next.add(route.with(.lazy(module)), replacing: false) }
      for name in names { try next.bind(name, to: .lazy(module)) }
      state = next
    }
  }
}
