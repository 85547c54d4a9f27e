import 'dart:async';

import 'codes.dart';
import 'socket.dart';

/// How a connection ended.
final class Close {
  const Close(this.code, this.reason, {this.cause, this.isFinal = false});

  /// The WebSocket's.
  final int code;

  /// The WebSocket's, or what this side knows.
  final String reason;

  /// The error behind it.
  final Object? cause;

  /// Whether another connection would end in the same way.
  final bool isFinal;
}

/// The subprotocol that makes a WebSocket a bridge.
const String subprotocol = 'waybridge.v1';

/// One WebSocket. Of the callbacks `closed` comes exactly once, last, and
/// never while the connection is made.
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
        _heard,
        onError: _failed,
        onDone: () => _done(socket),
      );
      unawaited(_awaitReady(socket));
    } catch (cause) {
      _leave();
      final close = Close(1006, '$cause', cause: cause, isFinal: true);
      scheduleMicrotask(() => _end(close));
    }
  }

  final void Function(Connection connection) _opened;
  final void Function(Object? data) _received;
  final void Function(Close close) _closed;
  final Completer<void> _gone = Completer<void>();
  BridgeSocket? _socket;
  bool _isOpen = false;
  bool _isOver = false;

  /// What an error of the stream said.
  String _failure = '';

  /// Ends when the socket itself is gone.
  Future<void> get ended => _gone.future;

  /// False when it could not be handed to an open socket.
  bool send(String text) {
    final socket = _socket;
    if (_isOver || !_isOpen || socket == null) return false;
    socket.add(text);
    return true;
  }

  /// Ends it, with what this side knows about that. To the other side a normal
  /// close means that this one leaves; who comes again says another.
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
    _socket?.close(code, shortened(close.reason));
    _end(close);
  }

  Future<void> _awaitReady(BridgeSocket socket) async {
    try {
      await socket.ready;
    } catch (error) {
      _leave();
      _end(Close(1006, '$error', cause: error));
      return;
    }
    if (_isOver) return;
    if (socket.protocol != subprotocol) {
      close(
        const Close(
          CloseCode.normal,
          'the server does not speak $subprotocol',
          isFinal: true,
        ),
      );
      return;
    }
    _isOpen = true;
    _opened(this);
  }

  void _heard(Object? data) {
    if (!_isOver && _isOpen) _received(data);
  }

  void _failed(Object error) {
    _failure = '$error';
  }

  void _done(BridgeSocket socket) {
    _leave();
    final reason = socket.closeReason ?? '';
    _end(Close(socket.closeCode ?? 1006, reason == '' ? _failure : reason));
  }

  void _leave() {
    if (!_gone.isCompleted) _gone.complete();
  }

  void _end(Close close) {
    if (_isOver) return;
    _isOver = true;
    _closed(close);
  }
}

/// A close frame has room for 123 bytes of reason: so much of it that is
/// surely less, of whatever characters.
String shortened(String reason) {
  return reason.length <= 40 ? reason : reason.substring(0, 40);
}
