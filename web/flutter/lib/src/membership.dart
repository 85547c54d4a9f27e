import 'dart:async';

import 'call.dart';
import 'calling.dart';
import 'client.dart';
import 'codes.dart';
import 'connection.dart';
import 'errors.dart';
import 'models.dart';
import 'options.dart';
import 'resumption.dart';
import 'states.dart';
import 'values.dart';

/// The session at hand: how it opens, and what it costs when it does not go on.
final class Membership {
  Membership(this._client, this._options) {
    _ready.future.ignore();
  }

  /// How often in a row a guest that was here before may be refused (2401): for
  /// the server its last connection may not be over yet, and hold its place.
  static const int patience = 8;

  final Client _client;
  final BridgeOptions _options;
  Completer<SessionInfo> _ready = Completer<SessionInfo>();
  SessionInfo? _session;

  /// What has become of the session by the time it is open.
  Lost? _lost;
  bool _isRestarted = false;

  /// Whether the session knows nothing yet of this client.
  bool _isUntold = false;
  bool _wasGuest = false;
  int _refusals = 0;

  /// The session, while there is one.
  SessionInfo? get session => _session;

  /// Ends when the session is open; another after a session was lost.
  Future<SessionInfo> get ready => _ready.future;

  /// What the session that is open now has cost; told once.
  Lost? takeLost() {
    final lost = _lost;
    _lost = null;
    return lost;
  }

  /// Whether its server was restarted; told once.
  bool takeRestarted() {
    final isRestarted = _isRestarted;
    _isRestarted = false;
    return isRestarted;
  }

  /// Opens a session on a new connection, or goes on with the one that there
  /// was. [isCurrent] tells whether the connection is still the one to greet.
  Future<void> greet(bool Function() isCurrent) async {
    final open = await _opening();
    if (!isCurrent()) return;
    final resuming = _client.resumption?.greeting(open);
    _client.link.asks(resuming == null ? LinkEvent.opens : LinkEvent.resumes);
    final answer = await _client.calling.request(
      resuming == null ? 'session.open' : 'session.resume',
      resuming ?? open,
      Asking(
        isFirst: true,
        taken: (Object? info) {
          if (isCurrent()) _entered(objectOf(info));
        },
      ),
    );
    if (isCurrent()) _tell(objectOf(answer));
  }

  /// Whether it may help to ask again for a session that was refused: later, or
  /// with what the app gives anew.
  bool forgives(Object error, bool wasOpen) {
    if (error is! BridgeError) return wasOpen;
    if (error.isRetryable) return true;
    final varies = _options.token != null || _options.join != null;
    if (!wasOpen || !varies) return false;
    if (!_wasGuest || error.code != ErrorCode.notAuthenticated) return true;
    _refusals += 1;
    return _refusals <= patience;
  }

  /// The connection is lost, and another will come. [wasOpen]: it had the
  /// session.
  void lost(Close close, bool wasOpen) {
    // A server that has given the session up will not go on with it; what it
    // says before there was one is about the connection.
    final isOver = wasOpen && close.code >= 4100 && close.code < 4200;
    if (!isOver && (_client.resumption?.pause(close) ?? false)) return;
    _client.peer.serving.interrupt(closedError(close, true));
    final calls = _client.calling.interrupt(close);
    if (_session != null) {
      _lost = Lost('connection', lostCalls(calls), const <String>[]);
    }
    leave();
  }

  /// There is no session any more.
  void leave() {
    _client.resumption?.end();
    _client.duties.left();
    _another();
  }

  /// There will be none.
  void fail(BridgeError error) {
    if (!_ready.isCompleted) _ready.completeError(error);
    _client.duties.clear('closed');
  }

  Future<Json> _opening() async {
    final token = _options.token;
    final join = _options.join;
    final shown = token == null ? null : await token();
    final joined = join == null ? null : await join();
    return given(<String, Object?>{
      'protocol': const <String>['1.0'],
      'client': given(<String, Object?>{
        'name': _options.name,
        'version': _options.version,
        'platform': _options.platform,
      }),
      'token': shown,
      'hosts': _client.duties.greet(),
      'join': joined == null
          ? null
          : <String, Object?>{
              'session': joined.session,
              'token': joined.token,
            },
      'page': _options.page,
    });
  }

  /// A session has opened, or goes on: all that the next message may rely on.
  void _entered(Json info) {
    if (info['session'] is! String) {
      throw failure(
        ErrorCode.internal,
        'the server has answered without a session',
      );
    }
    final isResumed = info['resumed'] == true;
    final isAnew = isResumed && info['restarted'] == true;
    final reason = textOf(info['reason']) ?? 'connection';
    final calls = _client.resumption?.entered(info) ?? <Asked>[];
    if (!isResumed) {
      // The session is another one: pages are gone, and what was sent without
      // a key.
      final before = _lost;
      _isUntold = true;
      final pages = _client.duties.clear(reason);
      _another();
      if (info['resumed'] == false) {
        _lost = Lost(reason, lostCalls(calls), pages);
      } else if (before != null) {
        _lost = Lost(before.reason, before.calls, pages);
      }
    } else if (isAnew) {
      _isRestarted = true;
    }
    _wasGuest = info['guest'] == true;
    _refusals = 0;
    _client.duties.entered(textOf(info['page']) ?? _options.page, isAnew);
  }

  void _tell(Json info) {
    final members = Map<String, Object?>.of(info);
    for (final name in const <String>[
      'resumed',
      'restarted',
      'reason',
      'received',
      'sent',
      'pending',
    ]) {
      members.remove(name);
    }
    final known = _session ?? SessionInfo(<String, Object?>{});
    known.update(members);
    _session = known;
    _client.news.tell(_isUntold);
    _isUntold = false;
    _client.duties.tell();
    final resumption = _client.resumption;
    if (resumption != null) _client.own(resumption.look(info));
    _client.peer.serving.start();
    _client.calling.start(
      intOf(known.limits['maxMessage']),
      resumption?.overhead ?? 0,
    );
    if (!_ready.isCompleted) _ready.complete(known);
  }

  void _another() {
    if (_session != null) {
      _ready = Completer<SessionInfo>();
      _ready.future.ignore();
    }
    _session = null;
  }
}
