import 'package:waybridge/src/values.dart';

import 'transcript_matcher.dart';

/// Returns the methods of pages that a transcript calls.
Set<String> methodsOf(Json vector) {
  final names = <String>{};
  for (final each in listOf(vector['steps'])) {
    final message = objectOf(objectOf(each)['message']);
    final name = stringOf(objectOf(message['params'])['method']);
    if (message['method'] == 'page.call' && name != null) names.add(name);
  }
  return names;
}

/// Returns the clients of a transcript that open no session. Clients of this
/// package always open one, which happens in addition to the transcript.
Set<String> plainClients(Json vector) {
  final names = <String>{};
  final clients = objectOf(vector['clients']);
  for (final name in clients.keys) {
    if (objectOf(clients[name])['subprotocol'] == null) names.add(name);
  }
  return names;
}

/// Transcripts of clients that behave in a way that those of this package do
/// not, with the reason.
const Map<String, String> unsupportedTranscripts = <String, String>{
  'open-cancel-before.json': 'a host shows a page after it was cancelled',
  'open-host-silent.json': 'a host shows a page after it was cancelled',
  'events-route.json': 'an id is used twice at one time',
  'session-page-unknown.json': 'a client continues after it was rejected',
};

/// Returns why clients of this package cannot replay a transcript; null if they
/// can.
String? reasonToSkip(Json vector) {
  if (vector['numbered'] == true) return 'the transcript numbers by itself';
  if (vector['raw'] == true) return 'no client sends such bytes';
  final opened = plainClients(vector);
  for (final each in listOf(vector['steps'])) {
    final step = objectOf(each);
    final reason = _stepReason(step, opened);
    if (reason != null) return reason;
  }
  return null;
}

String? _stepReason(Json step, Set<String> opened) {
  if (step['restart'] == true) return 'the server is started again';
  if (step['connect'] is String && !opened.contains(step['connect'])) {
    return 'a client of it connects and waits';
  }
  if (step['close'] is String && step['code'] != null) {
    return 'a client of it loses its connection';
  }
  final asked = objectOf(step['message'])['method'];
  if (asked == 'page.leave' || asked == 'router.intercept') {
    return 'a guard or interceptor decides with values of its own';
  }
  final name = stringOf(step['send']);
  if (name == null) return null;
  final message = step['message'];
  if (message is! Map<String, Object?>) return 'it sends what is no message';
  final method = stringOf(message['method']);
  if (method == 'session.open') {
    if (opened.contains(name)) return 'a client of it opens a second session';
    opened.add(name);
    return _openReason(objectOf(message['params']));
  }
  if (!opened.contains(name)) return 'a client of it does not begin so';
  if (!_isSupported(message)) return 'no client of this package says so';
  final hosts = objectOf(message['params'])['hosts'];
  return method == 'host.register' ? _hostsReason(hosts) : null;
}

String? _openReason(Json params) {
  for (final name in params.keys) {
    if (!_openParams.contains(name)) return 'it says hello with $name';
  }
  if (!_isClientInfo(params['client'])) return 'a client of it is not named so';
  if (difference(<Object?>['1.0'], params['protocol']) != null) {
    return 'a client of it speaks other versions';
  }
  return _hostsReason(params['hosts']);
}

const List<String> _openParams = <String>[
  'protocol',
  'client',
  'token',
  'hosts',
  'join',
  'page',
];

bool _isClientInfo(Object? value) {
  final info = objectOf(value);
  return info['name'] is String && info['version'] is String;
}

String? _hostsReason(Object? hosts) {
  for (final each in listOf(hosts)) {
    final host = objectOf(each);
    final isPage = host['kind'] == 'page' && host['scheme'] is String;
    final isTask =
        host['kind'] == 'task' &&
        host['scheme'] == null &&
        stringsOf(host['patterns']).length == 1;
    if (!isPage && !isTask) return 'no client of this package hosts so';
  }
  return null;
}

/// Whether a client of this package can send such a message.
bool _isSupported(Json message) {
  if (message['jsonrpc'] != '2.0' || message['seq'] != null) return false;
  final method = message['method'];
  if (method == null) return message.containsKey('id');
  if (method == r'$/cancelRequest' || method == r'$/progress') {
    return !message.containsKey('id');
  }
  if (message['params'] is List<Object?>) return false;
  return method is String && message['id'] != null;
}
