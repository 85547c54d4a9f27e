import 'dart:async';
import 'dart:convert';
import 'dart:math';
import 'dart:typed_data';

import 'blob_http.dart';
import 'blob_reference.dart';
import 'cancellation.dart';
import 'clock.dart';
import 'codes.dart';
import 'errors.dart';
import 'failures.dart';

/// The codes of errors by HTTP status.
const Map<int, int> _codes = <int, int>{
  400: ErrorCode.invalidParams,
  401: ErrorCode.notAuthenticated,
  403: ErrorCode.forbidden,
  404: ErrorCode.noRoute,
  409: ErrorCode.conflict,
  413: ErrorCode.tooLarge,
  415: ErrorCode.invalidParams,
  416: ErrorCode.invalidParams,
  429: ErrorCode.tooMany,
};

/// When to repeat a request for a blob.
final class BlobRetryOptions {
  const BlobRetryOptions({
    this.retries = 8,
    this.minDelay = const Duration(milliseconds: 200),
    this.maxDelay = const Duration(seconds: 5),
  });

  /// How often a request that makes no progress is repeated.
  final int retries;

  /// The delay before the first repetition, doubled before each further one.
  final Duration minDelay;

  /// The longest delay.
  final Duration maxDelay;
}

/// The HTTP requests of one client at `/blobs`.
final class BlobRequests {
  BlobRequests(
    this._http,
    this._authorize,
    Uri endpoint,
    this._clock,
    this._options,
  ) : url = _blobsURL(endpoint);

  /// The blobs are next to the endpoint, so that the path prefix of a proxy is
  /// kept.
  static Uri _blobsURL(Uri endpoint) {
    final scheme = endpoint.scheme == 'wss' ? 'https' : 'http';
    return endpoint.replace(scheme: scheme).resolve('blobs');
  }

  /// The most bytes of a response that says what is wrong.
  static const int _maxText = 64 * 1024;

  /// The URL to which blobs are sent.
  final Uri url;
  final BlobHttp _http;
  final Future<String> Function() _authorize;
  final Clock _clock;
  final BlobRetryOptions _options;
  Future<String>? _token;

  Uri urlOf(BlobReference reference) => url.resolve('blobs/${reference.id}');

  /// Sends one request. Throws if there is no response, and a
  /// [BridgeException] for a status that is no success.
  Future<BlobResponse> send(
    String method,
    Uri url, {
    Map<String, String> headers = const <String, String>{},
    List<int> body = const <int>[],
    Cancellation? cancellation,
  }) async {
    final pending = _token ?? _authorize();
    _token = pending;
    final request = BlobRequest(method, url, <String, String>{
      ...headers,
      'Authorization': 'Bearer ${await _tokenOf(pending)}',
    }, body);
    final response = await _response(request, cancellation);
    final status = response.status;
    if (status >= 200 && status < 300) return response;
    // After a restart the server does not know the token. The next attempt gets
    // another one.
    if (status == 401 && identical(_token, pending)) _token = null;
    final stated = (await textOf(response)).trim();
    const retried = <int>[401, 408, 409];
    throw bridgeException(
      _codes[status] ?? ErrorCode.unavailable,
      stated == '' ? 'The server responds with the status $status' : stated,
      data: <String, Object?>{
        'kind': ErrorCode.kindOf(_codes[status] ?? ErrorCode.unavailable),
        'retryable': status >= 500 || retried.contains(status),
        'status': status,
      },
    );
  }

  /// Reads the body of a response as text, as far as an error or a reference
  /// can be long.
  Future<String> textOf(BlobResponse response) async {
    final body = StreamIterator<List<int>>(response.body);
    final bytes = BytesBuilder(copy: false);
    while (bytes.length < _maxText && await body.moveNext()) {
      bytes.add(body.current);
    }
    await body.cancel();
    return utf8.decode(bytes.takeBytes(), allowMalformed: true);
  }

  /// Repeats an attempt until it succeeds. Throws if it fails too often without
  /// progress, or with an error that another attempt cannot change. [progress]
  /// returns a number that grows with the progress.
  Future<T> retry<T>(
    Cancellation? cancellation,
    int Function() progress,
    Future<T> Function() attempt,
  ) async {
    int failed = 0;
    int reached = progress();
    while (true) {
      _check(cancellation);
      try {
        return await attempt();
      } catch (error) {
        _check(cancellation);
        if (error is BridgeException && !error.isRetryable) rethrow;
        if (progress() > reached) failed = 0;
        reached = progress();
        if (failed >= _options.retries) {
          if (error is BridgeException) rethrow;
          throw failure(
            ErrorCode.unavailable,
            'The server does not respond',
            cause: error,
          );
        }
        failed += 1;
        await _pause(failed, cancellation);
      }
    }
  }

  void _check(Cancellation? cancellation) {
    final reason = cancellation?.reason;
    if (reason != null) throw reason;
  }

  /// Waits after this number of failures, or until the cancellation.
  Future<void> _pause(int failed, Cancellation? cancellation) async {
    final most = _options.maxDelay.inMilliseconds;
    final delay = _options.minDelay.inMilliseconds * pow(2, failed - 1);
    final over = Completer<void>();
    void end() {
      if (!over.isCompleted) over.complete();
    }

    final timer = _clock.after(min(most, delay).toInt(), end);
    cancellation?.addListener(end);
    await over.future;
    timer.cancel();
    cancellation?.removeListener(end);
  }

  /// Returns the token of the requests. After an error, the next request gets
  /// one.
  Future<String> _tokenOf(Future<String> pending) async {
    try {
      return await pending;
    } catch (error) {
      if (identical(_token, pending)) _token = null;
      rethrow;
    }
  }

  /// Sends a request. Throws at once when it is cancelled.
  Future<BlobResponse> _response(
    BlobRequest request,
    Cancellation? cancellation,
  ) async {
    if (cancellation == null) return _http.send(request);
    final asked = cancellation;
    _check(asked);
    final result = Completer<BlobResponse>();
    void cancel() {
      if (result.isCompleted) return;
      result.completeError(asked.reason ?? cancelledException());
    }

    asked.addListener(cancel);
    unawaited(_forward(request, result));
    try {
      return await result.future;
    } finally {
      asked.removeListener(cancel);
    }
  }

  Future<void> _forward(
    BlobRequest request,
    Completer<BlobResponse> result,
  ) async {
    try {
      final response = await _http.send(request);
      if (!result.isCompleted) return result.complete(response);
      // Nobody reads it any more.
      await StreamIterator<List<int>>(response.body).cancel();
    } catch (error) {
      if (!result.isCompleted) result.completeError(error);
    }
  }
}
