import 'dart:async';

import 'client.dart';
import 'codes.dart';
import 'failures.dart';
import 'models.dart';
import 'registrations.dart';

/// Receives the events of a topic.
typedef EventHandler = FutureOr<void> Function(BridgeEvent event);

final class _Subscription {
  _Subscription(this.topics, this.handler);

  final List<String> topics;
  final EventHandler handler;

  /// Whether its handler gets events.
  bool isActive = true;

  bool covers(String topic) {
    return topics.any((String wanted) => isCovered(topic, wanted));
  }
}

/// Handlers of topics. The server has one subscription for each topic, however
/// many handlers it has.
final class Topics {
  Topics(this._client) : _registrations = Registrations(_client);

  final Client _client;
  final Registrations _registrations;

  /// In the order in which they were added.
  final List<_Subscription> _entries = <_Subscription>[];

  /// The topics that the server has confirmed in this session.
  final Set<String> _subscribed = <String>{};

  /// Subscribes to topics; a topic that ends with `*` is a prefix.
  Registration subscribe(List<String> given, EventHandler handler) {
    final topics = given.toSet().toList();
    if (topics.isEmpty || topics.contains('')) {
      throw failure(
        ErrorCode.invalidParams,
        'subscribe needs topics such as "cart.changed" or "cart.*", but got '
        '$given',
      );
    }
    final added = _unused(topics);
    final entry = _Subscription(topics, handler);
    _entries.add(entry);
    final sent = added.isEmpty ? null : _subscribe(added);
    return _registrations.registration(
      sent,
      () => _remove(entry),
      stop: () {
        entry.isActive = false;
      },
      undo: () async {
        final unused = _remove(entry);
        if (unused.isEmpty) return;
        await _registrations.send('events.unsubscribe', <String, Object?>{
          'topics': unused,
        });
      },
    );
  }

  /// Subscribes to the topics again in a new session.
  void update(bool isNewSession) {
    if (!isNewSession || _subscribed.isEmpty) return;
    _registrations.sendFirst('events.subscribe', <String, Object?>{
      'topics': _subscribed.toList(),
    });
  }

  /// Calls each handler of the event's topic once.
  void deliver(BridgeEvent event) {
    for (final entry in _entries.toList()) {
      // The handler of another entry may have removed this one.
      if (entry.isActive && entry.covers(event.topic)) {
        _client.runDetached(_runHandler(entry, event));
      }
    }
  }

  Future<void> _runHandler(_Subscription entry, BridgeEvent event) async {
    final handler = entry.handler;
    try {
      await handler(event);
    } catch (cause) {
      final text = messageOf(cause);
      final why = 'A handler of "${event.topic}" failed: $text';
      _client.report(failure(ErrorCode.internal, why, cause: cause));
    }
  }

  Future<void> _subscribe(List<String> added) {
    return _registrations.send(
      'events.subscribe',
      <String, Object?>{'topics': added},
      () {
        final unused = _unused(added);
        for (final topic in added) {
          if (!unused.contains(topic)) _subscribed.add(topic);
        }
      },
    );
  }

  List<String> _remove(_Subscription entry) {
    if (!_entries.remove(entry)) return <String>[];
    final unused = _unused(entry.topics);
    _subscribed.removeAll(unused);
    return unused;
  }

  /// Returns those of the topics that have no handler.
  List<String> _unused(List<String> topics) {
    return topics
        .where(
          (String topic) => !_entries.any(
            (_Subscription entry) => entry.topics.contains(topic),
          ),
        )
        .toList();
  }
}

/// Whether a topic is the wanted one, or has the wanted prefix before `*`.
bool isCovered(String topic, String wanted) {
  if (!wanted.endsWith('*')) return topic == wanted;
  return topic.startsWith(wanted.substring(0, wanted.length - 1));
}
