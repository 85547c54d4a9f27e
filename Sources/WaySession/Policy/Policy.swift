/// Who comes in, and who may call what: deny by default, and a denial wins.
///
/// Without ``rules`` everybody who came in may call everything but `table.…`, `session.list` and
/// `session.push`.
public struct Policy: Sendable, Hashable {
  /// Names of the server beside `localhost`, each with its port or without.
  public var hosts: [String]
  /// Origins whose pages may connect, beside the server's own.
  public var origins: [String]
  /// Nil for none; what none of them allows is refused.
  public var rules: [Rule]?

  /// Lets in the server's own pages and programs of this machine, and all of them call everything,
  /// where nothing else is given.
  public init(hosts: [String] = [], origins: [String] = [], rules: [Rule]? = nil) {
    self.hosts = hosts
    self.origins = origins
    self.rules = rules
  }

  /// One rule; it fits a call where each selector that it has does.
  public struct Rule: Sendable, Hashable {
    /// What a rule does to the calls that it fits.
    public enum Effect: Sendable, Hashable {
      /// They are taken, unless another rule denies them.
      case allow
      /// They are refused, whatever other rules allow.
      case deny
    }

    /// Unique in the policy; a refusal names it.
    public var name: String
    /// What it does.
    public var effect: Effect
    /// Names of methods; a `*` at the end stands for any.
    public var methods: [String]
    /// The origins of callers, as in ``Policy/origins``; a caller without Origin fits none.
    public var origins: [String]?
    /// The groups of which a caller is in one.
    public var groups: [String]?
    /// Users. A guest is none of them.
    public var subjects: [String]?
    /// Names of routes, or patterns that URIs match, which hold a colon or begin with `/`: with
    /// these, the rule fits only calls about a route.
    public var routes: [String]?
    /// Schemes that a host declares: with these, the rule fits only `host.register`.
    public var schemes: [String]?
    /// Whether it fits hosts for all sessions too, `host.register` with the scope `server`.
    public var coversServer: Bool

    /// A rule for every caller and route, where nothing else is given.
    public init(
      _ name: String, _ effect: Effect, _ methods: [String], origins: [String]? = nil,
      groups: [String]? = nil, subjects: [String]? = nil, routes: [String]? = nil,
      schemes: [String]? = nil, coversServer: Bool = false
    ) {
      self.name = name
      self.effect = effect
      self.methods = methods
      self.origins = origins
      self.groups = groups
      self.subjects = subjects
      self.routes = routes
      self.schemes = schemes
      self.coversServer = coversServer
    }
  }
}
