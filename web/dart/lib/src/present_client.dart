import 'values.dart';

/// A client of the session.
final class PresentClient {
  PresentClient(this._members);

  final Json _members;

  /// The client's id.
  String get client => stringOf(_members['client']) ?? '';

  /// The name of the program, as the client reports it.
  String? get name => stringOf(_members['name']);

  /// The version of the program.
  String? get version => stringOf(_members['version']);

  /// The platform that the program runs on.
  String? get platform => stringOf(_members['platform']);

  /// The page in which the client runs.
  String? get page => stringOf(_members['page']);

  /// The user of the client's token; a guest has the user of its inviter.
  String? get user => stringOf(_members['user']);

  /// Whether the client was invited, with limited rights.
  bool get isGuest => _members['guest'] == true;

  /// Whether the client has lost its connection, and may resume.
  bool get isAway => _members['away'] == true;
}
