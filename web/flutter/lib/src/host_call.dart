import 'call.dart';
import 'calls.dart';
import 'cancellation.dart';
import 'models.dart';
import 'options.dart';
import 'values.dart';

/// What can be called: by a bridge with its own rights, by a handler with those
/// of its caller.
abstract interface class Caller {
  /// Opens a page, and ends when it goes away; that it was dismissed is an
  /// outcome, not an error. Throws a `BridgeError` when it did not open.
  Future<Outcome> open(String uri, {Json? params, CallOptions options});

  /// Runs a task or a service, and ends with its value.
  Future<Object?> invoke(String uri, {Json? params, CallOptions options});

  /// Whether something would open it or run it; nothing of that happens.
  Future<Destination> canOpen(String uri, {Json? params, CallOptions options});

  /// Calls a method of a page, which the client that runs in it answers, or the
  /// one that shows it.
  Future<Object?> call(
    String page,
    String method, {
    Json? params,
    CallOptions options,
  });
}

/// Calls for one caller: for this client itself, or for whoever has made the
/// request that it serves.
abstract base class CallerBase implements Caller {
  CallerBase(this._calls, this._served);

  final Calls _calls;

  /// None: it is this client itself that calls.
  final Served? _served;

  @override
  Future<Outcome> open(
    String uri, {
    Json? params,
    CallOptions options = const CallOptions(),
  }) {
    return _calls.open(uri, params, options, _served);
  }

  @override
  Future<Object?> invoke(
    String uri, {
    Json? params,
    CallOptions options = const CallOptions(),
  }) {
    return _calls.invoke(uri, params, options, _served);
  }

  @override
  Future<Destination> canOpen(
    String uri, {
    Json? params,
    CallOptions options = const CallOptions(),
  }) {
    return _calls.canOpen(uri, params, options, _served);
  }

  @override
  Future<Object?> call(
    String page,
    String method, {
    Json? params,
    CallOptions options = const CallOptions(),
  }) {
    return _calls.call(page, method, params, options, _served);
  }
}

/// What a handler knows of the request that it serves, and what it does for its
/// caller: [open], [invoke], [canOpen] and [call] are done with the caller's
/// rights, as far as this client's own go, until the handler has answered.
final class HostCall extends CallerBase {
  HostCall(
    super._calls,
    super._served,
    this.cancellation,
    this._progress, {
    this.uri,
    this.exts = const <String, Object?>{},
    this.page,
    this.isRestored = false,
  });

  final void Function(Object? value) _progress;

  /// Tells that nobody wants the answer any more.
  final Cancellation cancellation;

  /// Of a task: what was called.
  final String? uri;

  /// Of a task: what is no business data.
  final Json exts;

  /// Of a method: the page that was called, whole where this client shows it.
  final BridgePage? page;

  /// Of a page: it was shown before the server was restarted. Who it was opened
  /// for is not told then.
  final bool isRestored;

  /// The same with another cancellation.
  HostCall within(Cancellation cancellation) {
    return HostCall(
      _calls,
      _served,
      cancellation,
      _progress,
      uri: uri,
      exts: exts,
      page: page,
      isRestored: isRestored,
    );
  }

  /// Tells the caller how far it is.
  void progress(Object? value) => _progress(value);
}
