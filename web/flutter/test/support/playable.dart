import 'package:waybridge/src/values.dart';

import 'matching.dart';

/// The methods of pages that a transcript calls.
Set<String> methodsOf(Json vector) {
  final names = <String>{};
  for (final each in listOf(vector['steps'])) {
    final message = objectOf(objectOf(each)['message']);
    final name = textOf(objectOf(message['params'])['method']);
    if (message['method'] == 'page.call' && name != null) names.add(name);
  }
  return names;
}

/// The clients of a transcript that open no session, as those of this package
/// always do: theirs is opened beside the transcript.
Set<String> plainClients(Json vector) {
  final names = <String>{};
  final clients = objectOf(vector['clients']);
  for (final name in clients.keys) {
    if (objectOf(clients[name])['subprotocol'] == null) names.add(name);
  }
  return names;
}

/// Transcripts of clients that do what those of this package do not.
const Map<String, String> others = <String, String>{
  'open-cancel-before.json': 'a host shows what it was told nobody wants',
  'open-host-silent.json': 'a host shows what it was told nobody wants',
  'events-route.json': 'an id is used twice at one time',
  'session-page-unknown.json': 'a client goes on after it was refused',
};

/// Why no client of this package plays a transcript; null where one does.
String? reasonToSkip(Json vector) {
  if (vector['numbered'] == true) return 'the transcript numbers by itself';
  if (vector['raw'] == true) return 'no client sends such bytes';
  final opened = plainClients(vector);
  for (final each in listOf(vector['steps'])) {
    final step = objectOf(each);
    final reason = _reason(step, opened);
    if (reason != null) return reason;
  }
  return null;
}

String? _reason(Json step, Set<String> opened) {
  if (step['restart'] == true) return 'the server is started again';
  if (step['connect'] is String && !opened.contains(step['connect'])) {
    return 'a client of it connects and waits';
  }
  if (step['close'] is String && step['code'] != null) {
    return 'a client of it loses its connection';
  }
  final name = textOf(step['send']);
  if (name == null) return null;
  final message = step['message'];
  if (message is! Map<String, Object?>) return 'it sends what is no message';
  final method = textOf(message['method']);
  if (method == 'session.open') {
    if (opened.contains(name)) return 'a client of it opens a second session';
    opened.add(name);
    return _hello(objectOf(message['params']));
  }
  if (!opened.contains(name)) return 'a client of it does not begin so';
  if (!_isSpoken(message)) return 'no client of this package says so';
  final hosts = objectOf(message['params'])['hosts'];
  return method == 'host.register' ? _hosts(hosts) : null;
}

String? _hello(Json params) {
  for (final name in params.keys) {
    if (!_greetings.contains(name)) return 'it says hello with $name';
  }
  if (!_isAbout(params['client'])) return 'a client of it is not named so';
  if (difference(<Object?>['1.0'], params['protocol']) != null) {
    return 'a client of it speaks other versions';
  }
  return _hosts(params['hosts']);
}

const List<String> _greetings = <String>[
  'protocol',
  'client',
  'token',
  'hosts',
  'join',
  'page',
];

bool _isAbout(Object? value) {
  final about = objectOf(value);
  return about['name'] is String && about['version'] is String;
}

String? _hosts(Object? hosts) {
  for (final each in listOf(hosts)) {
    final host = objectOf(each);
    final isPage = host['kind'] == 'page' && host['scheme'] is String;
    final isTask =
        host['kind'] == 'task' &&
        host['scheme'] == null &&
        textsOf(host['patterns']).length == 1;
    if (!isPage && !isTask) return 'no client of this package hosts so';
  }
  return null;
}

/// Whether a client of this package sends such messages at all.
bool _isSpoken(Json message) {
  if (message['jsonrpc'] != '2.0' || message['seq'] != null) return false;
  final method = message['method'];
  if (method == null) return message.containsKey('id');
  if (method == r'$/cancelRequest' || method == r'$/progress') {
    return !message.containsKey('id');
  }
  if (message['params'] is List<Object?>) return false;
  return method is String && message['id'] != null;
}
