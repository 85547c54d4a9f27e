/// Whom the app's side speaks to.
public enum Audience: Sendable, Hashable {
  /// Every session.
  case all
  /// One session, by its id, as ``SessionInfo/id`` and `Navigator.session` tell it.
  case session(String)
  /// One client of a session, by its name, as ``ClientInfo/id`` tells it.
  case client(String, session: String)
  /// The sessions of a user, as ``Identity/user`` names it.
  case user(String)
  /// The sessions of a group.
  case group(String)
}
