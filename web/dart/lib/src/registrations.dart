import 'call.dart';
import 'client.dart';
import 'codes.dart';
import 'errors.dart';
import 'values.dart';

/// A host or a subscription that is registered with the server.
final class Registration {
  Registration(this.registered, this._stop, this._undo);

  /// Completes when the server has registered it, or with the error if the
  /// server has rejected it.
  final Future<void> registered;

  final void Function()? _stop;
  final Future<void> Function() _undo;

  /// Removes it. A handler of events is not called any more from now on; a host
  /// gets requests until the server has removed it.
  Future<void> cancel() async {
    final stop = _stop;
    if (stop != null) stop();
    await registered;
    await _undo();
  }
}

/// Registers the topics and hosts of this client with the server, and again
/// with each new session.
final class Registrations {
  Registrations(this._client);

  /// How often a registration is sent in one session, if it stays unknown
  /// whether a restarted server has received it.
  static const int maxAttempts = 5;

  final Client _client;

  /// Sends a registration in a session that has just been opened, before any
  /// other message.
  void sendFirst(String method, Json params) {
    _client.runDetached(_requestFirst(method, params));
  }

  /// Changes the registrations on the server. If the connection closes
  /// meanwhile, the next session is opened with the change; [settled] is called
  /// before that.
  Future<void> send(
    String method,
    Json params, [
    void Function()? settled,
  ]) async {
    try {
      await _request(method, params, false);
      if (settled != null) settled();
    } on BridgeException catch (error) {
      if (!_isLost(error)) rethrow;
      if (settled != null) settled();
      await _client.sessions.ready;
    }
  }

  /// Returns the registration of a request that was [sent], or of one that is
  /// part of opening the session. [remove] removes it in this client, [undo]
  /// also on the server. [stop] is called before [undo], at once.
  Registration registration(
    Future<void>? sent,
    void Function() remove, {
    required Future<void> Function() undo,
    void Function()? stop,
  }) {
    final registered = _awaitRegistration(sent, remove);
    // A caller that does not await it gets the failure from `errors`.
    registered.ignore();
    return Registration(registered, stop, undo);
  }

  Future<void> _requestFirst(String method, Json params) async {
    try {
      await _request(method, params, true);
    } on BridgeException catch (error) {
      if (!_isLost(error)) _reportRejection(error);
    }
  }

  Future<void> _awaitRegistration(
    Future<void>? sent,
    void Function() remove,
  ) async {
    try {
      if (sent == null) {
        await _client.sessions.ready;
      } else {
        await sent;
      }
    } on BridgeException catch (error) {
      remove();
      _reportRejection(error);
      rethrow;
    }
  }

  void _reportRejection(BridgeException error) => _client.report(error);

  /// Sends the request. If its outcome is unknown and the session is resumed,
  /// it is sent again, because registering twice has no further effect.
  Future<void> _request(String method, Json params, bool isFirst) async {
    final session = _client.sessions.ready;
    for (int left = maxAttempts; true; left -= 1) {
      try {
        await _client.outgoing.request(
          method,
          params,
          RequestOptions(isFirst: isFirst),
        );
        return;
      } on BridgeException catch (error) {
        final isOpen = _isLost(error) && error is! ConnectionClosedException;
        final isSame = identical(session, _client.sessions.ready);
        if (!isOpen || !isSame || left <= 1) rethrow;
      }
    }
  }

  /// Whether the session failed, not the request.
  bool _isLost(BridgeException error) =>
      error is ConnectionClosedException ||
      error.code == ErrorCode.outcomeUnknown;
}
