import 'dart:async';

import 'call.dart';
import 'client.dart';
import 'codes.dart';
import 'errors.dart';
import 'failures.dart';
import 'models.dart';
import 'options.dart';
import 'registrations.dart';
import 'topics.dart';
import 'values.dart';

/// The subscriptions of a client: its topics, the expiry of its token, and
/// changes of the server's route table.
final class Subscriptions {
  Subscriptions(this._client, this._options) : _topics = Topics(_client);

  final Client _client;
  final BridgeOptions _options;
  final Topics _topics;
  final StreamController<int> _expiring = StreamController<int>.broadcast(
    sync: true,
  );
  final StreamController<Json> _tables = StreamController<Json>.broadcast(
    sync: true,
  );
  Json? _table;

  /// Emits before the client's token expires: the time, in milliseconds since
  /// 1970.
  Stream<int> get expiring => _expiring.stream;

  /// `version` and `hash` of each changed route table.
  Stream<Json> get tables => _tables.stream;

  /// Subscribes to topics.
  Registration subscribe(List<String> topics, EventHandler handler) {
    return _topics.subscribe(topics, handler);
  }

  /// The events of topics. The client is subscribed as long as the stream has a
  /// listener.
  Stream<BridgeEvent> events(List<String> topics) {
    Registration? registration;
    late final StreamController<BridgeEvent> controller;
    controller = StreamController<BridgeEvent>(
      onListen: () {
        final made = subscribe(topics, (BridgeEvent event) {
          if (!controller.isClosed) controller.add(event);
        });
        registration = made;
        _client.runDetached(_closeWithClient(made, controller));
      },
      onCancel: () {
        final made = registration;
        if (made != null) _client.runDetached(_unsubscribe(made));
      },
    );
    return controller.stream;
  }

  /// Receives an `event`.
  void receive(Json params) {
    final topic = params['topic'];
    if (topic is! String) return;
    final data = params['data'];
    if (topic == 'session.expiring') {
      _client.runDetached(_renewToken(objectOf(data)));
    }
    if (topic == 'table.changed') _compare(objectOf(data));
    if (topic == 'route.invalidResult') _reportResult(objectOf(data));
    _topics.deliver(
      BridgeEvent(
        topic,
        data,
        intOf(params['at']) ?? 0,
        stringOf(params['client']),
      ),
    );
  }

  /// Updates the subscriptions of a session that has just been opened or
  /// resumed. [isNewSession]: it has no subscriptions.
  void update(bool isNewSession) => _topics.update(isNewSession);

  /// Compares the route table of the open session with the previous one.
  void compare(SessionInfo? session) {
    if (session != null) _compare(session.table);
  }

  void _compare(Json current) {
    final table = <String, Object?>{
      'version': current['version'],
      'hash': current['hash'],
    };
    final previous = _table;
    _table = table;
    if (previous == null) return;
    final isSame =
        previous['version'] == table['version'] &&
        previous['hash'] == table['hash'];
    if (!isSame) _tables.add(table);
  }

  /// Reports a result of this client that does not fit the route table. The
  /// server sends `route.invalidResult` to no other client.
  void _reportResult(Json data) {
    final faults = <String>[];
    for (final fault in listOf(data['errors'])) {
      final members = objectOf(fault);
      faults.add('${members['path']}: ${members['message']}');
    }
    _client.report(
      bridgeException(
        ErrorCode.hostFailed,
        'The result of this client for "${data['uri']}" does not fit the route '
        'table: ${faults.join('; ')}',
        data: <String, Object?>{
          'kind': 'invalidResult',
          'retryable': false,
          'errors': data['errors'],
        },
      ),
    );
  }

  /// Handles `session.expiring`. The server sends it to the client whose token
  /// expires, and, like every event, to other clients that subscribed.
  Future<void> _renewToken(Json data) async {
    final session = _client.sessions.session;
    if (session == null || data['client'] != session.client) return;
    final expiresAt = intOf(data['expiresAt']);
    if (expiresAt != null) _expiring.add(expiresAt);
    final token = _options.token;
    if (token == null) return;
    try {
      final renewed = await token();
      if (!identical(session, _client.sessions.session)) return;
      final answer = await _client.outgoing.request(
        'session.renew',
        <String, Object?>{'token': renewed},
        const RequestOptions(isFirst: true),
      );
      session.update(<String, Object?>{
        'expiresAt': objectOf(answer)['expiresAt'],
      });
    } catch (cause) {
      // The next session begins with a new token.
      if (!identical(session, _client.sessions.session)) return;
      final why = 'The token could not be renewed: ${messageOf(cause)}';
      _client.report(
        cause is BridgeException
            ? cause
            : failure(ErrorCode.notAuthenticated, why, cause: cause),
      );
    }
  }

  Future<void> _closeWithClient(
    Registration made,
    StreamController<BridgeEvent> controller,
  ) async {
    try {
      await made.registered;
      await _client.closed;
    } on BridgeException catch (error) {
      if (!controller.isClosed) controller.addError(error);
    }
    unawaited(controller.close());
  }

  Future<void> _unsubscribe(Registration made) async {
    try {
      await made.cancel();
    } on BridgeException {
      // If it cannot be removed, `errors` has reported why.
    }
  }
}
