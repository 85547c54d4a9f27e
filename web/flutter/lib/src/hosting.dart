import 'calls.dart';
import 'cancellation.dart';
import 'codes.dart';
import 'errors.dart';
import 'host_call.dart';
import 'models.dart';
import 'page_host.dart';
import 'registry.dart';
import 'serving.dart';
import 'shown_pages.dart';
import 'values.dart';

/// A host that was added: what the server is told of it, and what takes it
/// back.
final class Hosted {
  const Hosted(this.declaration, this.remove);

  final Declaration declaration;
  final void Function() remove;
}

/// What this client shows and runs for others, and what they may call of it.
final class Hosting {
  Hosting(this._calls);

  /// Names that the protocol gives a meaning of its own.
  static final RegExp _reserved = RegExp(
    r'^(\$/|rpc\.|(session|router|navigation|page|task|host|events|table)\.'
    r'|event$)',
  );

  final Calls _calls;
  final Registry<PageHost> _hosts = Registry<PageHost>();
  final Registry<TaskHandler> _tasks = Registry<TaskHandler>();
  final Map<String, MethodHandler> _methods = <String, MethodHandler>{};

  late final ShownPages pages = ShownPages(_hosts);

  /// The page in which the client runs: its methods are the client's.
  String? page;

  /// What the server is told about all of them.
  List<Declaration> get declarations {
    return <Declaration>[..._hosts.declarations, ..._tasks.declarations];
  }

  /// What answers a request of the server; null: nothing.
  RequestHandler? handler(String method) {
    if (method == 'page.open') {
      return (Json params, Request asked) async {
        await pages.open(params, _callOf(asked));
        return null;
      };
    }
    if (method == 'page.close') {
      return (Json params, Request asked) => _close(params);
    }
    if (method == 'page.call') return _call;
    if (method == 'task.run') return _run;
    final own = _methods[method];
    if (own == null) return null;
    return (Json params, Request asked) {
      return served(asked.cancellation, () => own(params, _callOf(asked)));
    };
  }

  /// Shows the pages of a scheme, or those that fit the host's patterns.
  Hosted addPages(String scheme, PageHost host) {
    final lower = scheme.toLowerCase();
    if (schemeOf('$scheme:') != lower) {
      throw _invalid(
        'not a scheme: $scheme; write it as "native", without a colon',
      );
    }
    final patterns = host.patterns;
    patterns?.forEach(_checkPattern);
    final declaration = Declaration('page', lower, patterns);
    return Hosted(declaration, _hosts.add(declaration, host));
  }

  /// Runs the tasks of a URI or pattern.
  Hosted addTask(String pattern, TaskHandler handler) {
    _checkPattern(pattern);
    final declaration = Declaration('task', null, <String>[pattern]);
    return Hosted(declaration, _tasks.add(declaration, handler));
  }

  /// Answers a method. Gives what takes it back.
  void Function() addMethod(String name, MethodHandler handler) {
    if (name == '' || _reserved.hasMatch(name)) {
      throw _invalid(
        '"$name" can not be a method of a client: the names of the protocol '
        'can not',
      );
    }
    if (_methods.containsKey(name)) {
      throw failure(
        ErrorCode.conflict,
        'this client has a method $name already; take the first back before',
      );
    }
    _methods[name] = handler;
    return () {
      if (identical(_methods[name], handler)) _methods.remove(name);
    };
  }

  /// What a handler is given that acts for this client itself.
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
    Request asked, {
    String? uri,
    Json exts = const <String, Object?>{},
    BridgePage? page,
  }) {
    return HostCall(
      _calls,
      asked,
      asked.cancellation,
      asked.progress,
      uri: uri,
      exts: exts,
      page: page,
    );
  }

  Future<Object?> _close(Json params) async {
    final id = params['page'];
    if (id is! String) throw _invalid('page.close needs the id of a page');
    final reason = textOf(params['reason']) ?? 'failed';
    await pages.close(id, reason, objectOf(params['exts']));
    return null;
  }

  Future<Object?> _run(Json params, Request asked) async {
    final uri = params['uri'];
    if (uri is! String) throw _invalid('task.run needs a uri');
    final handler = _tasks.find(chosenHost(params['host']));
    if (handler == null) {
      throw failure(ErrorCode.hostAbsent, 'this client runs no $uri');
    }
    final call = _callOf(asked, uri: uri, exts: objectOf(params['exts']));
    return served(
      asked.cancellation,
      () => handler(objectOf(params['params']), call),
    );
  }

  Future<Object?> _call(Json params, Request asked) async {
    final id = params['page'];
    final method = params['method'];
    if (id is! String || method is! String) {
      throw _invalid('page.call needs a page and a method');
    }
    final shown = pages.find(id);
    if (shown == null && id != page) {
      throw bridgeError(
        ErrorCode.noRoute,
        'this client shows no page $id',
        data: <String, Object?>{'kind': 'notOnStack', 'retryable': false},
      );
    }
    final own = id == page ? _methods[method] : null;
    final other = shown == null ? null : shown.host.methods[method];
    final handler = other ?? own;
    if (handler == null) throw noMethod(method);
    final called = shown?.page ?? BridgePage(<String, Object?>{'id': id});
    final call = _callOf(asked, page: called);
    return served(
      asked.cancellation,
      () => handler(objectOf(params['params']), call),
    );
  }

  /// The server reads the rest of it.
  void _checkPattern(String pattern) {
    if (pattern.startsWith('/') || schemeOf(pattern) != null) return;
    throw _invalid(
      'not a pattern: $pattern; write "scheme://part/:name" or "/part/:name"',
    );
  }
}

BridgeError _invalid(String message) {
  return failure(ErrorCode.invalidParams, message);
}
