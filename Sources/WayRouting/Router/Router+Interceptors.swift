import WayNavigation
import WayValues

extension Router {
  /// Adds an interceptor that decides at once, or replaces the one with the same name. It runs on
  /// the thread of the caller's session and must not block. Among interceptors of the same
  /// priority, the first added sees a call first.
  ///
  /// If it throws a ``CallError`` with an application code, the caller receives that error. Any
  /// other error refuses the call (2423).
  public func intercept(
    _ name: String, on scope: Interceptor.InterceptorScope = .all(), priority: Int = 0,
    _ body: @escaping @Sendable (Call) throws -> Interception
  ) {
    add(Interceptor(name: name, priority: priority, scope: scope, body: .immediate(body)))
  }

  /// Adds an interceptor that may wait, at most `timeout` for one call; otherwise as the one that
  /// decides at once.
  public func intercept(
    _ name: String, on scope: Interceptor.InterceptorScope = .all(), priority: Int = 0,
    timeout: Duration = .seconds(60),
    _ body: @escaping @Sendable (Call) async throws -> Interception
  ) {
    add(
      Interceptor(
        name: name, priority: priority, scope: scope, body: .asynchronous(body, timeout: timeout)))
  }

  private func add(_ interceptor: Interceptor) {
    change { $0.interceptors.put(interceptor, named: \.name) }
  }

  /// Removes an interceptor; returns `false` if there is none. It still decides the calls that it
  /// holds.
  @discardableResult
  public func removeInterceptor(_ name: String) -> Bool {
    change { $0.interceptors.remove(name, named: \.name) }
  }
}

extension Router {
  /// Adds a gate, or replaces the one with the same name, also one that a table declares. Calls that
  /// wait at a gate continue under the conditions of the one that they have met.
  public func add(_ gate: Gate) {
    change { $0.gates.put(gate, named: \.name) }
  }

  /// Removes a gate that was added; returns `false` if there is none.
  @discardableResult
  public func removeGate(_ name: String) -> Bool {
    change { $0.gates.remove(name, named: \.name) }
  }
}

extension Router {
  /// Adds a hook for every page and task of every session, for statistics and logs, or replaces the
  /// one with the same name. It runs on the thread of the session, in the order of the events, and
  /// must not block. It also receives the caller; for a page, its opener.
  public func addHook(_ name: String, _ hook: @escaping @Sendable (RouteEvent, Caller) -> Void) {
    let added = RouteHook(name: name, handler: hook)
    change { $0.settings.hooks.put(added, named: \.name) }
  }

  /// Removes a hook; returns `false` if there is none.
  @discardableResult
  public func removeHook(_ name: String) -> Bool {
    change { $0.settings.hooks.remove(name, named: \.name) }
  }
}

// A list in which each name is unique.
extension Array {
  /// Replaces the entry with the same name, or appends the entry.
  mutating func put(_ entry: Element, named name: (Element) -> String) {
    if let place = firstIndex(where: { name($0).isSameUTF8(as: name(entry)) }) {
      self[place] = entry
    } else {
      append(entry)
    }
  }

  /// Removes the entry with a name; returns `false` if there is none.
  mutating func remove(_ removed: String, named name: (Element) -> String) -> Bool {
    guard let place = firstIndex(where: { name($0).isSameUTF8(as: removed) }) else { return false }
    remove(at: place)
    return true
  }
}
