import 'dart:async';

import 'call.dart';
import 'client.dart';
import 'codes.dart';
import 'connection.dart';
import 'errors.dart';
import 'failures.dart';
import 'models.dart';
import 'options.dart';
import 'outgoing_requests.dart';
import 'resumption.dart';
import 'states.dart';
import 'values.dart';

/// The sessions of a client, one at a time. It opens and resumes them, and
/// reports what is lost with a session.
final class Sessions {
  Sessions(this._client, this._options) {
    _ready.future.ignore();
  }

  /// How often in a row a returning guest can be rejected with 2401 before it
  /// gives up: for the server its last connection may still be open.
  static const int maxRejections = 8;

  final Client _client;
  final BridgeOptions _options;
  Completer<SessionInfo> _ready = Completer<SessionInfo>();
  SessionInfo? _session;

  /// The losses since a session was last open.
  SessionLoss? _lost;
  bool _isRestarted = false;

  /// Whether the session is new and has no registrations of this client.
  bool _isNewSession = false;
  bool _wasGuest = false;
  int _rejections = 0;

  /// The session; null if none is open.
  SessionInfo? get session => _session;

  /// Completes when the session is open. A lost session is followed by a new
  /// future.
  Future<SessionInfo> get ready => _ready.future;

  /// Returns, only once, what was lost before the session was opened.
  SessionLoss? consumeLost() {
    final lost = _lost;
    _lost = null;
    return lost;
  }

  /// Returns, only once, whether its server was restarted.
  bool consumeRestarted() {
    final isRestarted = _isRestarted;
    _isRestarted = false;
    return isRestarted;
  }

  /// Opens a session on a new connection, or resumes the previous one.
  /// [isCurrent]: whether the connection is still in use; [onError] is called
  /// with the server's error before the next message is processed.
  Future<void> open(
    bool Function() isCurrent,
    void Function(BridgeException error) onError,
  ) async {
    final open = await _openParams();
    if (!isCurrent()) return;
    final resumeParams = _client.resumption?.resumeParams(open);
    _client.connection.apply(
      resumeParams == null ? LinkEvent.opens : LinkEvent.resumes,
    );
    final answer = await _client.outgoing.request(
      resumeParams == null ? 'session.open' : 'session.resume',
      resumeParams ?? open,
      RequestOptions(
        isFirst: true,
        onResult: (Object? info) {
          if (isCurrent()) _sessionOpened(objectOf(info));
        },
        onError: onError,
      ),
    );
    if (isCurrent()) _completeOpening(objectOf(answer));
  }

  /// Whether another attempt to open a rejected session can succeed, later or
  /// with new credentials of the app.
  bool canRetry(Object error, bool wasOpen) {
    if (error is! BridgeException) return wasOpen;
    if (error.isRetryable) return true;
    final varies = _options.token != null || _options.join != null;
    if (!wasOpen || !varies) return false;
    if (!_wasGuest || error.code != ErrorCode.notAuthenticated) return true;
    _rejections += 1;
    return _rejections <= maxRejections;
  }

  /// Called when the connection was lost and another one will follow.
  /// [wasOpen]: the connection had the session.
  void lost(Close close, bool wasOpen) {
    // These codes mean that the server has ended the session. Before there was
    // a session, they are about the connection.
    final isOver = wasOpen && close.code >= 4100 && close.code < 4200;
    if (!isOver && (_client.resumption?.pause(close) ?? false)) return;
    _client.peer.incoming.interrupt(closedException(close, true));
    final calls = _client.outgoing.interrupt(close);
    if (_session != null) {
      _lost = SessionLoss('connection', lostCalls(calls), const <String>[]);
    }
    end();
  }

  /// Called when the session has ended.
  void end() {
    _client.resumption?.end();
    _client.hosts.ended();
    _resetReady();
  }

  /// Called when no session will be opened any more.
  void fail(BridgeException error) {
    if (!_ready.isCompleted) _ready.completeError(error);
    _client.hosts.clear('closed');
  }

  Future<Json> _openParams() async {
    final token = _options.token;
    final join = _options.join;
    final shown = token == null ? null : await token();
    final joinTarget = join == null ? null : await join();
    return withoutNulls(<String, Object?>{
      'protocol': const <String>['1.0'],
      'client': withoutNulls(<String, Object?>{
        'name': _options.name,
        'version': _options.version,
        'platform': _options.platform,
      }),
      'token': shown,
      'hosts': _client.hosts.declareHosts(),
      'join': joinTarget == null
          ? null
          : <String, Object?>{
              'session': joinTarget.session,
              'token': joinTarget.token,
            },
      'page': _options.page,
    });
  }

  /// Called when a session was opened or resumed: does everything that the next
  /// message can depend on.
  void _sessionOpened(Json info) {
    if (info['session'] is! String) {
      throw failure(
        ErrorCode.internal,
        'The server returned no session',
      );
    }
    final isResumed = info['resumed'] == true;
    final isAfterRestart = isResumed && info['restarted'] == true;
    final reason = stringOf(info['reason']) ?? 'connection';
    final calls = _client.resumption?.opened(info) ?? <CallInfo>[];
    if (!isResumed) {
      // The session is a new one: the pages and the sent calls without a key
      // are lost.
      final earlier = _lost;
      _isNewSession = true;
      final pages = _client.hosts.clear(reason);
      _resetReady();
      if (info['resumed'] == false) {
        _lost = SessionLoss(reason, lostCalls(calls), pages);
      } else if (earlier != null) {
        _lost = SessionLoss(earlier.reason, earlier.calls, pages);
      }
    } else if (isAfterRestart) {
      _isRestarted = true;
    }
    _wasGuest = info['guest'] == true;
    _rejections = 0;
    _client.hosts.opened(
      stringOf(info['page']) ?? _options.page,
      isAfterRestart,
    );
  }

  void _completeOpening(Json info) {
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
    final current = _session ?? SessionInfo(<String, Object?>{});
    current.update(members);
    _session = current;
    _client.subscriptions.update(_isNewSession);
    _isNewSession = false;
    _client.hosts.update();
    final resumption = _client.resumption;
    if (resumption != null) _client.runDetached(resumption.findLost(info));
    _client.peer.incoming.start();
    _client.encoder.setLimits(current.limits, resumption?.overhead ?? 0);
    _client.outgoing.start();
    if (!_ready.isCompleted) _ready.complete(current);
  }

  void _resetReady() {
    if (_session != null) {
      _ready = Completer<SessionInfo>();
      _ready.future.ignore();
    }
    _session = null;
  }
}
