import 'dart:async';

import 'announcements.dart';
import 'call.dart';
import 'client.dart';
import 'codes.dart';
import 'errors.dart';
import 'models.dart';
import 'options.dart';
import 'topics.dart';
import 'values.dart';

/// What a client hears: the topics that it wants, that its token is about to
/// expire, and that the server has another route table.
final class News {
  News(this._client, this._options) : _topics = Topics(_client);

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

  /// When the client's token expires, in milliseconds since 1970, told before.
  Stream<int> get expiring => _expiring.stream;

  /// `version` and `hash` of each other route table.
  Stream<Json> get tables => _tables.stream;

  /// Hears of some topics.
  Registration subscribe(List<String> topics, EventHandler handler) {
    return _topics.subscribe(topics, handler);
  }

  /// The events of some topics, asked for as long as somebody listens.
  Stream<BridgeEvent> events(List<String> topics) {
    Registration? registration;
    late final StreamController<BridgeEvent> controller;
    controller = StreamController<BridgeEvent>(
      onListen: () {
        final made = subscribe(topics, (BridgeEvent event) {
          if (!controller.isClosed) controller.add(event);
        });
        registration = made;
        _client.own(_watch(made, controller));
      },
      onCancel: () {
        final made = registration;
        if (made != null) _client.own(_drop(made));
      },
    );
    return controller.stream;
  }

  /// An `event` has come.
  void hear(Json params) {
    final topic = params['topic'];
    if (topic is! String) return;
    final data = params['data'];
    if (topic == 'session.expiring') _client.own(_expires(objectOf(data)));
    if (topic == 'table.changed') _compare(objectOf(data));
    _topics.deliver(BridgeEvent(topic, data, intOf(params['at']) ?? 0));
  }

  /// A session that has just opened, or goes on, is told which topics are
  /// wanted. [isUntold]: it was told nothing yet.
  void tell(bool isUntold) => _topics.tell(isUntold);

  /// The table of the session at hand, where there is one.
  void compare(SessionInfo? session) {
    if (session != null) _compare(session.table);
  }

  void _compare(Json told) {
    final table = <String, Object?>{
      'version': told['version'],
      'hash': told['hash'],
    };
    final before = _table;
    _table = table;
    if (before == null) return;
    final isSame =
        before['version'] == table['version'] &&
        before['hash'] == table['hash'];
    if (!isSame) _tables.add(table);
  }

  /// The server says so to whom it concerns, and beforehand; subscribers hear
  /// it of others as well.
  Future<void> _expires(Json data) async {
    final session = _client.membership.session;
    if (session == null || data['client'] != session.client) return;
    final expiresAt = intOf(data['expiresAt']);
    if (expiresAt != null) _expiring.add(expiresAt);
    final token = _options.token;
    if (token == null) return;
    try {
      final shown = await token();
      if (!identical(session, _client.membership.session)) return;
      final answer = await _client.calling.request(
        'session.renew',
        <String, Object?>{'token': shown},
        const Asking(isFirst: true),
      );
      session.update(<String, Object?>{
        'expiresAt': objectOf(answer)['expiresAt'],
      });
    } catch (cause) {
      // The next session begins with a new token anyhow.
      if (!identical(session, _client.membership.session)) return;
      final why = 'no new token: ${messageOf(cause)}';
      _client.report(
        cause is BridgeError
            ? cause
            : failure(ErrorCode.notAuthenticated, why, cause: cause),
      );
    }
  }

  Future<void> _watch(
    Registration made,
    StreamController<BridgeEvent> controller,
  ) async {
    try {
      await made.registered;
      await _client.closed;
    } on BridgeError catch (error) {
      if (!controller.isClosed) controller.addError(error);
    }
    unawaited(controller.close());
  }

  Future<void> _drop(Registration made) async {
    try {
      await made.cancel();
    } on BridgeError {
      // Where it can not be taken back, the errors have told why.
    }
  }
}
