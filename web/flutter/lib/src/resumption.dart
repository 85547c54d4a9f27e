import 'dart:convert';

import 'call.dart';
import 'calling.dart';
import 'client.dart';
import 'clock.dart';
import 'codes.dart';
import 'connection.dart';
import 'errors.dart';
import 'link.dart';
import 'models.dart';
import 'numbers.dart';
import 'values.dart';

/// What lets a session outlive its connections: who the client is, what it and
/// the server have sent to each other, and what becomes of calls. Where the
/// server can not resume, messages pass as they are.
final class Resumption {
  Resumption(this._client);

  /// Milliseconds after which what has come is acknowledged, of the second in
  /// which it has to be.
  static const int soon = 500;

  /// What a number adds to a message, in bytes.
  static const int numberSize = 24;

  final Client _client;

  /// None: the session ends with its connection.
  Numbers? _numbers;

  /// `client`, `token` and `epoch` as the server has told them last.
  Json _identity = <String, Object?>{};

  /// Whether what is numbered goes out at once.
  bool _isLive = false;
  ClockTimer? _timer;

  /// What the largest message has to leave free.
  int get overhead => _numbers == null ? 0 : numberSize;

  /// The params of `session.resume`; null where there is no session to go on
  /// with. [open] are those of `session.open`, for one in its place.
  Json? greeting(Json open) {
    final numbers = _numbers;
    if (numbers == null) return null;
    return <String, Object?>{
      ..._identity,
      'received': numbers.received,
      'sent': numbers.sent,
      'open': open,
    };
  }

  /// The server has answered the first request: what it has not taken goes out
  /// again. It has to be known before the next message is looked at. Gives the
  /// calls that are lost.
  List<Asked> entered(Json info) {
    final isResumed = info['resumed'] == true;
    var lost = <Asked>[];
    if (!isResumed) {
      final reason = info['reason'];
      lost = _renew(
        'the session was lost ($reason); whether the call was carried out is '
        'unknown',
      );
      final capabilities = textsOf(info['capabilities']);
      _numbers = capabilities.contains('resume') ? Numbers() : null;
    } else if (_numbers?.resumed(info['received']) != true) {
      end();
      final received = info['received'];
      throw failure(
        ErrorCode.internal,
        'the server resumed after $received, which was never sent',
      );
    }
    _identity = <String, Object?>{
      'client': info['client'],
      'token': info['token'],
      'epoch': info['epoch'],
    };
    _isLive = true;
    final numbers = _numbers;
    if (numbers == null) return lost;
    // So that the server knows that the new token has come.
    if (info['resumed'] == true) _acknowledge();
    for (final text in numbers.unacknowledged) {
      _client.link.send(text);
    }
    return lost;
  }

  /// Finds out what the server has lost of a session that goes on, as soon as
  /// all has come that it still had to send.
  Future<void> look(Json info) async {
    final received = intOf(info['received']) ?? 0;
    if (info['resumed'] != true) return;
    final known = <Object?>[];
    for (final each in listOf(info['pending'])) {
      known.add(objectOf(each)['id']);
    }
    final doubtful = _client.calling.sent
        .where(
          (Call call) =>
              call.seq <= received && !known.contains(call.asked.id),
        )
        .toList();
    if (doubtful.isEmpty) return;
    try {
      await _client.calling.ping();
    } on BridgeError {
      // The next connection has the same question.
      return;
    }
    final calls = lose(
      doubtful.where((Call call) => !call.isSettled).toList(),
      'the server has lost the call',
    );
    if (calls.isEmpty) return;
    final lost = Lost('server', lostCalls(calls), const <String>[]);
    _client.tell(StateChange(_client.link.shown, lost: lost));
  }

  /// Gives a message's number, 0 where it has none, or null when it can not go
  /// out now.
  int? send(String text, {required bool isBare, required bool canWait}) {
    final numbers = _numbers;
    if (isBare || numbers == null) {
      return _client.link.send(text) ? 0 : null;
    }
    if (canWait && !numbers.hasRoom) return null;
    final numbered = numbers.give(text);
    if (_isLive) _client.link.send(numbered);
    return numbers.sent;
  }

  /// Whether a message that has come, with a text of so many UTF-16 units, is
  /// to be looked at.
  bool takes(Json message, int units) {
    final numbers = _numbers;
    if (numbers == null || !_isNumbered(message)) return true;
    final seq = message['seq'];
    final found = numbers.take(seq, units);
    if (found == Taken.gap) {
      final what = seq ?? 'one without a number';
      final why = 'after the message ${numbers.received} came $what';
      _client.link.drop(CloseCode.gap, why);
    }
    return found == Taken.next;
  }

  /// The server has taken all up to a message.
  void acknowledged(Object? seq) {
    final numbers = _numbers;
    if (numbers == null) return;
    final hadRoom = numbers.hasRoom;
    if (!numbers.acknowledged(seq)) {
      final why = 'the server acknowledged $seq, which was never sent';
      _client.link.drop(CloseCode.gap, why);
    } else if (!hadRoom && numbers.hasRoom) {
      _client.calling.flush();
    }
  }

  /// What has come was looked at: it is acknowledged, now or soon.
  void settle() {
    final numbers = _numbers;
    if (!_isLive || numbers == null || !numbers.owes) return;
    if (numbers.isDue) {
      _acknowledge();
    } else {
      _timer ??= _client.clock.after(soon, _acknowledge);
    }
  }

  /// The connection is lost, and another will come; whether the session may go
  /// on: then nothing fails that was not about the connection.
  bool pause(Close close) {
    if (_numbers == null) return false;
    _rest();
    _client.calling.pause();
    for (final call in _client.calling.open) {
      if (!call.isSent || !call.asked.isBare) continue;
      call.fail(closedError(close, true, call.asked.method));
    }
    return true;
  }

  /// The session is gone: the next connection begins another.
  void end() {
    _rest();
    _numbers = null;
  }

  void _rest() {
    _isLive = false;
    _stopTimer();
  }

  /// A ping has no number, nor has what answers a call that had none.
  bool _isNumbered(Json message) {
    final id = message['id'];
    if (message.containsKey('method')) {
      return message['method'] != r'$/ping' || id == null;
    }
    final call = _client.calling.known(id);
    return message['seq'] != null || (call != null && !call.asked.isBare);
  }

  /// The session was lost, and another has begun: calls with a key are asked of
  /// that, others that were sent are lost.
  List<Asked> _renew(String why) {
    final lost = <Call>[];
    for (final call in _client.calling.sent) {
      if (call.canAskAgain) {
        call.again();
      } else {
        lost.add(call);
      }
    }
    return lose(lost, why);
  }

  void _acknowledge() {
    _stopTimer();
    final numbers = _numbers;
    if (numbers == null) return;
    _client.link.send(
      jsonEncode(<String, Object?>{
        'jsonrpc': '2.0',
        'method': r'$/ack',
        'params': <String, Object?>{'seq': numbers.tell()},
      }),
    );
  }

  void _stopTimer() {
    _timer?.cancel();
    _timer = null;
  }
}

/// Fails calls of which nobody knows whether they were carried out.
List<Asked> lose(List<Call> calls, String why) {
  final asked = <Asked>[];
  for (final call in calls) {
    final method = call.asked.method;
    call.fail(failure(ErrorCode.outcomeUnknown, why, method: method));
    asked.add(call.asked);
  }
  return asked;
}

/// As an app is told of them.
List<LostCall> lostCalls(List<Asked> calls) {
  return calls
      .map((Asked asked) => LostCall(asked.method, asked.uri, asked.key))
      .toList();
}
