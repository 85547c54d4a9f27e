/// What becomes of a numbered message that has come.
enum Taken {
  /// It is the next one: it is looked at.
  next,

  /// It has come before.
  had,

  /// One before it is missing.
  gap,
}

/// The numbers of one client's messages, in both directions (PROTOCOL.md,
/// Numbers): what it has sent and the other side has not acknowledged, and
/// what it has taken. It outlives connections, and knows none, nor a clock.
final class Numbers {
  /// How many messages, and UTF-16 units of them, may wait to be acknowledged
  /// before calls have to wait for room.
  static const int roomCount = 1024;
  static const int roomUnits = 4 << 20;

  /// When what has come is to be acknowledged: after so many messages, or so
  /// many UTF-16 units, each of at most three bytes.
  static const int dueCount = 32;
  static const int dueUnits = (64 << 10) ~/ 3;

  int _sent = 0;
  int _received = 0;
  int _acknowledged = 0;
  int _told = 0;
  int _units = 0;
  int _unitsTaken = 0;

  /// What may have to be sent again, by number, the lowest first.
  final Map<int, String> _outbox = <int, String>{};

  /// The number of the last message that was given one.
  int get sent => _sent;

  /// The number of the last message that was taken.
  int get received => _received;

  /// Whether there is room for a message that can wait. One of any size finds
  /// room where nothing else is kept.
  bool get hasRoom => _outbox.length < roomCount && _units < roomUnits;

  /// What the other side has not acknowledged, in its order, with its numbers.
  List<String> get unacknowledged => _outbox.values.toList();

  /// Numbers a message, an object with a member as JSON, and keeps it. Gives
  /// what goes out.
  String give(String text) {
    _sent += 1;
    final numbered = '{"seq":$_sent,${text.substring(1)}';
    _outbox[_sent] = numbered;
    _units += numbered.length;
    return numbered;
  }

  /// The other side has taken all up to a message; false for one that was
  /// never sent.
  bool acknowledged(Object? seq) {
    if (seq is! int || seq < 0 || seq > _sent) return false;
    while (_acknowledged < seq) {
      _acknowledged += 1;
      final text = _outbox.remove(_acknowledged);
      if (text != null) _units -= text.length;
    }
    return true;
  }

  /// The other side goes on with us on a new connection, having taken all up
  /// to a message; false for one that was never sent, and for less than it
  /// has acknowledged.
  bool resumed(Object? seq) {
    return seq is int && seq >= _acknowledged && acknowledged(seq);
  }

  /// A message has come, with a text of so many UTF-16 units.
  Taken take(Object? seq, int units) {
    if (seq is! int || seq < 1 || seq > _received + 1) return Taken.gap;
    if (seq <= _received) return Taken.had;
    _received = seq;
    _unitsTaken += units;
    return Taken.next;
  }

  /// Whether something was taken that is not acknowledged: that is due soon.
  bool get owes => _received > _told;

  /// Whether it is due now.
  bool get isDue {
    final count = _received - _told;
    return count >= dueCount || _unitsTaken >= dueUnits;
  }

  /// What an acknowledgement that goes out now says.
  int tell() {
    _told = _received;
    _unitsTaken = 0;
    return _told;
  }
}
