import 'dart:async';

import 'package:waybridge/src/call.dart';
import 'package:waybridge/src/cancellation.dart';
import 'package:waybridge/src/client.dart';
import 'package:waybridge/src/codes.dart';
import 'package:waybridge/src/errors.dart';
import 'package:waybridge/src/host_call.dart';
import 'package:waybridge/src/models.dart';
import 'package:waybridge/src/options.dart';
import 'package:waybridge/src/page_host.dart';
import 'package:waybridge/src/registry.dart';
import 'package:waybridge/src/values.dart';

import 'fake_socket.dart';
import 'manual_clock.dart';

/// A call that a client of a transcript has made.
final class MadeCall {
  MadeCall({this.isHello = false});

  /// Whether it is the `session.open` that the client sends by itself.
  final bool isHello;

  /// What the client has called it.
  Object? id;
  final Cancellation cancellation = Cancellation();
  final List<Object?> heard = <Object?>[];
  bool isOver = false;
  bool isAdopting = false;
  Object? result;
  BridgeError? error;
}

/// What a client of a transcript was asked, until the transcript answers it.
final class Work {
  Work(this.what, this.call);

  /// `page.open p1`, `task.run action://echo`, ….
  final String what;
  final HostCall? call;
  final Completer<Object?> answer = Completer<Object?>();
}

final class _Host extends PageHost {
  _Host(this._actor, this._patterns, this._names);

  final Actor _actor;
  final List<String>? _patterns;
  final Set<String> _names;

  @override
  List<String>? get patterns => _patterns;

  @override
  Map<String, MethodHandler> get methods {
    final all = <String, MethodHandler>{};
    for (final name in _names) {
      all[name] = (Json params, HostCall call) {
        return _actor.work('page.call $name', call);
      };
    }
    return all;
  }

  @override
  Future<void> open(BridgePage page, HostCall call) async {
    await _actor.work('page.open ${page.uri}', call);
  }

  @override
  Future<void> close(BridgePage page, String reason, Json exts) async {
    await _actor.work('page.close $reason', null);
  }

  @override
  Future<void> resumed(BridgePage page) async {
    _actor.resumed.add(page.id);
  }
}

/// A client of a transcript: the package's own, on a fake socket.
final class Actor {
  Actor(this.name, Json hello, this._methods) {
    client = Client(_options(hello), server.connect);
    addHosts(hello['hosts']);
    if (hello['page'] != null) _addMethods();
    client.errors.listen((BridgeError error) => errors.add(error));
  }

  final String name;
  final Set<String> _methods;
  final FakeServer server = FakeServer();
  final ManualClock clock = ManualClock();
  final List<BridgeError> errors = <BridgeError>[];
  late final Client client;

  /// By the ids of the transcript.
  final Map<Object?, MadeCall> calls = <Object?, MadeCall>{};
  final Map<Object?, Work> asked = <Object?, Work>{};

  /// What the transcript has not named yet.
  final List<Work> fresh = <Work>[];
  final List<String> resumed = <String>[];

  /// Adds hosts as `session.open` and `host.register` name them.
  void addHosts(Object? hosts) {
    for (final each in listOf(hosts)) {
      final host = objectOf(each);
      final scheme = textOf(host['scheme']);
      final listed = host['patterns'];
      final patterns = listed == null ? null : textsOf(listed);
      try {
        _add(scheme, patterns, host['kind'] == 'page');
      } on BridgeError catch (error) {
        // A server takes the same host twice, a client of this package not.
        if (error.code != ErrorCode.conflict) rethrow;
      }
    }
  }

  void _add(String? scheme, List<String>? patterns, bool isOfPages) {
    final hosting = client.duties.hosting;
    if (isOfPages && scheme != null) {
      hosting.addPages(scheme, _Host(this, patterns, _methods));
      return;
    }
    for (final pattern in patterns ?? <String>[]) {
      hosting.addTask(pattern, (Json params, HostCall call) {
        return work('task.run ${call.uri}', call);
      });
    }
  }

  /// Has the client answer the methods of the page in which it runs.
  void _addMethods() {
    for (final name in _methods) {
      client.duties.hosting.addMethod(name, (Json params, HostCall call) {
        return work('page.call $name', call);
      });
    }
  }

  /// A scheme of which the client shows pages.
  String get schemeOfPages {
    for (final each in client.duties.hosting.declarations) {
      final scheme = each.scheme;
      if (scheme != null) return scheme;
    }
    return 'native';
  }

  /// A task that the client runs.
  String? get firstTask {
    for (final each in client.duties.hosting.declarations) {
      if (each.kind == 'task') return each.patterns?.first;
    }
    return null;
  }

  /// A host of the client that a server may have chosen for a URI.
  Json chosenFor(String kind, String uri) {
    final scheme = schemeOf(uri);
    Declaration? found;
    for (final each in client.duties.hosting.declarations) {
      if (each.kind != kind) continue;
      final first = (each.patterns ?? <String>['$scheme:']).first;
      final isExact = uri.split('?').first == first;
      if (schemeOf(first) == scheme || first.startsWith('/')) {
        if (found == null || isExact) found = each;
      }
    }
    final patterns = found?.patterns;
    return given(<String, Object?>{
      'kind': kind,
      'scheme': found?.scheme,
      'pattern': patterns == null ? null : patterns.first,
    });
  }

  /// Something that the client was asked: it ends when the transcript says.
  Future<Object?> work(String what, HostCall? call) {
    final made = Work(what, call);
    fresh.add(made);
    return made.answer.future;
  }

  /// Makes a request as the transcript has it.
  void request(Object? id, String method, Json? params) {
    final call = MadeCall();
    call.isAdopting = method == 'navigation.adopt';
    calls[id] = call;
    client.own(_make(call, method, params));
  }

  Future<void> _make(MadeCall call, String method, Json? params) async {
    try {
      call.result = await client.calling.request(
        method,
        params,
        Asking(
          cancellation: call.cancellation,
          onProgress: (Object? value) => call.heard.add(value),
        ),
      );
    } on BridgeError catch (error) {
      call.error = error;
    }
    call.isOver = true;
  }

  BridgeOptions _options(Json hello) {
    final about = objectOf(hello['client']);
    final token = textOf(hello['token']);
    final join = objectOf(hello['join']);
    final session = textOf(join['session']);
    final secret = textOf(join['token']);
    return BridgeOptions(
      url: Uri.parse('ws://127.0.0.1:1/bridge'),
      name: textOf(about['name']) ?? '',
      version: textOf(about['version']) ?? '',
      platform: textOf(about['platform']),
      token: token == null ? null : () async => token,
      join: (session == null || secret == null)
          ? null
          : () async => Join(session, secret),
      page: textOf(hello['page']),
      ping: null,
      clock: clock,
    );
  }
}
