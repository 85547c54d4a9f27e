import 'codes.dart';
import 'values.dart';

/// Why a call failed.
sealed class BridgeError implements Exception {
  BridgeError(
    this.code,
    this.message, {
    this.data,
    this.method,
    this.cause,
  });

  /// The number of the protocol's registry ([ErrorCode]), or the
  /// application's own: 1 to 1999, and from 3000.
  final int code;

  /// For people: what was wrong, where, and what to do.
  final String message;

  /// What came with the error; mostly an object with `kind` and `retryable`.
  final Object? data;

  /// The method that was called, where there was one.
  final String? method;

  /// The error behind it, where there is one.
  final Object? cause;

  /// The name of [code], made finer by the server where it can be:
  /// `notOnStack` is a 2404.
  String get kind {
    final stated = textOf(objectOf(data)['kind']);
    if (stated != null) return stated;
    final known = ErrorCode.kindOf(code);
    if (known != null) return known;
    return ErrorCode.isApplication(code) ? 'application' : 'unknown';
  }

  /// Whether the same call may succeed when it is made again unchanged.
  bool get isRetryable {
    final stated = objectOf(data)['retryable'];
    return stated is bool ? stated : ErrorCode.isRetryable(code);
  }

  @override
  String toString() => 'waybridge $code $kind: $message';
}

/// No route, page or pattern fits (2404).
final class RouteNotFound extends BridgeError {
  RouteNotFound(
    super.code,
    super.message, {
    super.data,
    super.method,
    super.cause,
  });
}

/// The policy does not allow the call (2403).
final class Forbidden extends BridgeError {
  Forbidden(
    super.code,
    super.message, {
    super.data,
    super.method,
    super.cause,
  });
}

/// The parameters do not fit the route (2422) or the method (-32602).
final class InvalidParameters extends BridgeError {
  InvalidParameters(
    super.code,
    super.message, {
    super.data,
    super.method,
    super.cause,
  });
}

/// The call's deadline passed before it was answered (2408).
final class DeadlineExceeded extends BridgeError {
  DeadlineExceeded(
    super.code,
    super.message, {
    super.data,
    super.method,
    super.cause,
  });
}

/// No client shows or runs the route, or it went away or fell silent (2504).
final class HostAbsent extends BridgeError {
  HostAbsent(
    super.code,
    super.message, {
    super.data,
    super.method,
    super.cause,
  });
}

/// Whether the call was carried out can not be known (2599). What has a `key`
/// can be asked again.
final class OutcomeUnknown extends BridgeError {
  OutcomeUnknown(
    super.code,
    super.message, {
    super.data,
    super.method,
    super.cause,
  });
}

/// The caller cancelled the call (-32800).
final class Cancelled extends BridgeError {
  Cancelled(
    super.code,
    super.message, {
    super.data,
    super.method,
    super.cause,
  });
}

/// The connection failed or ended, kind `closed`; `data` has the `code` and
/// `reason` of the WebSocket's close. The error's own code is 2503 for what
/// was never sent, and 2599 for a call that was: it may have been carried out.
final class ConnectionClosed extends BridgeError {
  ConnectionClosed(
    super.code,
    super.message, {
    super.data,
    super.method,
    super.cause,
  });
}

/// Any other code of the protocol.
final class CallFailed extends BridgeError {
  CallFailed(
    super.code,
    super.message, {
    super.data,
    super.method,
    super.cause,
  });
}

/// An error of the application's own. A task or a method throws it, and its
/// caller gets it as it is; its code is 1 to 1999, or from 3000.
final class ApplicationError extends BridgeError {
  ApplicationError(
    super.code,
    super.message, {
    super.data,
    super.method,
    super.cause,
  });
}

/// Thrown by a host's `open`, or by a task, that leaves the call to the next
/// that matches, as if it were not there. It must not have had an effect yet.
final class Declined extends BridgeError {
  Declined([String message = 'the host declined'])
    : super(
        ErrorCode.noRoute,
        message,
        data: <String, Object?>{'kind': 'declined', 'retryable': false},
      );
}

/// The typed error for a code.
BridgeError bridgeError(
  int code,
  String message, {
  Object? data,
  String? method,
  Object? cause,
}) {
  if (code == ErrorCode.noRoute) {
    return RouteNotFound(
      code,
      message,
      data: data,
      method: method,
      cause: cause,
    );
  }
  if (code == ErrorCode.forbidden) {
    return Forbidden(code, message, data: data, method: method, cause: cause);
  }
  if (code == ErrorCode.invalidParameters || code == ErrorCode.invalidParams) {
    return InvalidParameters(
      code,
      message,
      data: data,
      method: method,
      cause: cause,
    );
  }
  if (code == ErrorCode.deadline) {
    return DeadlineExceeded(
      code,
      message,
      data: data,
      method: method,
      cause: cause,
    );
  }
  if (code == ErrorCode.hostAbsent) {
    return HostAbsent(code, message, data: data, method: method, cause: cause);
  }
  if (code == ErrorCode.outcomeUnknown) {
    return OutcomeUnknown(
      code,
      message,
      data: data,
      method: method,
      cause: cause,
    );
  }
  if (code == ErrorCode.cancelled) {
    return Cancelled(code, message, data: data, method: method, cause: cause);
  }
  if (ErrorCode.isApplication(code)) {
    return ApplicationError(
      code,
      message,
      data: data,
      method: method,
      cause: cause,
    );
  }
  return CallFailed(code, message, data: data, method: method, cause: cause);
}

/// An error of this side's own making, its `data` as the protocol has it.
BridgeError failure(
  int code,
  String message, {
  String? method,
  Object? cause,
}) {
  final data = <String, Object?>{
    'kind': ErrorCode.kindOf(code),
    'retryable': ErrorCode.isRetryable(code),
  };
  return bridgeError(code, message, data: data, method: method, cause: cause);
}

/// What ends what its caller no longer wants.
BridgeError cancelledError() {
  return failure(ErrorCode.cancelled, 'cancelled by the caller');
}

/// What a host's handler threw, as the wire has it: the application's codes
/// pass, everything else is 2502. That it declined passes too.
BridgeError hostFailure(Object thrown) {
  if (thrown is Declined || thrown is ApplicationError) {
    return thrown as BridgeError;
  }
  final text = messageOf(thrown);
  return failure(
    ErrorCode.hostFailed,
    text == '' ? 'the host failed or refused' : text,
    cause: thrown,
  );
}

/// What an error says.
String messageOf(Object error) {
  return error is BridgeError ? error.message : error.toString();
}
