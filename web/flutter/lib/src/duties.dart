import 'dart:async';

import 'announcements.dart';
import 'call.dart';
import 'calls.dart';
import 'client.dart';
import 'codes.dart';
import 'errors.dart';
import 'hosting.dart';
import 'registry.dart';
import 'serving.dart';
import 'shown_pages.dart';
import 'values.dart';

/// What a client does for others, as the server knows it: hosts that are
/// announced, requests that reach them, and pages that they show.
final class Duties {
  Duties(this._client)
    : _announcements = Announcements(_client),
      calls = Calls(_client);

  final Client _client;
  final Announcements _announcements;

  /// The calls that this client makes.
  final Calls calls;

  /// What it shows and runs.
  late final Hosting hosting = Hosting(calls);
  final StreamController<String> _resumed = StreamController<String>.broadcast(
    sync: true,
  );

  /// Whether the session at hand was told of all that was there when it
  /// opened.
  bool _isGreeted = false;

  /// Whether the server was restarted since it was last told, so that the pages
  /// are to be compared with its picture.
  bool _isRestarted = false;

  /// The ids of pages of this client that are on top again.
  Stream<String> get resumed => _resumed.stream;

  /// Who answers a request; null: nobody.
  RequestHandler? request(String method) => hosting.handler(method);

  /// Who hears a notification; null: nobody.
  FutureOr<Object?> Function(Json params)? notification(String method) {
    if (method == 'page.resume') return _resume;
    if (method.startsWith('page.') || method.startsWith('task.')) return null;
    final handler = hosting.handler(method);
    if (handler == null) return null;
    return (Json params) => handler(params, _unanswered());
  }

  /// What `session.open` is to say of hosts; later ones are announced on their
  /// own.
  List<Json>? greet() {
    _isGreeted = true;
    final all = hosting.declarations;
    return all.isEmpty ? null : _told(all);
  }

  /// A session has opened, or goes on. [page] is the one in which the client
  /// runs; [isAnew]: it goes on although its server was restarted.
  void entered(String? page, bool isAnew) {
    hosting.page = page;
    if (!isAnew) return;
    _isRestarted = true;
    // What it had asked is no longer asked, and its stack may be an earlier
    // one.
    _unask('the server was restarted');
  }

  /// The session is gone.
  void left() {
    _isGreeted = false;
  }

  /// The session was lost: what it had asked is ended, and the pages are taken
  /// away that this client showed. Gives their ids.
  List<String> clear(String reason) {
    _unask('the session was lost ($reason)');
    _isRestarted = false;
    final ids = <String>[];
    for (final shown in hosting.pages.clear()) {
      ids.add(shown.page.id);
      _client.own(_takeAway(shown));
    }
    return ids;
  }

  /// Tells a session that goes on what has changed.
  void tell() {
    if (_isRestarted) _client.own(_settlePages());
  }

  /// Tells the server of a host.
  Registration announce(Hosted hosted) {
    final params = <String, Object?>{
      'hosts': _told(<Declaration>[hosted.declaration]),
    };
    return _announcements.undoable(
      _isGreeted ? _announcements.tell('host.register', params) : null,
      hosted.remove,
      () => _announcements.tell('host.unregister', params, hosted.remove),
    );
  }

  List<Json> _told(List<Declaration> declarations) {
    return declarations.map((Declaration each) => each.toJson()).toList();
  }

  /// Compares the pages once all has come that the server had to send before it
  /// was restarted, of which some may be shown by then.
  Future<void> _settlePages() async {
    try {
      await _client.calling.ping();
    } on BridgeError {
      // The next connection has the same question.
      return;
    }
    _isRestarted = false;
    final hasHosts = hosting.declarations.any(
      (Declaration each) => each.kind == 'page',
    );
    if (!hasHosts && hosting.pages.isEmpty) return;
    try {
      await hosting.pages.sync(
        _sync,
        (Object cause) => _failed('open', cause),
        hosting.ownCall,
      );
    } on BridgeError catch (error) {
      final isLost = error is ConnectionClosed;
      if (!isLost && error.code != ErrorCode.outcomeUnknown) {
        _client.report(error);
      }
    }
  }

  Future<Json> _sync(Json params) async {
    const asking = Asking(isFirst: true);
    return objectOf(
      await _client.calling.request('page.sync', params, asking),
    );
  }

  void _unask(String why) {
    final error = failure(ErrorCode.outcomeUnknown, why);
    _client.peer.serving.interrupt(error);
  }

  Future<Object?> _resume(Json params) async {
    final id = textOf(params['page']);
    if (id == null) return null;
    _resumed.add(id);
    try {
      await hosting.pages.resume(id);
    } catch (cause) {
      _failed('resumed', cause);
    }
    return null;
  }

  Future<void> _takeAway(ShownPage shown) async {
    try {
      await shown.takeAway('failed', <String, Object?>{});
    } on BridgeError catch (error) {
      _failed('close', error);
    }
  }

  /// In what a notification is heard: nobody waits for anything.
  Request _unanswered() {
    return Request(null, (Request request) => false, (Object? value) {});
  }

  void _failed(String what, Object cause) {
    final why = '$what of a host failed: ${messageOf(cause)}';
    _client.report(failure(ErrorCode.internal, why, cause: cause));
  }
}
