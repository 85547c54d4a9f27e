import WayNavigation
import WayPatterns
import WayValues

/// All declarations of a route table.
package struct RouterDeclarations: Sendable {
  /// The version and hash of the table.
  package var stamp = TableStamp.none
  package var routes: [Route] = []
  package var redirects: [Redirect] = []
  package var schemes: [SchemeDeclaration] = []
  /// The first page of each tab, in order.
  package var tabs: [RouteURI] = []
  /// The targets of an older server's actions.
  package var actions: [String: PatternTarget] = [:]
  /// Whether `+` in a query is a space.
  package var plusIsSpace = true
  /// The topics of the app's events, by name.
  package var topics: [String: DeclaredTopic] = [:]
  /// The gates, in order.
  package var gates: [Gate] = []

  package init() {}
}

/// The declarations of tables except routes and redirects. Settings of other code override them.
struct DeclaredRules: Sendable {
  private var schemes: [String: SchemeDeclaration] = [:]
  private(set) var tabs: [RouteURI] = []
  private(set) var actions: [String: PatternTarget] = [:]
  private(set) var plusIsSpace = true
  private var topics: [String: DeclaredTopic] = [:]
  private var gates: [Gate] = []

  mutating func add(_ declarations: RouterDeclarations) {
    for scheme in declarations.schemes { schemes[scheme.name] = scheme }
    if !declarations.tabs.isEmpty { tabs = declarations.tabs }
    if !declarations.actions.isEmpty { actions = declarations.actions }
    plusIsSpace = declarations.plusIsSpace
    topics.merge(declarations.topics) { $1 }
    for gate in declarations.gates { gates.put(gate, named: \.name) }
  }

  /// Returns the gates of other code, then the declared ones that do not have the name of one.
  func completing(_ added: [Gate]) -> [Gate] {
    added + gates.filter { gate in !added.contains { $0.name.isSameUTF8(as: gate.name) } }
  }

  /// Returns the settings; those of other code override the declared ones.
  func completing(_ settings: RouterSettings) -> RouterSettings {
    var settings = settings
    settings.plusIsSpace = settings.plusIsSpace ?? plusIsSpace
    settings.tabs = settings.tabs ?? tabs
    settings.actions = settings.actions ?? actions
    settings.topics = topics
    return settings
  }

  /// Returns the rules of all schemes; those of other code override the declared ones.
  func completing(_ rules: [String: RouterSchemeTable.SchemeRule]) -> [String: RouterSchemeTable
    .SchemeRule]
  {
    var rules = rules
    for (name, scheme) in schemes {
      rules[name] = rules[name, default: .init()].addingDefaults(scheme)
    }
    return rules
  }
}
