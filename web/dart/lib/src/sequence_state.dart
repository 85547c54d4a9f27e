import 'dart:convert';

import 'values.dart';

/// The place of a received message in the sequence.
enum MessageOrder {
  /// It is the next message and is processed.
  next,

  /// It was received before.
  duplicate,

  /// A message before it is missing.
  gap,
}

/// The sequence numbers of a client's messages in both directions (PROTOCOL.md,
/// Numbers): the sent messages that are not acknowledged, and the last received
/// one. It outlives connections, and uses neither a connection nor a clock.
final class SequenceState {
  /// Maximum number of unacknowledged messages, and of their UTF-16 units.
  /// Beyond it, calls wait for room.
  static const int capacityCount = 1024;
  static const int capacityUnits = 4 << 20;

  /// The number of received messages, or of their UTF-16 units (at most three
  /// bytes each), after which they are acknowledged.
  static const int ackCount = 32;
  static const int ackUnits = (64 << 10) ~/ 3;

  int _sent = 0;
  int _received = 0;
  int _acknowledged = 0;
  int _reported = 0;
  int _units = 0;
  int _unitsReceived = 0;

  /// Sent messages that are not acknowledged, by number in ascending order.
  final Map<int, String> _outbox = <int, String>{};

  /// The number of the last sent message.
  int get sent => _sent;

  /// The number of the last received message.
  int get received => _received;

  /// Whether there is room for a message that can wait. A message of any size
  /// has room if no other one is stored.
  bool get hasRoom => _outbox.length < capacityCount && _units < capacityUnits;

  /// The sent messages that are not acknowledged, with their numbers.
  List<String> get unacknowledged => _outbox.values.toList();

  /// Adds a number to a message, a JSON object with at least one property, and
  /// stores it. Returns the message to send.
  String append(String text) {
    _sent += 1;
    return _store(_sent, text);
  }

  /// Called with the id of a received response. If its request is sent again,
  /// it is sent as a notification: a restarted server does not know that it has
  /// responded, and must not respond a second time.
  void responded(Object? id) {
    final head = '"jsonrpc":"2.0","id":${jsonEncode(id)},';
    for (int seq = _acknowledged + 1; seq <= _sent; seq += 1) {
      final text = _outbox[seq] ?? '';
      final start = text.indexOf(',') + 1;
      if (!text.startsWith('$head"method":', start)) continue;
      final rest = text.substring(start + head.length);
      _replace(seq, '{"jsonrpc":"2.0",$rest');
      return;
    }
  }

  /// The first sent message that is not acknowledged; null if there is none.
  String? get firstUnacknowledged => _outbox[_acknowledged + 1];

  /// Replaces the first message that is not acknowledged by another one with
  /// its number. Returns the number.
  int replaceFirst(String text) {
    final seq = _acknowledged + 1;
    _replace(seq, text);
    return seq;
  }

  /// Called when the peer has acknowledged all messages up to a number. Returns
  /// false for a number that was never sent.
  bool acknowledged(Object? seq) {
    final last = intOf(seq);
    if (last == null || last < 0 || last > _sent) return false;
    while (_acknowledged < last) {
      _acknowledged += 1;
      final text = _outbox.remove(_acknowledged);
      if (text != null) _units -= text.length;
    }
    return true;
  }

  /// Called when the session was resumed and the peer has received all messages
  /// up to a number. Returns false for a number that was never sent, or that is
  /// lower than an acknowledged one.
  bool resumed(Object? seq) {
    final last = intOf(seq);
    return last != null && last >= _acknowledged && acknowledged(last);
  }

  /// Receives a message. [units]: the length of its text in UTF-16 units.
  MessageOrder receive(Object? seq, int units) {
    final number = intOf(seq) ?? 0;
    if (number < 1 || number > _received + 1) return MessageOrder.gap;
    if (number <= _received) return MessageOrder.duplicate;
    _received = number;
    _unitsReceived += units;
    return MessageOrder.next;
  }

  /// Whether a received message is not yet acknowledged.
  bool get needsAcknowledgement => _received > _reported;

  /// Whether an acknowledgement is due now.
  bool get isAcknowledgementDue {
    final count = _received - _reported;
    return count >= ackCount || _unitsReceived >= ackUnits;
  }

  /// Returns the number to acknowledge: that of the last received message.
  int report() {
    _reported = _received;
    _unitsReceived = 0;
    return _reported;
  }

  void _replace(int seq, String text) {
    _units -= _outbox[seq]?.length ?? 0;
    _store(seq, text);
  }

  String _store(int seq, String text) {
    final numbered = '{"seq":$seq,${text.substring(1)}';
    _outbox[seq] = numbered;
    _units += numbered.length;
    return numbered;
  }
}
