import 'dart:async';

import 'package:waybridge/src/call.dart';
import 'package:waybridge/src/cancellation.dart';
import 'package:waybridge/src/client.dart';
import 'package:waybridge/src/codes.dart';
import 'package:waybridge/src/errors.dart';
import 'package:waybridge/src/host_call.dart';
import 'package:waybridge/src/host_registry.dart';
import 'package:waybridge/src/models.dart';
import 'package:waybridge/src/options.dart';
import 'package:waybridge/src/page_host.dart';
import 'package:waybridge/src/values.dart';

import 'fake_socket.dart';
import 'manual_clock.dart';

/// A call of a client of a transcript.
final class TranscriptCall {
  TranscriptCall({this.isOpenRequest = false});

  /// Whether it is the `session.open` that the client sends by itself.
  final bool isOpenRequest;

  /// The id that the client has given to it.
  Object? id;
  final Cancellation cancellation = Cancellation();
  final List<Object?> progressValues = <Object?>[];
  bool isOver = false;
  bool isAdopting = false;
  Object? result;
  BridgeException? error;
}

/// A request that a client of a transcript has received and that the transcript
/// will respond to.
final class TranscriptRequest {
  TranscriptRequest(this.what, this.call);

  /// `page.open p1`, `task.run action://echo`, ….
  final String what;
  final HostCall? call;
  final Completer<Object?> response = Completer<Object?>();
}

final class _TranscriptHost extends PageHost {
  _TranscriptHost(this._client, this._patterns, this._names);

  final TranscriptClient _client;
  final List<String>? _patterns;
  final Set<String> _names;

  @override
  List<String>? get patterns => _patterns;

  @override
  Map<String, MethodHandler> get methods {
    final all = <String, MethodHandler>{};
    for (final name in _names) {
      all[name] = (Json params, HostCall call) {
        return _client.handle('page.call $name', call);
      };
    }
    return all;
  }

  @override
  Future<void> open(BridgePage page, HostCall call) async {
    await _client.handle('page.open ${page.uri}', call);
  }

  @override
  Future<void> close(BridgePage page, String reason, Json exts) async {
    await _client.handle('page.close $reason', null);
  }

  @override
  Future<void> resumed(BridgePage page) async {
    _client.resumed.add(page.id);
  }
}

/// A client of a transcript: a client of this package with a fake socket.
final class TranscriptClient {
  TranscriptClient(this.name, Json openParams, this._methods) {
    implementation = Client(_options(openParams), server.connect);
    addHosts(openParams['hosts']);
    if (openParams['page'] != null) _addMethods();
    implementation.errors.listen((BridgeException error) {
      // Some transcripts return results that do not fit.
      if (error.kind != 'invalidResult') errors.add(error);
    });
  }

  final String name;
  final Set<String> _methods;
  final FakeServer server = FakeServer();
  final ManualClock clock = ManualClock();
  final List<BridgeException> errors = <BridgeException>[];
  late final Client implementation;

  /// Calls by their ids in the transcript.
  final Map<Object?, TranscriptCall> calls = <Object?, TranscriptCall>{};
  final Map<Object?, TranscriptRequest> requests =
      <Object?, TranscriptRequest>{};

  /// Requests that the transcript has not named yet.
  final List<TranscriptRequest> unassigned = <TranscriptRequest>[];
  final List<String> resumed = <String>[];

  /// Adds hosts in the form of `session.open` and `host.register`.
  void addHosts(Object? hosts) {
    for (final each in listOf(hosts)) {
      final host = objectOf(each);
      final scheme = stringOf(host['scheme']);
      final listed = host['patterns'];
      final patterns = listed == null ? null : stringsOf(listed);
      try {
        _add(scheme, patterns, host['kind'] == 'page');
      } on BridgeException catch (error) {
        // A server accepts the same host twice; a client of this package does
        // not.
        if (error.code != ErrorCode.conflict) rethrow;
      }
    }
  }

  void _add(String? scheme, List<String>? patterns, bool isOfPages) {
    final handlers = implementation.hosts.handlers;
    if (isOfPages && scheme != null) {
      handlers.addPages(scheme, _TranscriptHost(this, patterns, _methods));
      return;
    }
    for (final pattern in patterns ?? <String>[]) {
      handlers.addTask(pattern, (Json params, HostCall call) {
        return handle('task.run ${call.uri}', call);
      });
    }
  }

  /// Adds the methods of the page in which the client runs.
  void _addMethods() {
    for (final name in _methods) {
      implementation.hosts.handlers.addMethod(
        name,
        (Json params, HostCall call) => handle('page.call $name', call),
      );
    }
  }

  /// A scheme whose pages the client shows.
  String get schemeOfPages {
    for (final each in implementation.hosts.handlers.declarations) {
      final scheme = each.scheme;
      if (scheme != null) return scheme;
    }
    return 'native';
  }

  /// A task that the client runs.
  String? get firstTask {
    for (final each in implementation.hosts.handlers.declarations) {
      if (each.kind == 'task') return each.patterns?.first;
    }
    return null;
  }

  /// A host of the client that a server can choose for a URI.
  Json chosenFor(String kind, String uri) {
    final scheme = schemeOf(uri);
    Declaration? found;
    for (final each in implementation.hosts.handlers.declarations) {
      if (each.kind != kind) continue;
      final first = (each.patterns ?? <String>['$scheme:']).first;
      final isExact = uri.split('?').first == first;
      if (schemeOf(first) == scheme || first.startsWith('/')) {
        if (found == null || isExact) found = each;
      }
    }
    final patterns = found?.patterns;
    return withoutNulls(<String, Object?>{
      'kind': kind,
      'scheme': found?.scheme,
      'pattern': patterns == null ? null : patterns.first,
    });
  }

  /// Handles a request to the client. It completes when the transcript
  /// responds.
  Future<Object?> handle(String what, HostCall? call) {
    final request = TranscriptRequest(what, call);
    unassigned.add(request);
    return request.response.future;
  }

  /// Makes a request of the transcript.
  void request(Object? id, String method, Json? params) {
    final call = TranscriptCall();
    call.isAdopting = method == 'navigation.adopt';
    calls[id] = call;
    implementation.runDetached(_make(call, method, params));
  }

  Future<void> _make(TranscriptCall call, String method, Json? params) async {
    try {
      call.result = await implementation.outgoing.request(
        method,
        params,
        RequestOptions(
          cancellation: call.cancellation,
          onProgress: (Object? value) => call.progressValues.add(value),
        ),
      );
    } on BridgeException catch (error) {
      call.error = error;
    }
    call.isOver = true;
  }

  BridgeOptions _options(Json openParams) {
    final info = objectOf(openParams['client']);
    final token = stringOf(openParams['token']);
    final join = objectOf(openParams['join']);
    final session = stringOf(join['session']);
    final secret = stringOf(join['token']);
    return BridgeOptions(
      url: Uri.parse('ws://127.0.0.1:1/bridge'),
      name: stringOf(info['name']) ?? '',
      version: stringOf(info['version']) ?? '',
      platform: stringOf(info['platform']),
      token: token == null ? null : () async => token,
      join: (session == null || secret == null)
          ? null
          : () async => Join(session, secret),
      page: stringOf(openParams['page']),
      ping: null,
      clock: clock,
    );
  }
}
