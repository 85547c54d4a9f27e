import 'dart:async';

import 'codes.dart';
import 'socket.dart';
import 'values.dart';

/// How a connection closed.
final class Close {
  const Close(this.code, this.reason, {this.cause, this.isFinal = false});

  /// The close code of the WebSocket.
  final int code;

  /// The close reason of the WebSocket, or the reason that the client knows.
  final String reason;

  /// The error that caused it.
  final Object? cause;

  /// Whether another connection would fail in the same way.
  final bool isFinal;
}

/// The subprotocol of the bridge.
const String subprotocol = 'waybridge.v1';

/// The maximum length of the reason of a close frame, which has room for 123
/// bytes: a UTF-16 unit is at most three bytes of UTF-8.
const int maxReasonUnits = 40;

/// One WebSocket. The callback `closed` is called exactly once, last, and
/// never before the constructor has returned.
final class Connection {
  Connection(
    Uri url,
    Connector connector, {
    required void Function(Connection connection) opened,
    required void Function(Object? data) received,
    required void Function(Close close) closed,
  }) : _opened = opened,
       _received = received,
       _closed = closed {
    try {
      final socket = connector(url, const <String>[subprotocol]);
      _socket = socket;
      socket.stream.listen(
        _receive,
        onError: _streamFailed,
        onDone: () => _done(socket),
      );
      unawaited(_awaitReady(socket));
    } catch (cause) {
      _markEnded();
      final close = Close(1006, '$cause', cause: cause, isFinal: true);
      scheduleMicrotask(() => _end(close));
    }
  }

  final void Function(Connection connection) _opened;
  final void Function(Object? data) _received;
  final void Function(Close close) _closed;
  final Completer<void> _ended = Completer<void>();
  BridgeSocket? _socket;
  bool _isOpen = false;
  bool _isOver = false;

  /// The text of an error of the stream.
  String _failure = '';

  /// Completes when the socket is closed.
  Future<void> get ended => _ended.future;

  /// Returns false if the socket is not open.
  bool send(String text) {
    final socket = _socket;
    if (_isOver || !_isOpen || socket == null) return false;
    socket.add(text);
    return true;
  }

  /// Closes the connection for the given reason. A normal close tells the
  /// server that this client leaves; a client that will reconnect closes with
  /// another code.
  void close([
    Close close = const Close(CloseCode.normal, '', isFinal: true),
  ]) {
    if (_isOver) return;
    int code = CloseCode.reconnecting;
    if (close.isFinal) {
      code = CloseCode.normal;
    } else if (CloseCode.next(close.code) == AfterClose.resume) {
      code = close.code;
    }
    _socket?.close(code, shortened(close.reason, maxReasonUnits));
    _end(close);
  }

  Future<void> _awaitReady(BridgeSocket socket) async {
    try {
      await socket.ready;
    } catch (error) {
      _markEnded();
      _end(Close(1006, '$error', cause: error));
      return;
    }
    if (_isOver) return;
    if (socket.protocol != subprotocol) {
      close(
        const Close(
          CloseCode.normal,
          'The server does not support $subprotocol',
          isFinal: true,
        ),
      );
      return;
    }
    _isOpen = true;
    _opened(this);
  }

  void _receive(Object? data) {
    if (!_isOver && _isOpen) _received(data);
  }

  void _streamFailed(Object error) {
    _failure = '$error';
  }

  void _done(BridgeSocket socket) {
    _markEnded();
    final reason = socket.closeReason ?? '';
    _end(Close(socket.closeCode ?? 1006, reason == '' ? _failure : reason));
  }

  void _markEnded() {
    if (!_ended.isCompleted) _ended.complete();
  }

  void _end(Close close) {
    if (_isOver) return;
    _isOver = true;
    _closed(close);
  }
}
