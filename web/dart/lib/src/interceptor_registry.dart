import 'codes.dart';
import 'failures.dart';
import 'host_registry.dart';
import 'incoming_requests.dart';
import 'interceptors.dart';
import 'values.dart';

final class _InterceptorEntry {
  const _InterceptorEntry(this.declaration, this.handler);

  final Declaration declaration;
  final InterceptorHandler handler;
}

/// The interceptors of this client, each with its declaration.
final class InterceptorRegistry {
  final Map<String, _InterceptorEntry> _entries = <String, _InterceptorEntry>{};

  /// The declarations, as they are registered with the server.
  Iterable<Declaration> get declarations {
    return _entries.values.map((_InterceptorEntry each) => each.declaration);
  }

  /// Adds an interceptor. Returns a function that removes it.
  void Function() add(Declaration declaration, InterceptorHandler handler) {
    final name = declaration.name ?? '';
    if (_entries.containsKey(name)) {
      throw failure(
        ErrorCode.conflict,
        'This client already has an interceptor "$name"; remove the first one '
        'before',
      );
    }
    final added = _InterceptorEntry(declaration, handler);
    _entries[name] = added;
    return () {
      if (identical(_entries[name], added)) _entries.remove(name);
    };
  }

  /// Handles `router.intercept`: returns the decision about a call.
  Future<Object?> decide(Json params, IncomingRequest request) async {
    // Without an entry, it was removed while the question was on its way.
    final entry = _entries[stringOf(params['name']) ?? ''];
    if (entry == null) return Interception.next().json;
    final handler = entry.handler;
    final call = InterceptedCall(params, request.cancellation);
    return runHandler(request.cancellation, () async {
      final decision = await handler(call);
      return (decision ?? Interception.next()).json;
    });
  }
}
