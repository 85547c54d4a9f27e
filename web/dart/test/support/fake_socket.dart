import 'dart:async';
import 'dart:convert';

import 'package:waybridge/src/socket.dart';
import 'package:waybridge/src/values.dart';

import 'readable.dart';

/// A socket with the test as its peer.
final class FakeSocket implements BridgeSocket {
  final Completer<void> _ready = Completer<void>();
  final StreamController<Object?> _incoming = StreamController<Object?>();

  /// Messages that the client has sent and no test has dequeued yet.
  final List<Json> sent = <Json>[];

  /// Why a server could not read messages of the client.
  final List<String> unreadable = <String>[];

  /// The code with which the client has closed the socket.
  int? closedWith;
  int? _closeCode;
  String? _protocol;

  @override
  Future<void> get ready => _ready.future;

  @override
  Stream<Object?> get stream => _incoming.stream;

  @override
  String? get protocol => _protocol;

  @override
  int? get closeCode => _closeCode;

  @override
  String? get closeReason => '';

  @override
  void add(String text) {
    final message = objectOf(jsonDecode(text));
    final problem = problemOf(message);
    if (problem != null) unreadable.add(problem);
    sent.add(message);
  }

  @override
  void close(int code, String reason) {
    closedWith = code;
    end(code);
  }

  /// Completes the handshake.
  void accept([String chosen = 'waybridge.v1']) {
    _protocol = chosen;
    _ready.complete();
  }

  /// Fails the handshake.
  void reject() => _ready.completeError(StateError('refused'));

  /// Delivers a message to the client.
  void receive(Json message) => _incoming.add(jsonEncode(message));

  /// Closes the socket.
  void end(int code) {
    if (_incoming.isClosed) return;
    _closeCode = code;
    unawaited(_incoming.close());
  }

  /// Removes and returns the next message that the client has sent.
  Json dequeue() {
    if (unreadable.isNotEmpty) throw StateError(unreadable.first);
    if (sent.isEmpty) throw StateError('The client has sent nothing');
    return sent.removeAt(0);
  }
}

/// Creates fake sockets and stores them.
final class FakeServer {
  final List<FakeSocket> sockets = <FakeSocket>[];

  /// The connector of a client.
  BridgeSocket connect(Uri url, List<String> protocols) {
    final socket = FakeSocket();
    sockets.add(socket);
    return socket;
  }

  /// The last socket that was created.
  FakeSocket get last => sockets.last;
}

/// The response to a request that a client has sent.
Json responseTo(Json request, Object? result) {
  return <String, Object?>{
    'jsonrpc': '2.0',
    'id': request['id'],
    'result': result,
  };
}

/// The result of `session.open`.
Json sessionInfo([List<String> capabilities = const <String>[]]) {
  return <String, Object?>{
    'session': 's-1',
    'client': 'c-1',
    'token': 't-1',
    'joinToken': 'j-1',
    'epoch': 'e-1',
    'protocol': '1.0',
    'server': <String, Object?>{'name': 'fake', 'version': '1'},
    'limits': <String, Object?>{'maxMessage': 1048576},
    'table': <String, Object?>{'version': '1', 'hash': 'h'},
    'capabilities': capabilities,
  };
}
