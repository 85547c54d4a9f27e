import 'dart:async';

import 'calls.dart';
import 'cancellation.dart';
import 'codes.dart';
import 'encodable.dart';
import 'errors.dart';
import 'failures.dart';
import 'host_call.dart';
import 'host_key.dart';
import 'host_registry.dart';
import 'hosted_pages.dart';
import 'idempotency_results.dart';
import 'incoming_requests.dart';
import 'interceptor_registry.dart';
import 'interceptors.dart';
import 'models.dart';
import 'page_host.dart';
import 'values.dart';

/// A host that was added: its declaration, and the function that removes it.
final class HostEntry {
  const HostEntry(this.declaration, this.remove);

  final Declaration declaration;
  final void Function() remove;
}

/// The handlers of this client's hosts: pages, tasks, interceptors, and methods
/// of pages.
final class HostHandlers {
  HostHandlers(this._calls, this._results);

  /// Names that the protocol reserves.
  static final RegExp _reserved = RegExp(
    r'^(\$/|rpc\.|(session|router|navigation|page|task|host|events|table)\.'
    r'|event$)',
  );

  final Calls _calls;
  final IdempotencyResults _results;
  final HostRegistry<PageHost> _hosts = HostRegistry<PageHost>();
  final HostRegistry<TaskHandler> _tasks = HostRegistry<TaskHandler>();
  final Map<String, MethodHandler> _methods = <String, MethodHandler>{};

  final InterceptorRegistry _interceptors = InterceptorRegistry();

  final Map<String, LeaveGuard> _guards = <String, LeaveGuard>{};

  late final HostedPages pages = HostedPages(_hosts);

  /// The page in which the client runs. Its methods are those of the client.
  String? page;

  /// The declarations of all hosts, as they are registered with the server.
  List<Declaration> get declarations {
    return <Declaration>[
      ..._hosts.declarations,
      ..._tasks.declarations,
      ..._interceptors.declarations,
    ];
  }

  /// Returns the handler of a request; null if there is none.
  RequestHandler? handler(String method) {
    if (method == 'page.open') {
      return (Json params, IncomingRequest request) async {
        await pages.open(params, _callOf(request));
        return null;
      };
    }
    if (method == 'page.close') {
      return (Json params, IncomingRequest request) => _close(params);
    }
    if (method == 'page.call') return _call;
    if (method == 'page.leave') return _leave;
    if (method == 'router.intercept') return _interceptors.decide;
    if (method == 'task.run') return _run;
    final own = _methods[method];
    if (own == null) return null;
    return (Json params, IncomingRequest request) {
      return runHandler(
        request.cancellation,
        () => own(params, _callOf(request)),
      );
    };
  }

  /// Adds a host for the pages of a scheme, or for those that match its
  /// patterns.
  HostEntry addPages(String scheme, PageHost host) {
    final lower = scheme.toLowerCase();
    if (schemeOf('$scheme:') != lower) {
      throw _invalid(
        'A host needs a scheme such as "native", but got "$scheme"',
      );
    }
    final patterns = host.patterns;
    patterns?.forEach(_checkPattern);
    final declaration = Declaration('page', lower, patterns);
    return HostEntry(declaration, _hosts.add(declaration, host));
  }

  /// Adds a handler for the tasks of a URI or pattern.
  HostEntry addTask(String pattern, TaskHandler handler) {
    _checkPattern(pattern);
    final declaration = Declaration('task', null, <String>[pattern]);
    return HostEntry(declaration, _tasks.add(declaration, handler));
  }

  /// Adds an interceptor.
  HostEntry addInterceptor(
    Declaration declaration,
    InterceptorHandler handler,
  ) {
    declaration.patterns?.forEach(_checkPattern);
    return HostEntry(declaration, _interceptors.add(declaration, handler));
  }

  /// Adds the handler of a method. Returns a function that removes it.
  void Function() addMethod(String name, MethodHandler handler) {
    if (name == '' || _reserved.hasMatch(name)) {
      throw _invalid(
        'A method cannot have the name "$name": it is empty, or reserved by '
        'the protocol',
      );
    }
    if (_methods.containsKey(name)) {
      throw failure(
        ErrorCode.conflict,
        'This client already has a method "$name"; remove the first one before',
      );
    }
    _methods[name] = handler;
    return () {
      if (identical(_methods[name], handler)) _methods.remove(name);
    };
  }

  /// Sets the guard of a page; null removes it. Returns the earlier one.
  LeaveGuard? setGuard(String? page, LeaveGuard? guard) {
    final id = page ?? '';
    final earlier = _guards[id];
    if (guard == null) {
      _guards.remove(id);
    } else {
      _guards[id] = guard;
    }
    return earlier;
  }

  /// Removes all guards, because the session was lost.
  void clearGuards() => _guards.clear();

  /// Returns the call of a handler that acts for this client itself.
  HostCall ownCall() {
    return HostCall(
      _calls,
      null,
      Cancellation(),
      (Object? value) {},
      isRestored: true,
    );
  }

  HostCall _callOf(
    IncomingRequest request, {
    String? uri,
    Json exts = const <String, Object?>{},
    BridgePage? page,
    Json params = const <String, Object?>{},
  }) {
    final key = HostKey.of(params);
    return HostCall(
      _calls,
      request,
      request.cancellation,
      request.progress,
      uri: uri,
      exts: exts,
      page: page,
      key: stringOf(params['key']),
      once: key == null
          ? null
          : (FutureOr<Object?> Function() work) => _results.run(key, work),
    );
  }

  Future<Object?> _close(Json params) async {
    final id = params['page'];
    if (id is! String) throw _invalid('page.close needs the id of a page');
    final reason = stringOf(params['reason']) ?? 'failed';
    _guards.remove(id);
    await pages.close(id, reason, objectOf(params['exts']));
    return null;
  }

  Future<Object?> _leave(Json params, IncomingRequest request) async {
    // Without a guard, it was removed while the question was on its way.
    final guard = _guards[stringOf(params['page']) ?? ''];
    if (guard == null) return <String, Object?>{'allow': true};
    final refusal = await runHandler(
      request.cancellation,
      () => guard(Leave(params)),
    );
    return withoutNulls(<String, Object?>{
      'allow': refusal == null,
      'reason': refusal,
    });
  }

  Future<Object?> _run(Json params, IncomingRequest request) async {
    final uri = params['uri'];
    if (uri is! String) throw _invalid('task.run needs a uri');
    final handler = _tasks.find(checkHost(params['host']));
    if (handler == null) {
      throw failure(ErrorCode.hostAbsent, 'This client does not run "$uri"');
    }
    final call = _callOf(
      request,
      uri: uri,
      exts: objectOf(params['exts']),
      params: params,
    );
    return runHandler(
      request.cancellation,
      () => handler(objectOf(params['params']), call),
    );
  }

  Future<Object?> _call(Json params, IncomingRequest request) async {
    final id = params['page'];
    final method = params['method'];
    if (id is! String || method is! String) {
      throw _invalid('page.call needs a page and a method');
    }
    final shown = pages.find(id);
    if (shown == null && id != page) {
      throw bridgeException(
        ErrorCode.noRoute,
        'This client does not show the page "$id"',
        data: <String, Object?>{'kind': 'notOnStack', 'retryable': false},
      );
    }
    final own = id == page ? _methods[method] : null;
    final other = shown == null ? null : shown.host.methods[method];
    final handler = other ?? own;
    if (handler == null) throw methodNotFound(method);
    final called = shown?.page ?? BridgePage(<String, Object?>{'id': id});
    final call = _callOf(request, page: called, params: params);
    return runHandler(
      request.cancellation,
      () => handler(objectOf(params['params']), call),
    );
  }

  /// Checks only the start of a pattern, and that it can be part of a message;
  /// the server checks the rest.
  void _checkPattern(String pattern) {
    try {
      checkText(pattern, 'The pattern "${repaired(pattern)}"');
    } on FormatException catch (cause) {
      throw _invalid(cause.message);
    }
    if (pattern.startsWith('/') || schemeOf(pattern) != null) return;
    throw _invalid(
      '"$pattern" is not a pattern; write "scheme://part/:name" or '
      '"/part/:name"',
    );
  }
}

BridgeException _invalid(String message) {
  return failure(ErrorCode.invalidParams, message);
}
