import WayValues

/// `blobs.…`: the access of a client to the blobs of its session, which are sent over HTTP.
enum BlobMethods {
  static let all = [SessionMethod(BlobTokens.method, [], authorize)]

  private static func authorize(
    _ session: isolated Session, _ params: Params, _ handle: ReplyHandle
  ) throws(CallError) -> CallDisposition {
    guard let blobs = session.environment.blobs else {
      throw CallError(
        .methodNotFound,
        "This server stores no blobs: it has no HTTP, or has them disabled")
    }
    let client = handle.client
    return .value(
      RecordCoder.value(of: blobs.terms(for: client.name, of: session.id, client.rights)))
  }
}
