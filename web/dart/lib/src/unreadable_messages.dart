import 'dart:convert';

import 'call.dart';
import 'client.dart';
import 'codes.dart';
import 'errors.dart';
import 'failures.dart';
import 'sequence_state.dart';

/// Messages that the server could neither read nor count, and that would be
/// sent again for ever (PROTOCOL.md, JSON). The resumed session shows which
/// message it was: the first one that the server has not received.
final class UnreadableMessages {
  UnreadableMessages(this._client);

  /// The beginning of a request or a response: the id, and the next member. The
  /// whole text may be unreadable for this client too.
  static final RegExp _envelope = RegExp(
    r'^\{"seq":\d+,"jsonrpc":"2.0","id":("(?:[^"\\]|\\.)*"|[^",]+),"(\w+)":',
  );

  final Client _client;

  /// The error of the server; null if there is none.
  BridgeException? _error;

  /// Whether errors about messages of earlier connections can still arrive.
  bool _isRecovering = false;

  /// Receives the error of the server: closes the connection in order to resume
  /// the session.
  void receive(BridgeException error) {
    if (_isRecovering) return;
    _error = error;
    const why = 'The server could not read a message';
    _client.connection.drop(CloseCode.reconnecting, why);
  }

  /// Called when the session was resumed, before messages are sent again. The
  /// unreadable message fails, and is replaced by one without effect.
  void resumed(SequenceState sequence) {
    final error = _error;
    if (error == null) return;
    _error = null;
    _client.runDetached(_ignoreEarlierErrors());
    final text = sequence.firstUnacknowledged;
    if (text == null) return _client.report(error);
    final found = _envelope.firstMatch(text);
    final id = found == null ? null : jsonDecode(found.group(1) ?? 'null');
    final isResponse = found != null && found.group(2) != 'method';
    final seq = sequence.replaceFirst(isResponse ? _response(id) : _cancel(id));
    final call = _client.outgoing.numbered(seq);
    if (call != null) return call.reject(error);
    // A request without a call was cancelled, or has its error.
    if (isResponse || id == null) _client.report(error);
  }

  /// Called when the session has ended.
  void clear() {
    _error = null;
  }

  String _cancel(Object? id) {
    final params = <String, Object?>{'id': id};
    return _client.encoder.request(r'$/cancelRequest', params);
  }

  String _response(Object? id) {
    const why = 'The server could not read the response';
    return _client.encoder.error(id, failure(ErrorCode.internal, why));
  }

  /// Errors about messages of earlier connections arrive before the response to
  /// a ping.
  Future<void> _ignoreEarlierErrors() async {
    _isRecovering = true;
    try {
      await _client.outgoing.request(
        r'$/ping',
        null,
        RequestOptions(
          isFirst: true,
          onResult: (Object? result) {
            _isRecovering = false;
          },
        ),
      );
    } on BridgeException {
      // The connection is lost, and no such error arrives on it.
      _isRecovering = false;
    }
  }
}
