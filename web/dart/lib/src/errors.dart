import 'codes.dart';
import 'values.dart';

/// The error of a failed call.
sealed class BridgeException implements Exception {
  BridgeException(
    this.code,
    this.message, {
    this.data,
    this.method,
    this.cause,
  });

  /// A code of the protocol's registry ([ErrorCode]), or of the application
  /// itself: 1 to 1999, and from 3000.
  final int code;

  /// Describes what is wrong and what to do about it.
  final String message;

  /// The data of the error; usually an object with `kind` and `retryable`.
  final Object? data;

  /// The method that was called, if the error belongs to a call.
  final String? method;

  /// The error that caused it, if there is one.
  final Object? cause;

  /// The name of [code]. The server can send a more specific kind: `notOnStack`
  /// has the code 2404.
  String get kind {
    final stated = stringOf(objectOf(data)['kind']);
    if (stated != null) return stated;
    final known = ErrorCode.kindOf(code);
    if (known != null) return known;
    return ErrorCode.isApplication(code) ? 'application' : 'unknown';
  }

  /// Whether the same call can succeed if it is repeated unchanged.
  bool get isRetryable {
    final stated = objectOf(data)['retryable'];
    return stated is bool ? stated : ErrorCode.isRetryable(code);
  }

  /// The time after which the server accepts the call again; null if it names
  /// none.
  Duration? get retryAfter {
    final wait = intOf(objectOf(data)['retryAfterMs']);
    return wait == null ? null : Duration(milliseconds: wait);
  }

  @override
  String toString() => 'waybridge $code $kind: $message';
}

/// No route, page or pattern matches (2404).
final class RouteNotFoundException extends BridgeException {
  RouteNotFoundException(
    super.code,
    super.message, {
    super.data,
    super.method,
    super.cause,
  });
}

/// The policy denies the call (2403).
final class ForbiddenException extends BridgeException {
  ForbiddenException(
    super.code,
    super.message, {
    super.data,
    super.method,
    super.cause,
  });
}

/// The parameters do not match the route (2422) or the method (-32602).
final class InvalidParametersException extends BridgeException {
  InvalidParametersException(
    super.code,
    super.message, {
    super.data,
    super.method,
    super.cause,
  });
}

/// The call had no response before its deadline (2408).
final class DeadlineExceededException extends BridgeException {
  DeadlineExceededException(
    super.code,
    super.message, {
    super.data,
    super.method,
    super.cause,
  });
}

/// No client hosts the route, or its host left or did not respond (2504).
final class HostAbsentException extends BridgeException {
  HostAbsentException(
    super.code,
    super.message, {
    super.data,
    super.method,
    super.cause,
  });
}

/// It is not known whether the call took effect (2599). A call with a `key` can
/// be repeated safely.
final class OutcomeUnknownException extends BridgeException {
  OutcomeUnknownException(
    super.code,
    super.message, {
    super.data,
    super.method,
    super.cause,
  });
}

/// The caller cancelled the call (-32800).
final class CancelledException extends BridgeException {
  CancelledException(
    super.code,
    super.message, {
    super.data,
    super.method,
    super.cause,
  });
}

/// The connection failed or closed; the kind is `closed`. `data` has the `code`
/// and `reason` of the WebSocket's close event. The code of the error is 2503
/// if the call was not sent, and 2599 if it was sent and may have taken effect.
final class ConnectionClosedException extends BridgeException {
  ConnectionClosedException(
    super.code,
    super.message, {
    super.data,
    super.method,
    super.cause,
  });
}

/// Any other code of the protocol.
final class CallFailedException extends BridgeException {
  CallFailedException(
    super.code,
    super.message, {
    super.data,
    super.method,
    super.cause,
  });
}

/// An error of the application. If a task or a method throws it, its caller
/// receives it unchanged. Its code is 1 to 1999, or from 3000.
final class ApplicationException extends BridgeException {
  ApplicationException(
    super.code,
    super.message, {
    super.data,
    super.method,
    super.cause,
  });
}

/// Thrown by a host's `open` or by a task to leave the call to the next
/// matching host, as if this one did not exist. The handler must not have had
/// any effect before it throws this.
final class DeclinedException extends BridgeException {
  DeclinedException([String message = 'The host declined'])
    : super(
        ErrorCode.noRoute,
        message,
        data: <String, Object?>{'kind': 'declined', 'retryable': false},
      );
}

/// Creates the error of the class for a code.
BridgeException bridgeException(
  int code,
  String message, {
  Object? data,
  String? method,
  Object? cause,
}) {
  if (code == ErrorCode.noRoute) {
    return RouteNotFoundException(
      code,
      message,
      data: data,
      method: method,
      cause: cause,
    );
  }
  if (code == ErrorCode.forbidden) {
    return ForbiddenException(
      code,
      message,
      data: data,
      method: method,
      cause: cause,
    );
  }
  if (code == ErrorCode.invalidParameters || code == ErrorCode.invalidParams) {
    return InvalidParametersException(
      code,
      message,
      data: data,
      method: method,
      cause: cause,
    );
  }
  if (code == ErrorCode.deadline) {
    return DeadlineExceededException(
      code,
      message,
      data: data,
      method: method,
      cause: cause,
    );
  }
  if (code == ErrorCode.hostAbsent) {
    return HostAbsentException(
      code,
      message,
      data: data,
      method: method,
      cause: cause,
    );
  }
  if (code == ErrorCode.outcomeUnknown) {
    return OutcomeUnknownException(
      code,
      message,
      data: data,
      method: method,
      cause: cause,
    );
  }
  if (code == ErrorCode.cancelled) {
    return CancelledException(
      code,
      message,
      data: data,
      method: method,
      cause: cause,
    );
  }
  if (ErrorCode.isApplication(code)) {
    return ApplicationException(
      code,
      message,
      data: data,
      method: method,
      cause: cause,
    );
  }
  return CallFailedException(
    code,
    message,
    data: data,
    method: method,
    cause: cause,
  );
}
