import 'dart:async';

import 'call.dart';
import 'calls.dart';
import 'cancellation.dart';
import 'models.dart';
import 'options.dart';
import 'values.dart';

/// Runs the work of one idempotency key, unless it runs or has a result.
typedef OnceRunner =
    Future<Object?> Function(FutureOr<Object?> Function() work);

/// The calls that a bridge makes with its own rights, and a handler on behalf
/// of its caller.
abstract interface class Caller {
  /// Opens a page and completes when it closes. A dismissed page is an outcome,
  /// not an error. Throws a `BridgeException` if the page was not opened.
  Future<Outcome> open(String uri, {Json? params, CallOptions options});

  /// Runs a task or a service and completes with its value.
  Future<Object?> invoke(String uri, {Json? params, CallOptions options});

  /// Returns whether a host or handler can open or run the URI now.
  Future<Destination> canOpen(String uri, {Json? params, CallOptions options});

  /// Calls a method of a page. The client that runs in the page handles it, or
  /// else the client that shows the page.
  Future<Object?> call(
    String page,
    String method, {
    Json? params,
    CallOptions options,
  });
}

/// Makes calls for one caller: for this client itself, or for the caller of a
/// request that it handles.
abstract base class CallerBase implements Caller {
  CallerBase(this._calls, this._onBehalfOf);

  final Calls _calls;

  /// The request on behalf of which it calls; null: this client itself is the
  /// caller.
  final RequestReference? _onBehalfOf;

  @override
  Future<Outcome> open(
    String uri, {
    Json? params,
    CallOptions options = const CallOptions(),
  }) {
    return _calls.open(uri, params, options, _onBehalfOf);
  }

  @override
  Future<Object?> invoke(
    String uri, {
    Json? params,
    CallOptions options = const CallOptions(),
  }) {
    return _calls.invoke(uri, params, options, _onBehalfOf);
  }

  @override
  Future<Destination> canOpen(
    String uri, {
    Json? params,
    CallOptions options = const CallOptions(),
  }) {
    return _calls.canOpen(uri, params, options, _onBehalfOf);
  }

  @override
  Future<Object?> call(
    String page,
    String method, {
    Json? params,
    CallOptions options = const CallOptions(),
  }) {
    return _calls.call(page, method, params, options, _onBehalfOf);
  }
}

/// The request that a handler handles, and the calls on behalf of its caller:
/// [open], [invoke], [canOpen] and [call] use only those rights that both the
/// caller and this client have. They work until the handler has responded.
final class HostCall extends CallerBase {
  HostCall(
    super._calls,
    super._onBehalfOf,
    this.cancellation,
    this._progress, {
    this.uri,
    this.exts = const <String, Object?>{},
    this.page,
    this.isRestored = false,
    this.key,
    OnceRunner? once,
  }) : _once = once;

  final void Function(Object? value) _progress;
  final OnceRunner? _once;

  /// Cancelled when the caller cancels or leaves.
  final Cancellation cancellation;

  /// Only of a task: the called URI.
  final String? uri;

  /// Only of a task: presentation data, such as `animated`.
  final Json exts;

  /// Only of a method: the called page; only its id if another client shows it.
  final BridgePage? page;

  /// Only of a page: whether it was shown before the server was restarted. Its
  /// opener is then not known.
  final bool isRestored;

  /// Only of a task or a method: the idempotency key of the call; null if it
  /// has none. A request can arrive again with the same key.
  final String? key;

  /// Returns a copy with another cancellation.
  HostCall withCancellation(Cancellation cancellation) {
    return HostCall(
      _calls,
      _onBehalfOf,
      cancellation,
      _progress,
      uri: uri,
      exts: exts,
      page: page,
      isRestored: isRestored,
      key: key,
      once: _once,
    );
  }

  /// Runs [work] at most once for the [key] of the call, and completes with its
  /// result, which must be JSON. If the call arrives again, for example because
  /// its caller repeats it after the session was lost, it gets the same result,
  /// or the same error. Without a key, [work] runs each time.
  ///
  /// The client stores results for 10 minutes, the latest 256 with at most 1
  /// MiB, until the app ends. It does not store [DeclinedException].
  Future<Object?> once(FutureOr<Object?> Function() work) async {
    final run = _once;
    return run == null ? await work() : await run(work);
  }

  /// Sends a progress value to the caller.
  void progress(Object? value) => _progress(value);
}
