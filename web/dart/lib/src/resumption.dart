import 'dart:convert';

import 'call.dart';
import 'client.dart';
import 'clock.dart';
import 'codes.dart';
import 'connection.dart';
import 'connection_manager.dart';
import 'errors.dart';
import 'failures.dart';
import 'models.dart';
import 'outgoing_requests.dart';
import 'sequence_state.dart';
import 'unreadable_messages.dart';
import 'values.dart';

/// Resumes a session after a lost connection. It holds the identity of the
/// client and the sequence state of the messages in both directions, and
/// decides what happens to calls. If the server cannot resume, messages pass
/// unchanged.
final class Resumption {
  Resumption(this._client);

  /// Milliseconds until received messages are acknowledged. The protocol
  /// requires it within one second.
  static const int ackDelay = 500;

  /// Maximum number of bytes that a sequence number adds to a message.
  static const int numberSize = 24;

  final Client _client;
  late final UnreadableMessages _unreadable = UnreadableMessages(_client);

  /// Null: the session ends with its connection.
  SequenceState? _sequence;

  /// The latest `client`, `token` and `epoch` of the server.
  Json _identity = <String, Object?>{};

  /// Whether numbered messages are sent at once.
  bool _isConnected = false;
  ClockTimer? _timer;

  /// The number of bytes that a message must leave free for its number.
  int get overhead => _sequence == null ? 0 : numberSize;

  /// The params of `session.resume`; null if there is no session to resume.
  /// [open]: the params of `session.open`, in case it cannot be resumed.
  Json? resumeParams(Json open) {
    final sequence = _sequence;
    if (sequence == null) return null;
    return <String, Object?>{
      ..._identity,
      'received': sequence.received,
      'sent': sequence.sent,
      'open': open,
    };
  }

  /// Called with the response to the first request: sends again the messages
  /// that the server has not received. It is called before the next message is
  /// processed. Returns the lost calls.
  List<CallInfo> opened(Json info) {
    final isResumed = info['resumed'] == true;
    var lost = <CallInfo>[];
    if (!isResumed) {
      _unreadable.clear();
      final reason = info['reason'];
      lost = _resetCalls(
        'The session was lost ($reason); the outcome of the call is unknown',
      );
      final capabilities = stringsOf(info['capabilities']);
      _sequence = capabilities.contains('resume') ? SequenceState() : null;
    } else if (_sequence?.resumed(info['received']) != true) {
      end();
      final received = info['received'];
      throw failure(
        ErrorCode.internal,
        'The server resumed after message $received, which was never sent',
      );
    }
    _identity = <String, Object?>{
      'client': info['client'],
      'token': info['token'],
      'epoch': info['epoch'],
    };
    _isConnected = true;
    final sequence = _sequence;
    if (sequence == null) return lost;
    if (isResumed) {
      // This confirms the new token to the server.
      _sendAcknowledgement();
      // A restarted server can miss earlier messages too. It reports the
      // unreadable one again.
      if (info['restarted'] == true) _unreadable.clear();
      _unreadable.resumed(sequence);
    }
    for (final text in sequence.unacknowledged) {
      _client.connection.send(text);
    }
    return lost;
  }

  /// Finds out which calls the server has lost in a resumed session, after the
  /// messages that it still had to send have arrived.
  Future<void> findLost(Json info) async {
    final received = intOf(info['received']) ?? 0;
    if (info['resumed'] != true) return;
    final known = <Object?>[];
    for (final each in listOf(info['pending'])) {
      known.add(objectOf(each)['id']);
    }
    final candidates = _client.outgoing.unanswered
        .where(
          (Call call) =>
              call.seq <= received && !known.contains(call.info.id),
        )
        .toList();
    if (candidates.isEmpty) return;
    try {
      await _client.outgoing.ping();
    } on BridgeException {
      // The next connection tries again.
      return;
    }
    final calls = failCalls(
      candidates.where((Call call) => !call.isSettled).toList(),
      'The server has lost the call',
    );
    if (calls.isEmpty) return;
    final lost = SessionLoss('server', lostCalls(calls), const <String>[]);
    _client.emit(StateChange(_client.connection.bridgeState, lost: lost));
  }

  /// Sends a message. Returns its number, 0 if it has none, or null if it
  /// cannot be sent now.
  int? send(String text, {required bool isBare, required bool canWait}) {
    final sequence = _sequence;
    if (isBare || sequence == null) {
      return _client.connection.send(text) ? 0 : null;
    }
    if (canWait && !sequence.hasRoom) return null;
    final numbered = sequence.append(text);
    if (_isConnected) _client.connection.send(numbered);
    return sequence.sent;
  }

  /// Whether a received message is to be processed. [units]: the length of its
  /// text in UTF-16 units.
  bool accepts(Json message, int units) {
    final sequence = _sequence;
    if (sequence == null || !_isNumbered(message)) return true;
    final seq = message['seq'];
    final found = sequence.receive(seq, units);
    if (found == MessageOrder.gap) {
      final what = seq ?? 'one without a number';
      final why = 'Expected message ${sequence.received + 1}, but got $what';
      _client.connection.drop(CloseCode.gap, why);
    }
    if (found != MessageOrder.next) return false;
    final code = intOf(objectOf(message['error'])['code']);
    if (!message.containsKey('method') && code != ErrorCode.parseError) {
      sequence.responded(message['id']);
    }
    return true;
  }

  /// Called when the server has acknowledged all messages up to a number.
  void acknowledged(Object? seq) {
    final sequence = _sequence;
    if (sequence == null) return;
    final hadRoom = sequence.hasRoom;
    if (!sequence.acknowledged(seq)) {
      final why = 'The server acknowledged message $seq, which was never sent';
      _client.connection.drop(CloseCode.gap, why);
    } else if (!hadRoom && sequence.hasRoom) {
      _client.outgoing.flush();
    }
  }

  /// Called when the server could neither read nor count a message. Returns
  /// false if messages have no numbers.
  bool receiveUnreadable(BridgeException error) {
    if (_sequence == null) return false;
    _unreadable.receive(error);
    return true;
  }

  /// Acknowledges processed messages, now or soon.
  void acknowledge() {
    final sequence = _sequence;
    if (!_isConnected || sequence == null) return;
    if (!sequence.needsAcknowledgement) return;
    if (sequence.isAcknowledgementDue) {
      _sendAcknowledgement();
    } else {
      _timer ??= _client.clock.after(ackDelay, _sendAcknowledgement);
    }
  }

  /// Called when the connection was lost and another one will follow. Returns
  /// whether the session can be resumed; then only calls about the connection
  /// fail.
  bool pause(Close close) {
    if (_sequence == null) return false;
    _disconnect();
    _client.outgoing.pause();
    for (final call in _client.outgoing.unsettled) {
      if (!call.isSent || !call.info.isBare) continue;
      call.fail(closedException(close, true, call.info.method));
    }
    return true;
  }

  /// Called when the session has ended: the next connection opens another one.
  void end() {
    _disconnect();
    _sequence = null;
    _unreadable.clear();
  }

  void _disconnect() {
    _isConnected = false;
    _stopTimer();
  }

  /// A ping has no number, and neither has the response to a call without one.
  bool _isNumbered(Json message) {
    final id = message['id'];
    if (message.containsKey('method')) {
      return message['method'] != r'$/ping' || id == null;
    }
    final call = _client.outgoing.find(id);
    return message['seq'] != null || (call != null && !call.info.isBare);
  }

  /// Called when the session was lost and another one was opened: calls with a
  /// key will be sent again, other sent calls are lost.
  List<CallInfo> _resetCalls(String why) {
    final lost = <Call>[];
    for (final call in _client.outgoing.unanswered) {
      if (call.canRequeue) {
        call.requeue();
      } else {
        lost.add(call);
      }
    }
    return failCalls(lost, why);
  }

  void _sendAcknowledgement() {
    _stopTimer();
    final sequence = _sequence;
    if (sequence == null) return;
    _client.connection.send(
      jsonEncode(<String, Object?>{
        'jsonrpc': '2.0',
        'method': r'$/ack',
        'params': <String, Object?>{'seq': sequence.report()},
      }),
    );
  }

  void _stopTimer() {
    _timer?.cancel();
    _timer = null;
  }
}

/// Fails calls of which it is not known whether they took effect.
List<CallInfo> failCalls(List<Call> calls, String why) {
  final failed = <CallInfo>[];
  for (final call in calls) {
    final method = call.info.method;
    call.fail(failure(ErrorCode.outcomeUnknown, why, method: method));
    failed.add(call.info);
  }
  return failed;
}

/// Returns the calls in the form that an app receives.
List<LostCall> lostCalls(List<CallInfo> calls) {
  return calls
      .map((CallInfo info) => LostCall(info.method, info.uri, info.key))
      .toList();
}
