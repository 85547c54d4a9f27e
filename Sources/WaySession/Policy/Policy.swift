/// The rules of access: the hosts and origins that may connect, and the calls that clients may
/// make. Calls are denied by default, and a denial overrides every permission.
///
/// Without ``rules``, every connected client may call all methods except `table.…`, `session.list`
/// and `session.push`. Agents may call nothing that no rule allows.
public struct Policy: Sendable, Hashable {
  /// Names of the server in addition to `localhost`, each with or without its port.
  public var hosts: [String]
  /// Origins whose pages may connect, in addition to the server's own.
  public var origins: [String]
  /// The rules; nil if there are none. A call that no rule allows is denied.
  public var rules: [Rule]?

  /// Creates a policy. By default, the server's own pages and local programs can connect, and may
  /// call every method.
  public init(hosts: [String] = [], origins: [String] = [], rules: [Rule]? = nil) {
    self.hosts = hosts
    self.origins = origins
    self.rules = rules
  }

  /// One rule. It matches a call if each of its selectors does.
  public struct Rule: Sendable, Hashable {
    /// The effect of a rule on the calls that it matches.
    public enum Effect: Sendable, Hashable {
      /// The calls are allowed, unless another rule denies them.
      case allow
      /// The calls are denied, whatever other rules allow.
      case deny
    }

    /// The name, unique in the policy; errors of denied calls contain it.
    public var name: String
    /// The rule's effect.
    public var effect: Effect
    /// Names of methods; a `*` at the end matches any suffix.
    public var methods: [String]
    /// The origins of callers, as in ``Policy/origins``. A caller without an `Origin` matches none.
    public var origins: [String]?
    /// The groups of callers. A caller matches if it is in one of them.
    public var groups: [String]?
    /// The users of callers. A guest matches none.
    public var subjects: [String]?
    /// The ids of agents, as their tokens name them; `*` is every agent. A rule that allows calls
    /// matches an agent only if it has agents, and then no other caller.
    public var agents: [String]?
    /// Names of routes, or patterns of URIs, which contain a colon or begin with `/`. A rule with
    /// routes matches only calls that concern a route.
    public var routes: [String]?
    /// Schemes that a host registers. A rule with schemes matches only `host.register`.
    public var schemes: [String]?
    /// Topics; a `*` at the end matches any suffix. A rule with topics matches only events that
    /// clients publish: `events.publish`, and `event` in `session.push`.
    public var topics: [String]?
    /// Whether the rule also matches hosts for all sessions, `host.register` with the scope
    /// `server`.
    public var coversServer: Bool
    /// Whether the rule also matches interceptors, `host.register` with the kind `interceptor`.
    public var coversInterceptors: Bool

    /// Creates a rule, by default for every caller and route.
    public init(
      _ name: String, _ effect: Effect, _ methods: [String], origins: [String]? = nil,
      groups: [String]? = nil, subjects: [String]? = nil, agents: [String]? = nil,
      routes: [String]? = nil, schemes: [String]? = nil, topics: [String]? = nil,
      coversServer: Bool = false,
      coversInterceptors: Bool = false
    ) {
      self.name = name
      self.effect = effect
      self.methods = methods
      self.origins = origins
      self.groups = groups
      self.subjects = subjects
      self.agents = agents
      self.routes = routes
      self.schemes = schemes
      self.topics = topics
      self.coversServer = coversServer
      self.coversInterceptors = coversInterceptors
    }
  }
}
