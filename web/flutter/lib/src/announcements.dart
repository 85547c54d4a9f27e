import 'call.dart';
import 'client.dart';
import 'codes.dart';
import 'errors.dart';
import 'values.dart';

/// Something that the server was told of, and that can be taken back.
final class Registration {
  Registration(this.registered, this._undo);

  /// Ends when the server knows of it, or with the error for which it does
  /// not.
  final Future<void> registered;

  final Future<void> Function() _undo;

  /// Takes it back.
  Future<void> cancel() async {
    await registered;
    await _undo();
  }
}

/// How the server is told of this client, its topics and hosts. A new session
/// has to be told again.
final class Announcements {
  Announcements(this._client);

  /// How often the same is told to one session, where servers that were
  /// restarted leave open whether they have heard it.
  static const int tries = 5;

  final Client _client;

  /// Tells a session that has just opened, before anything else.
  void tellFirst(String method, Json params) {
    _client.own(_first(method, params));
  }

  /// Changes what the server knows. When the connection ends meanwhile, the
  /// next session learns it as it opens; [settled] is called before.
  Future<void> tell(
    String method,
    Json params, [
    void Function()? settled,
  ]) async {
    try {
      await _request(method, params, false);
      if (settled != null) settled();
    } on BridgeError catch (error) {
      if (!_isLost(error)) rethrow;
      if (settled != null) settled();
      await _client.membership.ready;
    }
  }

  /// What was [told], or is told as the session opens, as something that can be
  /// taken back: by [remove] on this side, by [undo] on both.
  Registration undoable(
    Future<void>? told,
    void Function() remove,
    Future<void> Function() undo,
  ) {
    final registered = _registered(told, remove);
    // Who does not wait for it learns of the failure from the errors.
    registered.ignore();
    return Registration(registered, undo);
  }

  Future<void> _first(String method, Json params) async {
    try {
      await _request(method, params, true);
    } on BridgeError catch (error) {
      if (!_isLost(error)) _refused(error);
    }
  }

  Future<void> _registered(Future<void>? told, void Function() remove) async {
    try {
      if (told == null) {
        await _client.membership.ready;
      } else {
        await told;
      }
    } on BridgeError catch (error) {
      remove();
      _refused(error);
      rethrow;
    }
  }

  void _refused(BridgeError error) => _client.report(error);

  /// It does no harm twice: where its outcome is unknown, and the session goes
  /// on, it is asked again.
  Future<void> _request(String method, Json params, bool isFirst) async {
    final session = _client.membership.ready;
    for (int left = tries; true; left -= 1) {
      try {
        await _client.calling.request(method, params, Asking(isFirst: isFirst));
        return;
      } on BridgeError catch (error) {
        final isOpen = _isLost(error) && error is! ConnectionClosed;
        final isSame = identical(session, _client.membership.ready);
        if (!isOpen || !isSame || left <= 1) rethrow;
      }
    }
  }

  /// Whether it was the session that failed, and not what was asked of it.
  bool _isLost(BridgeError error) =>
      error is ConnectionClosed || error.code == ErrorCode.outcomeUnknown;
}
