import 'dart:async';

import 'announcements.dart';
import 'client.dart';
import 'codes.dart';
import 'errors.dart';
import 'models.dart';

/// Gets the events of a topic.
typedef EventHandler = FutureOr<void> Function(BridgeEvent event);

final class _Entry {
  _Entry(this.topics, this.handler);

  final List<String> topics;
  final EventHandler handler;
}

/// Who wants to hear of which topics. The server is asked once for each topic,
/// however many here want it.
final class Topics {
  Topics(this._client) : _announcements = Announcements(_client);

  final Client _client;
  final Announcements _announcements;

  /// In the order they were made.
  final List<_Entry> _entries = <_Entry>[];

  /// Those that a session was asked for; those of a call that still waits are
  /// not among them.
  final Set<String> _asked = <String>{};

  /// Hears of some topics; a `*` at the end stands for any rest.
  Registration subscribe(List<String> given, EventHandler handler) {
    final topics = given.toSet().toList();
    if (topics.isEmpty || topics.contains('')) {
      throw failure(
        ErrorCode.invalidParams,
        'not topics: $given; write "cart.changed", or "cart.*" for all that '
        'begin so',
      );
    }
    final fresh = _unwanted(topics);
    final entry = _Entry(topics, handler);
    _entries.add(entry);
    final told = fresh.isEmpty ? null : _subscribe(fresh);
    return _announcements.undoable(
      told,
      () => _remove(entry),
      () async {
        final unwanted = _remove(entry);
        if (unwanted.isEmpty) return;
        await _announcements.tell('events.unsubscribe', <String, Object?>{
          'topics': unwanted,
        });
      },
    );
  }

  /// Asks another session for the topics of the one before.
  void tell(bool isUntold) {
    if (!isUntold || _asked.isEmpty) return;
    _announcements.tellFirst('events.subscribe', <String, Object?>{
      'topics': _asked.toList(),
    });
  }

  /// Tells everybody once who wants the event's topic.
  void deliver(BridgeEvent event) {
    for (final entry in _entries.toList()) {
      if (entry.topics.any((String topic) => covers(topic, event.topic))) {
        _client.own(_hand(entry, event));
      }
    }
  }

  Future<void> _hand(_Entry entry, BridgeEvent event) async {
    final handler = entry.handler;
    try {
      await handler(event);
    } catch (cause) {
      final why = 'a handler of ${event.topic} failed: ${messageOf(cause)}';
      _client.report(failure(ErrorCode.internal, why, cause: cause));
    }
  }

  Future<void> _subscribe(List<String> fresh) {
    return _announcements.tell(
      'events.subscribe',
      <String, Object?>{'topics': fresh},
      () {
        final unwanted = _unwanted(fresh);
        for (final topic in fresh) {
          if (!unwanted.contains(topic)) _asked.add(topic);
        }
      },
    );
  }

  List<String> _remove(_Entry entry) {
    if (!_entries.remove(entry)) return <String>[];
    final unwanted = _unwanted(entry.topics);
    _asked.removeAll(unwanted);
    return unwanted;
  }

  /// Those of some topics that nobody wants.
  List<String> _unwanted(List<String> topics) {
    return topics
        .where(
          (String topic) =>
              !_entries.any((_Entry entry) => entry.topics.contains(topic)),
        )
        .toList();
  }
}

/// Whether a topic, or the beginning of one with `*`, covers another.
bool covers(String wanted, String topic) {
  if (!wanted.endsWith('*')) return topic == wanted;
  return topic.startsWith(wanted.substring(0, wanted.length - 1));
}
