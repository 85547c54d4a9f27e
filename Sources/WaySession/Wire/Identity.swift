/// Whose a session is: what the app makes of the token of `session.open`.
public struct Identity: Sendable, Hashable {
  /// The user, for ``Audience/user(_:)``; nil where there is none.
  public var user: String?
  /// Groups that the session is in, for ``Audience/group(_:)``.
  public var groups: Set<String>

  /// Nobody in particular, where nothing is given.
  public init(user: String? = nil, groups: Set<String> = []) {
    self.user = user
    self.groups = groups
  }
}
