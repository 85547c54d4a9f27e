import 'call.dart';
import 'client.dart';
import 'models.dart';
import 'options.dart';
import 'uri_template.dart';
import 'values.dart';

/// The calls of routes and pages, in the form of the protocol.
final class Calls {
  const Calls(this._client);

  final Client _client;

  /// `router.open`.
  Future<Outcome> open(
    String uri,
    Json? params,
    CallOptions options,
    RequestReference? onBehalfOf,
  ) async {
    final filled = expandTemplate(uri, params);
    final answer = await _request(
      'router.open',
      <String, Object?>{
        'uri': filled.uri,
        'params': filled.params,
        'exts': options.exts,
        'key': options.key,
        'deadlineMs': options.timeout?.inMilliseconds,
        'style': options.style?.name,
        'from': options.from,
      },
      options,
      onBehalfOf,
    );
    return Outcome.of(answer);
  }

  /// `router.invoke`.
  Future<Object?> invoke(
    String uri,
    Json? params,
    CallOptions options,
    RequestReference? onBehalfOf,
  ) async {
    final filled = expandTemplate(uri, params);
    return _request(
      'router.invoke',
      <String, Object?>{
        'uri': filled.uri,
        'params': filled.params,
        'exts': options.exts,
        'key': options.key,
        'deadlineMs': options.timeout?.inMilliseconds,
      },
      options,
      onBehalfOf,
    );
  }

  /// `router.canOpen`.
  Future<Destination> canOpen(
    String uri,
    Json? params,
    CallOptions options,
    RequestReference? onBehalfOf,
  ) async {
    final filled = expandTemplate(uri, params);
    final members = <String, Object?>{'uri': filled.uri};
    final answer = await _request(
      'router.canOpen',
      members,
      options,
      onBehalfOf,
    );
    return Destination.of(answer);
  }

  /// `page.call`.
  Future<Object?> call(
    String page,
    String method,
    Json? params,
    CallOptions options,
    RequestReference? onBehalfOf,
  ) {
    return _request(
      'page.call',
      <String, Object?>{
        'page': page,
        'method': method,
        'params': params,
        'key': options.key,
        'deadlineMs': options.timeout?.inMilliseconds,
      },
      options,
      onBehalfOf,
    );
  }

  Future<Object?> _request(
    String method,
    Json members,
    CallOptions options,
    RequestReference? onBehalfOf,
  ) {
    return _client.outgoing.request(
      method,
      withoutNulls(members),
      RequestOptions(
        timeout: options.timeout?.inMilliseconds,
        cancellation: options.cancellation,
        onProgress: options.onProgress,
        onBehalfOf: onBehalfOf,
      ),
    );
  }
}
