import Synchronization
import WayNavigation
import WayRouting
import WayValues

/// A navigator of a session in which every call fails.
struct UnavailableNavigator: Navigator {
  var session: String { "s" }
  func open(
    _ uri: String, params: ValueObject, exts: ValueObject, style: Style?, timeout: Duration?,
    attachments: [String: any Sendable]
  ) async throws -> Outcome { throw Declined() }
  func invoke(
    _ uri: String, params: ValueObject, exts: ValueObject, timeout: Duration?,
    attachments: [String: any Sendable]
  ) async throws -> Value { throw Declined() }
  func invoke<Back: Sendable>(
    _ uri: String, params: ValueObject, exts: ValueObject, timeout: Duration?,
    attachments: [String: any Sendable], returning: Back.Type
  ) async throws -> Back { throw Declined() }
  func canOpen(_ uri: String) async -> Bool { false }
  func call(page: String, _ method: String, params: ValueObject) async throws -> Value {
    throw Declined()
  }
  func back(
    _ target: BackTarget<String>, result: PageResult?, exts: ValueObject
  ) async throws -> NavigationChange { throw Declined() }
  func finish(
    _ result: PageResult?, page: String?, exts: ValueObject
  ) async throws -> NavigationChange { throw Declined() }
  func edit(
    _ remove: PageRange<String>?, opening pages: [AddedPage], exts: ValueObject
  ) async throws -> NavigationChange { throw Declined() }
  func selectTab(_ index: Int) async throws -> NavigationChange { throw Declined() }
  func selectTab(_ uri: String) async throws -> NavigationChange { throw Declined() }
  func setGate(_ name: String, isOpen: Bool) async throws { throw Declined() }
  func stack() async -> NavigationStack { NavigationStack() }
  func contains(_ page: String) async -> Page? { nil }
}

/// A clock that only a test advances.
final class ManualClock: Sendable {
  private let now = Mutex<Int64>(1_000_000)

  var milliseconds: Int64 { now.withLock { $0 } }

  func advance(_ milliseconds: Int64) { now.withLock { $0 += milliseconds } }
}
