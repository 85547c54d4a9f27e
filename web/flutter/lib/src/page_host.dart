import 'dart:async';

import 'host_call.dart';
import 'models.dart';
import 'values.dart';

/// Runs a task; its value is the task's. What it throws reaches the caller: an
/// `ApplicationError` as it is, anything else as 2502. `Declined` leaves the
/// call to who comes next.
typedef TaskHandler = FutureOr<Object?> Function(Json params, HostCall call);

/// Answers a method of a page, or of the client; treated as a task.
typedef MethodHandler = FutureOr<Object?> Function(Json params, HostCall call);

/// What shows the pages of a scheme.
abstract class PageHost {
  const PageHost();

  /// Only URIs that fit one of these; null: the whole scheme.
  List<String>? get patterns => null;

  /// What others may call of a page that it shows.
  Map<String, MethodHandler> get methods => const <String, MethodHandler>{};

  /// Shows the page, perhaps later; throwing refuses it, and with `Declined`
  /// leaves it to who comes next.
  FutureOr<void> open(BridgePage page, HostCall call);

  /// Takes the page away. [reason] is its outcome: `finished`, `dismissed`,
  /// `replaced`, `failed` or `cancelled`; [exts] are those of what closed it.
  FutureOr<void> close(BridgePage page, String reason, Json exts);

  /// The page is on top again.
  FutureOr<void> resumed(BridgePage page) {}
}
