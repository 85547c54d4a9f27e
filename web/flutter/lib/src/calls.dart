import 'call.dart';
import 'client.dart';
import 'fill.dart';
import 'models.dart';
import 'options.dart';
import 'values.dart';

/// The calls of routes and pages, as the protocol has them.
final class Calls {
  const Calls(this._client);

  final Client _client;

  /// `router.open`.
  Future<Outcome> open(
    String uri,
    Json? params,
    CallOptions options,
    Served? served,
  ) async {
    final filled = fill(uri, params);
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
      served,
    );
    return Outcome.of(answer);
  }

  /// `router.invoke`.
  Future<Object?> invoke(
    String uri,
    Json? params,
    CallOptions options,
    Served? served,
  ) async {
    final filled = fill(uri, params);
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
      served,
    );
  }

  /// `router.canOpen`.
  Future<Destination> canOpen(
    String uri,
    Json? params,
    CallOptions options,
    Served? served,
  ) async {
    final filled = fill(uri, params);
    final members = <String, Object?>{'uri': filled.uri};
    final answer = await _request('router.canOpen', members, options, served);
    return Destination.of(answer);
  }

  /// `page.call`.
  Future<Object?> call(
    String page,
    String method,
    Json? params,
    CallOptions options,
    Served? served,
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
      served,
    );
  }

  Future<Object?> _request(
    String method,
    Json members,
    CallOptions options,
    Served? served,
  ) {
    return _client.calling.request(
      method,
      given(members),
      Asking(
        timeout: options.timeout?.inMilliseconds,
        cancellation: options.cancellation,
        onProgress: options.onProgress,
        onBehalfOf: served,
      ),
    );
  }
}
