import 'dart:async';

import 'host_call.dart';
import 'models.dart';
import 'values.dart';

/// Runs a task and returns its result. An `ApplicationException` that it throws
/// reaches the caller unchanged, any other error as 2502. `DeclinedException`
/// leaves the call to the next host.
typedef TaskHandler = FutureOr<Object?> Function(Json params, HostCall call);

/// Runs a method of a page or of the client. Errors are handled as for a task.
typedef MethodHandler = FutureOr<Object?> Function(Json params, HostCall call);

/// An operation that would close a page with a guard.
final class Leave {
  Leave(Json params)
    : page = stringOf(params['page']) ?? '',
      reason = stringOf(params['reason']) ?? 'dismissed',
      to = params['to'] == null ? null : objectOf(params['to']);

  /// The id of the page that would close.
  final String page;

  /// The outcome that the page would have: `dismissed` or `replaced`.
  final String reason;

  /// The page that would be on top: its id as `page`, and its `uri` and `route`
  /// if this client may see it. Null if there would be no page.
  final Json? to;
}

/// Decides whether a page may close. Returns null if it may, or the reason why
/// it stays open, which may be empty. An error keeps the page open.
typedef LeaveGuard = FutureOr<String?> Function(Leave leave);

/// A host that shows the pages of a scheme.
abstract class PageHost {
  const PageHost();

  /// Limits the host to URIs that match one of these; null: the whole scheme.
  List<String>? get patterns => null;

  /// Methods of its pages that other clients can call.
  Map<String, MethodHandler> get methods => const <String, MethodHandler>{};

  /// Shows the page; may return a future. If it throws, the page is not opened;
  /// `DeclinedException` leaves the call to the next host.
  FutureOr<void> open(BridgePage page, HostCall call);

  /// Closes the page. [reason] is its outcome: `finished`, `dismissed`,
  /// `replaced`, `failed` or `cancelled`; [exts] are those of the call that
  /// closed it.
  FutureOr<void> close(BridgePage page, String reason, Json exts);

  /// Called when a call has passed a new URI, new parameters or new `exts` to
  /// the open page, for example with the style `popTo`. [page] has them, and
  /// the host shows them in the page. [resumed] is called after it.
  FutureOr<void> updated(BridgePage page) {}

  /// Called when the page is on top again, and after [updated].
  FutureOr<void> resumed(BridgePage page) {}
}
