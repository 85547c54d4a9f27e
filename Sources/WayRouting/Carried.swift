import Synchronization
import WayNavigation
import WayPatterns
import WayValues

/// What a call from Swift code to Swift code takes along, and what it brings back. It never leaves
/// the process.
package final class Carried: Sendable, Hashable {
  fileprivate let values: [String: any Sendable]
  fileprivate let wanted: Wanted?
  private let back = Mutex<(any Sendable)?>(nil)

  fileprivate struct Wanted: Sendable {
    let type: String
    let fits: @Sendable (any Sendable) -> Bool
  }

  /// Nil where there is nothing to carry.
  package init?(_ values: [String: any Sendable]) {
    guard !values.isEmpty else { return nil }
    self.values = values
    wanted = nil
  }

  /// For a caller that wants a value carried back.
  package init<Back: Sendable>(_ values: [String: any Sendable], back: Back.Type) {
    self.values = values
    wanted = Wanted(type: "\(back)", fits: { $0 is Back })
  }

  /// What is carried back.
  package var brought: (any Sendable)? { back.withLock { $0 } }

  /// What was carried back by one that left the call to another does not count.
  package func begin() {
    guard wanted != nil else { return }
    back.withLock { $0 = nil }
  }

  fileprivate func bring(_ value: any Sendable) {
    back.withLock { $0 = value }
  }

  /// Why a URI that is not served by Swift code of this process cannot take the call.
  package func refusal(of uri: String) -> ResolutionError {
    var things = values.keys.sorted().map { "'\($0.brief)'" }
    if let wanted { things.append("a \(wanted.type) in reply") }
    return .notOverTheWire(
      "\(things.joined(separator: ", ")) cannot be carried: no Swift code of this process serves "
        + "'\(uri.brief)'"
    )
  }

  package static func == (left: Carried, right: Carried) -> Bool { left === right }

  package func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}

extension Carried? {
  fileprivate func value<FlatHostIndex: Sendable>(
    _ name: String, as type: FlatHostIndex.Type
  ) throws(ResolutionError) -> FlatHostIndex {
    guard let value = self?.values[name] else {
      throw .uncarried(
        "nothing is carried as '\(name.brief)': a \(type) is wanted, which only a caller in Swift "
          + "can give"
      )
    }
    guard let model = value as? FlatHostIndex else {
      throw .uncarried(
        "what is carried as '\(name.brief)' is a \(Swift.type(of: value)), not a \(type)")
    }
    return model
  }
}

extension ResolutionError {
  fileprivate static func uncarried(_ message: String) -> ResolutionError {
    .invalidParameters([PatternParameterFault(path: "$", message: message)])
  }
}

extension Call {
  /// What the caller, Swift code of this process, has the call carry under a name: a model object,
  /// a closure.
  ///
  /// Throws ``RoutingError/invalidParameters(_:)`` where there is no such value of the type, as in
  /// every call that came over the wire; a handler that lets it through answers its caller 2422.
  public func carried<FlatHostIndex: Sendable>(
    _ name: String, as type: FlatHostIndex.Type = FlatHostIndex.self
  ) throws(ResolutionError) -> FlatHostIndex {
    try carried.value(name, as: type)
  }

  /// Gives a value of any type to a caller that asked for it with `invoke(_:carryingBack:)`. To be
  /// called before the handler returns, which returns what this gives.
  ///
  /// ```swift
  /// try router.task("action://photo") { call in
  ///   try call.carryBack([UInt8](repeating: 0, count: 64))
  /// }
  /// ```
  ///
  /// Throws ``RoutingError/notOverTheWire(_:)`` where the caller takes a `Value`: a client, or
  /// Swift code that did not ask; a handler that lets it through answers 2405. Throws ``CallError``
  /// (-32603) where the caller asked for another type.
  public func carryBack<Back: Sendable>(_ value: Back) throws -> Value {
    guard let carried, let wanted = carried.wanted else {
      throw ResolutionError.notOverTheWire(
        "a \(Back.self) cannot be the reply: only Swift code that asks for it (carryingBack) "
          + "takes it"
      )
    }
    guard wanted.fits(value) else {
      throw CallError(
        code: -32603,
        message:
          "'\(uri.text.brief)' carries a \(Back.self) back, its caller wants a \(wanted.type)"
      )
    }
    carried.bring(value)
    return .null
  }
}
