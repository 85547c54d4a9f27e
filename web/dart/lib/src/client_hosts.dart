import 'dart:async';

import 'call.dart';
import 'calls.dart';
import 'client.dart';
import 'codes.dart';
import 'errors.dart';
import 'failures.dart';
import 'host_handlers.dart';
import 'host_registry.dart';
import 'hosted_pages.dart';
import 'idempotency_results.dart';
import 'incoming_requests.dart';
import 'registrations.dart';
import 'values.dart';

/// The hosts of a client. Registers them with the server, and passes requests
/// and notifications to their handlers.
final class ClientHosts {
  ClientHosts(this._client)
    : _registrations = Registrations(_client),
      calls = Calls(_client);

  final Client _client;
  final Registrations _registrations;

  /// The calls that this client makes.
  final Calls calls;

  /// The handlers of the hosts.
  late final HostHandlers handlers = HostHandlers(
    calls,
    IdempotencyResults(_client.clock),
  );
  final StreamController<String> _resumed = StreamController<String>.broadcast(
    sync: true,
  );

  /// Whether the current session received the declarations when it was opened.
  bool _isDeclared = false;

  /// Whether the server was restarted since the last comparison of the pages
  /// with the server's state.
  bool _isRestarted = false;

  /// The ids of pages of this client that are on top again.
  Stream<String> get resumed => _resumed.stream;

  /// Returns the handler of a request; null if there is none.
  RequestHandler? requestHandler(String method) => handlers.handler(method);

  /// Returns the handler of a notification; null if there is none.
  FutureOr<Object?> Function(Json params)? notificationHandler(String method) {
    if (method == 'page.resume') return _resume;
    if (method.startsWith('page.') || method.startsWith('task.')) return null;
    if (method == 'router.intercept') return null;
    final handler = handlers.handler(method);
    if (handler == null) return null;
    return (Json params) => handler(params, _notificationRequest());
  }

  /// Returns the declarations for `session.open`. Hosts that are added later
  /// are registered one by one.
  List<Json>? declareHosts() {
    _isDeclared = true;
    final all = handlers.declarations;
    return all.isEmpty ? null : _encoded(all);
  }

  /// Called when a session was opened or resumed. [page]: the page in which the
  /// client runs; [isAfterRestart]: the session was resumed after a restart of
  /// the server.
  void opened(String? page, bool isAfterRestart) {
    handlers.page = page;
    // The stack of a restarted server can be an older one. It still waits for
    // the responses to its earlier requests.
    if (isAfterRestart) _isRestarted = true;
  }

  /// Called when the session has ended.
  void ended() {
    _isDeclared = false;
  }

  /// Called when the session was lost: cancels its requests, and closes the
  /// pages that this client showed. Returns their ids.
  List<String> clear(String reason) {
    final why = 'The session was lost ($reason)';
    _client.peer.incoming.interrupt(failure(ErrorCode.outcomeUnknown, why));
    _isRestarted = false;
    handlers.clearGuards();
    final ids = <String>[];
    for (final shown in handlers.pages.clear()) {
      ids.add(shown.page.id);
      _client.runDetached(_closePage(shown));
    }
    return ids;
  }

  /// Updates the registrations of a resumed session.
  void update() {
    if (_isRestarted) _client.runDetached(_syncAfterRestart());
  }

  /// Registers a host with the server.
  Registration register(HostEntry entry) {
    final params = <String, Object?>{
      'hosts': _encoded(<Declaration>[entry.declaration]),
    };
    return _registrations.registration(
      _isDeclared ? _registrations.send('host.register', params) : null,
      entry.remove,
      undo: () => _registrations.send('host.unregister', params, entry.remove),
    );
  }

  List<Json> _encoded(List<Declaration> declarations) {
    return declarations.map((Declaration each) => each.toJson()).toList();
  }

  /// Compares the pages after all messages from before the restart have
  /// arrived, because those can still open pages.
  Future<void> _syncAfterRestart() async {
    try {
      await _client.outgoing.ping();
    } on BridgeException {
      // The next connection tries again.
      return;
    }
    _isRestarted = false;
    final hasHosts = handlers.declarations.any(
      (Declaration each) => each.kind == 'page',
    );
    if (!hasHosts && handlers.pages.isEmpty) return;
    try {
      await handlers.pages.sync(
        _requestSync,
        (Object cause) => _reportFailure('open', cause),
        handlers.ownCall,
      );
    } on BridgeException catch (error) {
      final isLost = error is ConnectionClosedException;
      if (!isLost && error.code != ErrorCode.outcomeUnknown) {
        _client.report(error);
      }
    }
  }

  Future<Json> _requestSync(Json params) async {
    const options = RequestOptions(isFirst: true);
    return objectOf(
      await _client.outgoing.request('page.sync', params, options),
    );
  }

  Future<Object?> _resume(Json params) async {
    final id = stringOf(params['page']);
    if (id == null) return null;
    _resumed.add(id);
    try {
      await handlers.pages.resume(id, params);
    } catch (cause) {
      _reportFailure('resumed', cause);
    }
    return null;
  }

  Future<void> _closePage(HostedPage shown) async {
    try {
      await shown.close('failed', <String, Object?>{});
    } on BridgeException catch (error) {
      _reportFailure('close', error);
    }
  }

  /// The request for the handler of a notification. It has no response.
  IncomingRequest _notificationRequest() {
    return IncomingRequest(
      null,
      (IncomingRequest request) => false,
      (Object? value) {},
    );
  }

  void _reportFailure(String what, Object cause) {
    final why = 'The function $what of a host failed: ${messageOf(cause)}';
    _client.report(failure(ErrorCode.internal, why, cause: cause));
  }
}
