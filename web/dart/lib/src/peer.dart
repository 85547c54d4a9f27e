import 'dart:convert';

import 'client.dart';
import 'codes.dart';
import 'failures.dart';
import 'incoming_requests.dart';
import 'values.dart';

/// Receives JSON-RPC 2.0 messages as strings. It does not depend on sockets or
/// routes.
final class Peer {
  Peer(this._client)
    : incoming = IncomingRequests(
        _client.outgoing,
        _client.encoder,
        _client.report,
      );

  final Client _client;

  /// Received requests.
  final IncomingRequests incoming;

  /// Receives one message.
  void receive(Object? data) {
    final message = _decode(data);
    if (message['jsonrpc'] != '2.0') return _ignore();
    final id = message['id'];
    final method = message['method'];
    final isCall = method is String;
    final isRequest = isCall && message.containsKey('id');
    final resumption = _client.resumption;
    if (method == r'$/ack' && !isRequest) {
      resumption?.acknowledged(objectOf(message['params'])['seq']);
      return;
    }
    final units = data is String ? data.length : 0;
    if (resumption != null && !resumption.accepts(message, units)) return;
    if (method is String) {
      if (isRequest) {
        _receiveRequest(id, method, message['params']);
      } else {
        _receiveNotification(method, objectOf(message['params']));
      }
    } else if (_isResponse(message)) {
      _client.outgoing.settle(message);
    } else {
      _ignore();
    }
  }

  Json _decode(Object? data) {
    if (data is! String) return <String, Object?>{};
    try {
      return objectOf(jsonDecode(data));
    } on FormatException {
      return <String, Object?>{};
    }
  }

  bool _isResponse(Json message) {
    if (!message.containsKey('id') || message.containsKey('method')) {
      return false;
    }
    return message.containsKey('result') != message.containsKey('error');
  }

  void _receiveRequest(Object? id, String method, Object? params) {
    if (id != null && id is! String && id is! num) return _ignore();
    if (method == r'$/ping') {
      _client.outgoing.send(
        jsonEncode(<String, Object?>{
          'jsonrpc': '2.0',
          'id': id,
          'result': null,
        }),
        isBare: true,
      );
      return;
    }
    final handler = _client.hosts.requestHandler(method);
    final members = objectOf(params);
    _client.runDetached(incoming.handle(id, method, members, handler));
  }

  void _receiveNotification(String method, Json params) {
    if (method == r'$/cancelRequest') {
      incoming.cancel(params['id']);
    } else if (method == r'$/progress') {
      _receiveProgress(params);
    } else if (method == 'event') {
      _client.subscriptions.receive(params);
    } else {
      _client.runDetached(_runNotification(method, params));
    }
  }

  void _receiveProgress(Json params) {
    final call = _client.outgoing.pending(params['id']);
    if (call == null) return;
    try {
      call.progress(params['value']);
    } catch (cause) {
      _reportFailure('onProgress of ${call.info.method}', cause);
    }
  }

  Future<void> _runNotification(String method, Json params) async {
    final handler = _client.hosts.notificationHandler(method);
    if (handler == null) return;
    try {
      await handler(params);
    } catch (cause) {
      _reportFailure(method, cause);
    }
  }

  /// Reports an error in code of the application, which must not affect the
  /// connection.
  void _reportFailure(String what, Object cause) {
    final why = '$what failed: ${messageOf(cause)}';
    _client.report(failure(ErrorCode.internal, why, cause: cause));
  }

  void _ignore() {
    _client.report(
      failure(
        ErrorCode.invalidRequest,
        'A received message is not JSON-RPC 2.0',
      ),
    );
  }
}
