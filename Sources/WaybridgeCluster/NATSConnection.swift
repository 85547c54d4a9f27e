import CWayNATS
import WayRPC
import WayValues

/// A connection to the engine, with what of JetStream is used here. Confined to one thread at a
/// time; each call blocks, for at most ``patience``. The connection is made again by itself where it
/// is lost; what is asked meanwhile fails.
final class NATSConnection {
  /// A message to be kept in a stream, and the number of the last one of its subject: another
  /// number there, and it is refused.
  struct Publication {
    let subject: String
    let bytes: [UInt8]
    let after: UInt64
  }

  /// What has become of a publication.
  enum Verdict {
    /// Its number in the stream.
    case kept(UInt64)
    /// Its subject has another last message than the one that was expected.
    case outrun
  }

  /// How long the engine may take to answer.
  private static let patience: Int64 = 5_000
  /// How many publications are under way at once.
  private static let maxInFlight = 256
  /// Bytes of a message that it has to take.
  private static let minMaxMessage = 64 << 10
  // JSStreamWrongLastSequenceErrF of the engine's errors.json.
  private static let wrongLastSequence = 10071

  /// The address without user and password.
  let place: String
  private let connection: OpaquePointer
  private let jetStream: OpaquePointer
  private let inbox: String
  private let answers: OpaquePointer
  private var number = 0

  /// `url` is `nats://[USER:PASSWORD@]HOST[:PORT]`, or `tls://…`; several have commas between them.
  init(_ url: String) throws(ClusterError) {
    let place = Self.withoutSecrets(url)
    self.place = place
    var options: OpaquePointer?
    defer { natsOptions_Destroy(options) }
    var connection: OpaquePointer?
    var jetStream: OpaquePointer?
    var inbox: UnsafeMutablePointer<natsInbox>?
    var answers: OpaquePointer?
    func check(_ status: natsStatus, _ what: String) throws(ClusterError) {
      guard status != NATS_OK else { return }
      natsSubscription_Destroy(answers)
      jsCtx_Destroy(jetStream)
      natsConnection_Destroy(connection)
      throw ClusterError(place, what, status)
    }
    try check(natsOptions_Create(&options), "the connection cannot be made")
    try check(natsOptions_SetURL(options, url), "the address is none")
    for status in [
      natsOptions_SetName(options, "waybridge"), natsOptions_SetTimeout(options, 2_000),
      natsOptions_SetMaxReconnect(options, -1), natsOptions_SetReconnectWait(options, 250),
      natsOptions_SetFailRequestsOnDisconnect(options, true),
      natsOptions_SetPingInterval(options, 2_000), natsOptions_SetMaxPingsOut(options, 2),
      // Said to be sent and lost with the process it would be of no use.
      natsOptions_SetReconnectBufSize(options, 0),
    ] { try check(status, "the connection cannot be made") }
    try check(natsConnection_Connect(&connection, options), "no connection can be made")
    try check(natsConnection_JetStream(&jetStream, connection, nil), "there is no JetStream")
    try check(natsInbox_Create(&inbox), "the connection cannot be used")
    defer { natsInbox_Destroy(inbox) }
    let name = inbox.map { String(cString: $0) } ?? ""
    try check(
      natsConnection_SubscribeSync(&answers, connection, name + ".*"),
      "answers cannot be received")
    guard let connection, let jetStream, let answers else {
      throw ClusterError(place, "the connection cannot be made")
    }
    (self.connection, self.jetStream, self.answers) = (connection, jetStream, answers)
    self.inbox = name
    guard maxMessage >= Self.minMaxMessage else {
      throw ClusterError(
        place,
        "its messages have at most \(maxMessage) bytes, and \(Self.minMaxMessage) are needed",
        advice: "raise max_payload")
    }
  }

  deinit {
    natsSubscription_Destroy(answers)
    jsCtx_Destroy(jetStream)
    natsConnection_Destroy(connection)
  }

  private static func withoutSecrets(_ url: String) -> String {
    url.split(separator: ",").map { part in
      guard let sign = part.lastIndex(of: "@") else { return String(part) }
      let scheme = part.firstRange(of: "://").map { part[..<$0.upperBound] } ?? ""
      return String(scheme + part[part.index(after: sign)...])
    }.joined(separator: ",")
  }

  /// Bytes that a message may have.
  var maxMessage: Int { Int(natsConnection_GetMaxPayload(connection)) }

  private func check(
    _ status: natsStatus, _ what: String, _ code: jsErrCode = jsErrCode(0)
  ) throws(ClusterError) {
    guard status == NATS_OK else { throw ClusterError(place, what, status, code) }
  }
}

// Streams.
extension NATSConnection {
  /// Makes a stream on the engine's disk, where there is none, whose messages stay until they are
  /// purged. Throws where there is another of its name.
  func makeStream(_ name: String, subject: String, description: String) throws(ClusterError) {
    var code = jsErrCode(0)
    var info: UnsafeMutablePointer<jsStreamInfo>?
    defer { jsStreamInfo_Destroy(info) }
    let found = js_GetStreamInfo(&info, jetStream, name, nil, &code)
    if found == NATS_OK {
      let config = info?.pointee.Config?.pointee
      let subjects = (0..<Int(config?.SubjectsLen ?? 0)).compactMap { place in
        config?.Subjects?[place].map { String(cString: $0) }
      }
      guard config?.Description.map({ String(cString: $0) }) == description, subjects == [subject]
      else {
        throw ClusterError(
          place, "its stream \(name) is not one of Waybridge, or of another version",
          advice: "name another account, or move that stream away")
      }
      return
    }
    guard found == NATS_NOT_FOUND else {
      throw ClusterError(place, "the stream \(name) cannot be looked at", found, code)
    }
    let made = name.withCString { name in
      description.withCString { description in
        subject.withCString { subject in
          var subjects: [UnsafePointer<CChar>?] = [subject]
          return subjects.withUnsafeMutableBufferPointer { subjects -> natsStatus in
            var config = jsStreamConfig()
            jsStreamConfig_Init(&config)
            config.Name = name
            config.Description = description
            config.Subjects = subjects.baseAddress
            config.SubjectsLen = 1
            config.Storage = js_FileStorage
            config.Discard = js_DiscardNew
            // Nothing that is asked again is kept twice: it comes after another message.
            config.Duplicates = 100_000_000
            return js_AddStream(nil, jetStream, &config, nil, &code)
          }
        }
      }
    }
    try check(made, "its stream of sessions cannot be made", code)
  }

  /// Publishes messages to streams, many at once, and gives what has become of each; where one of
  /// a subject was outrun, those behind it are too. Throws where it is not known of all: then any of
  /// them may be kept.
  func publish(_ publications: [Publication]) throws(ClusterError) -> [Verdict] {
    var verdicts: [Verdict] = []
    verdicts.reserveCapacity(publications.count)
    for start in stride(from: 0, to: publications.count, by: Self.maxInFlight) {
      let end = min(start + Self.maxInFlight, publications.count)
      verdicts += try publishTogether(publications[start..<end])
    }
    return verdicts
  }

  private func publishTogether(
    _ publications: ArraySlice<Publication>
  ) throws(ClusterError) -> [Verdict] {
    number += 1
    let batch = number
    var place = 0
    for publication in publications {
      var message: OpaquePointer?
      defer { natsMsg_Destroy(message) }
      let made = publication.bytes.withUnsafeBytes { bytes in
        natsMsg_Create(
          &message, publication.subject, "\(inbox).\(batch)-\(place)",
          bytes.baseAddress?.assumingMemoryBound(to: CChar.self), Int32(bytes.count))
      }
      try check(made, "a change cannot be sent")
      try check(
        natsMsgHeader_Set(
          message, "Nats-Expected-Last-Subject-Sequence", "\(publication.after)"),
        "a change cannot be sent")
      try check(natsConnection_PublishMsg(connection, message), "a change cannot be sent")
      place += 1
    }
    var verdicts: [Int: Verdict] = [:]
    while verdicts.count < publications.count {
      let (place, verdict) = try nextVerdict(of: batch)
      if let place { verdicts[place] = verdict }
    }
    return verdicts.sorted { $0.key < $1.key }.map(\.value)
  }

  /// The next answer; its place is nil where it is one of an earlier batch.
  private func nextVerdict(of batch: Int) throws(ClusterError) -> (place: Int?, Verdict) {
    var answer: OpaquePointer?
    defer { natsMsg_Destroy(answer) }
    try check(
      natsSubscription_NextMsg(&answer, answers, Self.patience), "a change was not acknowledged")
    let parts = (natsMsg_GetSubject(answer).map { String(cString: $0) } ?? "")
      .dropFirst(inbox.utf8.count + 1).split(separator: "-").compactMap { Int($0) }
    let place = parts.count == 2 && parts[0] == batch ? parts[1] : nil
    if natsMsg_IsNoResponders(answer) {
      throw ClusterError(self.place, "there is no JetStream", NATS_NO_RESPONDERS)
    }
    let bytes = Self.bytes(of: answer)
    guard let said = try? JSON.parse(bytes.span.bytes) else {
      throw ClusterError(self.place, "an answer of the engine cannot be read")
    }
    if let error = said["error"] {
      let code = error["err_code"]?.integer.map(Int.init)
      if code == Self.wrongLastSequence { return (place, .outrun) }
      throw ClusterError(
        self.place, "a change was refused: \(error["description"]?.string ?? "no reason given")",
        code: code)
    }
    guard let number = said["seq"]?.integer, number > 0 else {
      throw ClusterError(self.place, "an answer of the engine has no number")
    }
    return (place, .kept(UInt64(number)))
  }

  private static func bytes(of message: OpaquePointer?) -> [UInt8] {
    guard let data = natsMsg_GetData(message) else { return [] }
    let count = Int(natsMsg_GetDataLength(message))
    return data.withMemoryRebound(to: UInt8.self, capacity: count) { start in
      Array(UnsafeBufferPointer(start: start, count: count))
    }
  }

  /// Every message that a stream has now of some subjects, in their order.
  func messages(
    in stream: String, of subject: String,
    _ take: (_ subject: String, _ number: UInt64, _ bytes: [UInt8]) throws(ClusterError) -> Void
  ) throws(ClusterError) {
    var code = jsErrCode(0)
    var subscription: OpaquePointer?
    defer {
      natsSubscription_Unsubscribe(subscription)
      natsSubscription_Destroy(subscription)
    }
    let begun = stream.withCString { stream -> natsStatus in
      var options = jsSubOptions()
      jsSubOptions_Init(&options)
      options.Stream = stream
      options.Ordered = true
      return js_SubscribeSync(&subscription, jetStream, subject, nil, &options, &code)
    }
    try check(begun, "the sessions cannot be read", code)
    guard try pending(of: subscription) > 0 else { return }
    var left: UInt64 = 1
    while left > 0 {
      var message: OpaquePointer?
      defer { natsMsg_Destroy(message) }
      try check(
        natsSubscription_NextMsg(&message, subscription, Self.patience),
        "the sessions cannot be read to their end")
      var about: UnsafeMutablePointer<jsMsgMetaData>?
      defer { jsMsgMetaData_Destroy(about) }
      try check(natsMsg_GetMetaData(&about, message), "the sessions cannot be read")
      left = about?.pointee.NumPending ?? 0
      try take(
        natsMsg_GetSubject(message).map { String(cString: $0) } ?? "",
        about?.pointee.Sequence.Stream ?? 0, Self.bytes(of: message))
    }
  }

  /// How many messages a subscription is still to be given, before the first has come.
  private func pending(of subscription: OpaquePointer?) throws(ClusterError) -> UInt64 {
    var info: UnsafeMutablePointer<jsConsumerInfo>?
    defer { jsConsumerInfo_Destroy(info) }
    var code = jsErrCode(0)
    try check(
      natsSubscription_GetConsumerInfo(&info, subscription, nil, &code),
      "the sessions cannot be read", code)
    guard let info else { return 0 }
    return info.pointee.NumPending + info.pointee.Delivered.Consumer
  }

  /// The last message of a subject; nil for none.
  func last(
    in stream: String, of subject: String
  ) throws(ClusterError) -> (number: UInt64, bytes: [UInt8])? {
    var message: OpaquePointer?
    defer { natsMsg_Destroy(message) }
    var code = jsErrCode(0)
    let status = js_GetLastMsg(&message, jetStream, stream, subject, nil, &code)
    if status == NATS_NOT_FOUND { return nil }
    try check(status, "the last change cannot be read", code)
    return (natsMsg_GetSequence(message), Self.bytes(of: message))
  }

  /// Has the messages of a subject go; all of them, or those before a number.
  func purge(
    _ stream: String, _ subject: String, before number: UInt64? = nil
  ) throws(ClusterError) {
    var code = jsErrCode(0)
    let status = subject.withCString { subject -> natsStatus in
      var options = jsOptions()
      jsOptions_Init(&options)
      options.Stream.Purge.Subject = subject
      if let number { options.Stream.Purge.Sequence = number }
      return js_PurgeStream(jetStream, stream, &options, &code)
    }
    try check(status, "what is kept no more cannot be purged", code)
  }
}

// Who is there.
extension NATSConnection {
  /// Keys that go by themselves so long after they were written last, by the engine's clock.
  func makeKeys(_ bucket: String, lifetime: Duration) throws(ClusterError) -> NATSKeys {
    var keys: OpaquePointer?
    if js_KeyValue(&keys, jetStream, bucket) != NATS_OK {
      let made = bucket.withCString { bucket -> natsStatus in
        var config = kvConfig()
        kvConfig_Init(&config)
        config.Bucket = bucket
        config.History = 1
        config.TTL = Int64(lifetime / .nanoseconds(1))
        config.StorageType = js_FileStorage
        return js_CreateKeyValue(&keys, jetStream, &config)
      }
      try check(made, "the bucket \(bucket) cannot be made")
    }
    guard let keys else { throw ClusterError(place, "the bucket \(bucket) cannot be used") }
    return NATSKeys(place, keys)
  }
}
