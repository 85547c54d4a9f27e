import 'dart:async';

import 'cancellation.dart';
import 'values.dart';

/// A call that an interceptor decides about.
final class InterceptedCall {
  InterceptedCall(Json params, this.cancellation)
    : uri = stringOf(params['uri']) ?? '',
      params = objectOf(params['params']),
      exts = objectOf(params['exts']),
      route = stringOf(params['route']),
      caller = objectOf(params['caller']);

  /// The called URI, after redirects.
  final String uri;

  /// The parameters of path, query and caller, merged.
  final Json params;

  /// Presentation data, such as `animated`.
  final Json exts;

  /// The name of the declared route; null if there is none.
  final String? route;

  /// The caller: its `session`, `client` and others.
  final Json caller;

  /// Cancelled when the call does not wait for the decision any more.
  final Cancellation cancellation;
}

/// The decision of an interceptor about a call.
final class Interception {
  const Interception._(this.json);

  /// The call continues.
  factory Interception.next() {
    return const Interception._(<String, Object?>{'decision': 'next'});
  }

  /// The call continues with these parameters instead of all that it has.
  factory Interception.change(Json params) {
    return Interception._(<String, Object?>{
      'decision': 'change',
      'params': params,
    });
  }

  /// The call continues with another URI and its interceptors. Without
  /// [params], those of the caller stay.
  factory Interception.redirect(String uri, {Json? params}) {
    return Interception._(
      withoutNulls(<String, Object?>{
        'decision': 'redirect',
        'uri': uri,
        'params': params,
      }),
    );
  }

  /// The call fails with 2423 and this reason.
  factory Interception.refuse(String reason) {
    return Interception._(<String, Object?>{
      'decision': 'refuse',
      'reason': reason,
    });
  }

  /// The object of the protocol.
  final Json json;
}

/// Decides about a call; null lets it continue. An `ApplicationException` that
/// it throws reaches the caller; any other error refuses the call.
typedef InterceptorHandler =
    FutureOr<Interception?> Function(InterceptedCall call);
