import WayNavigation
import WayPatterns
import WayValues

/// The parts of a router that a snapshot holds as they are set. Until the snapshot is made, `nil`
/// leaves a part to a table.
struct RouterSettings: Sendable {
  /// The table that was loaded last; `nil` for none.
  var table: TableStamp?
  /// The names of the routes that tables declare, even if other code has replaced them.
  var declaredNames: Set<UTF8Key> = []
  /// The names of the routes that code has given a handler and that no table declares any more.
  var orphanedHandlers: Set<UTF8Key> = []
  var undefinedRouteHandler: UndefinedRouteHandler?
  var failedCallHandler: FailedCallHandler?
  /// Whether `+` in a query is a space.
  var plusIsSpace: Bool?
  /// The first page of each tab, in order.
  var tabs: [RouteURI]?
  /// The targets of an older server's actions.
  var actions: [String: PatternTarget]?
  /// The topics that tables declare, by name.
  var topics: [String: DeclaredTopic] = [:]
  var hooks: [RouteHook] = []
  /// The groups that routes were added to.
  var addedGroups = AddedGroups()
}
