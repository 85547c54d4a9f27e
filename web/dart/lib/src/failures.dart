import 'codes.dart';
import 'errors.dart';

/// Creates an error of this client, with `data` as the protocol defines it.
BridgeException failure(
  int code,
  String message, {
  String? method,
  Object? cause,
}) {
  final data = <String, Object?>{
    'kind': ErrorCode.kindOf(code),
    'retryable': ErrorCode.isRetryable(code),
  };
  return bridgeException(
    code,
    message,
    data: data,
    method: method,
    cause: cause,
  );
}

/// Creates the error of a cancelled call.
BridgeException cancelledException() {
  return failure(ErrorCode.cancelled, 'cancelled by the caller');
}

/// Converts an error of a host's handler to the error that is sent. Codes of
/// the application and [DeclinedException] are kept; every other error becomes
/// 2502.
BridgeException hostFailure(Object thrown) {
  if (thrown is DeclinedException || thrown is ApplicationException) {
    return thrown as BridgeException;
  }
  final text = messageOf(thrown);
  return failure(
    ErrorCode.hostFailed,
    text == '' ? 'the host failed or refused' : text,
    cause: thrown,
  );
}

/// The message of an error.
String messageOf(Object error) {
  return error is BridgeException ? error.message : error.toString();
}
