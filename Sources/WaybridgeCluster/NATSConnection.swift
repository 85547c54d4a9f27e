import CWayNATS
import WayRPC
import WayValues

/// A connection to the engine, with what of JetStream is used here. Confined to one thread at a
/// time; each call blocks, for at most ``patience``. The connection is made again by itself where it
/// is lost; what is asked meanwhile fails.
final class NATSConnection {
  /// A message to be kept in a stream, and the number of the last one of its subject: where another
  /// is known to be there, it is refused.
  struct Publication {
    let subject: String
    let bytes: [UInt8]
    let after: UInt64
    /// Whether it takes a key away from a bucket, in the place of writing it.
    var isDeletion = false
    /// Whether all that its subject had before goes with it.
    var rollsUp = false
  }

  /// A message as a stream has it.
  struct Kept {
    let subject: String
    let number: UInt64
    /// After which it was written; nil where it does not say.
    let after: UInt64?
    let bytes: [UInt8]
    /// Whether it has taken a key away.
    let isDeletion: Bool
  }

  /// What has become of a publication.
  enum Verdict {
    /// Its number in the stream.
    case kept(UInt64)
    /// Its subject has another last message than the one that was expected.
    case outrun
  }

  /// How long the engine may take to answer, in milliseconds.
  private let patience: Int64
  /// How long the next message may take before it is looked whether there is one.
  private static let glance: Int64 = 250
  /// How many publications are under way at once.
  private static let maxInFlight = 256
  /// Bytes of a message that it has to take.
  private static let minMaxMessage = 64 << 10
  // https://github.com/nats-io/nats-architecture-and-design/blob/main/adr/ADR-8.md
  private static let operation = "KV-Operation"
  private static let deletion = "DEL"
  // https://github.com/nats-io/nats-server: JSExpectedLastSubjSeq of server/stream.go.
  private static let expectedLast = "Nats-Expected-Last-Subject-Sequence"
  // JSMsgRollup of the same file, and its JSMsgRollupSubject.
  private static let rollup = (name: "Nats-Rollup", subject: "sub")
  /// After which message one was written.
  private static let after = "Waybridge-After"
  // JSStreamWrongLastSequenceErrF, JSNoMessageFoundErr, JSStreamMsgDeleteFailedF and
  // JSSequenceNotFoundErrF of the engine's errors.json.
  private static let wrongLastSequence = 10071
  private static let noMessage = 10037
  private static let deletesNothing = 10057
  private static let noSequence = 10043

  /// The address without user and password.
  let place: String
  private let connection: OpaquePointer
  private let jetStream: OpaquePointer
  private let inbox: String
  private let answers: OpaquePointer
  private var number = 0
  /// The streams that were made, or found.
  private var needed: [Stream] = []
  /// Whether several engines keep them.
  private(set) var isReplicated = false

  /// `patience` is for each answer of the engine.
  init(_ address: NATSAddress, patience: Duration = .seconds(5)) throws(NATSClusterError) {
    let place = address.place
    self.place = place
    self.patience = Int64(patience / .milliseconds(1))
    var options: OpaquePointer?
    defer { natsOptions_Destroy(options) }
    var connection: OpaquePointer?
    var jetStream: OpaquePointer?
    var inbox: UnsafeMutablePointer<natsInbox>?
    var answers: OpaquePointer?
    func check(_ status: natsStatus, _ what: String) throws(NATSClusterError) {
      guard status != NATS_OK else { return }
      natsSubscription_Destroy(answers)
      jsCtx_Destroy(jetStream)
      natsConnection_Destroy(connection)
      throw NATSClusterError(place, what, status)
    }
    try check(NATSOptions.make(&options, address), "the address is none")
    try check(natsConnection_Connect(&connection, options), "no connection can be made")
    try check(natsConnection_JetStream(&jetStream, connection, nil), "there is no JetStream")
    try check(natsInbox_Create(&inbox), "the connection cannot be used")
    defer { natsInbox_Destroy(inbox) }
    let name = inbox.map { String(cString: $0) } ?? ""
    try check(
      natsConnection_SubscribeSync(&answers, connection, name + ".*"),
      "answers cannot be received")
    guard let connection, let jetStream, let answers else {
      throw NATSClusterError(place, "the connection cannot be made")
    }
    (self.connection, self.jetStream, self.answers) = (connection, jetStream, answers)
    self.inbox = name
    guard maxMessage >= Self.minMaxMessage else {
      throw NATSClusterError(
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

  /// Bytes that a message may have.
  var maxMessage: Int { Int(natsConnection_GetMaxPayload(connection)) }

  private func check(
    _ status: natsStatus, _ what: String, _ code: jsErrCode = jsErrCode(0)
  ) throws(NATSClusterError) {
    guard status == NATS_OK else { throw NATSClusterError(place, what, status, code) }
  }
}

// Streams.
extension NATSConnection {
  /// A stream that is needed.
  struct Stream {
    let name: String
    /// For people.
    let what: String
    /// By which it is known for one of Waybridge.
    let description: String
    let subject: String
    let replicas: Int
    /// How many messages of a subject are kept, the last ones; zero for all.
    var history = 0
    /// Whether messages may take away what their subject had before.
    var takesRollups = false
    /// After how long a message goes by itself; never for zero.
    var lifetime: Duration = .zero
  }

  /// Makes a stream on the engine's disk, where there is none; again, where there is none any more
  /// when something is published. Throws where there is another of its name.
  func need(_ stream: Stream) throws(NATSClusterError) {
    try make(stream)
    needed.append(stream)
  }

  /// An engine that has lost its disk knows the streams no more: they are there for who asks again.
  private func makeNeeded() throws(NATSClusterError) {
    for stream in needed { try make(stream) }
  }

  private func make(_ stream: Stream) throws(NATSClusterError) {
    if try isThere(stream) { return }
    var code = jsErrCode(0)
    let made = stream.name.withCString { name in
      stream.description.withCString { description in
        stream.subject.withCString { subject in
          var subjects: [UnsafePointer<CChar>?] = [subject]
          return subjects.withUnsafeMutableBufferPointer { subjects -> natsStatus in
            var config = jsStreamConfig()
            jsStreamConfig_Init(&config)
            config.Name = name
            config.Description = description
            config.Subjects = subjects.baseAddress
            config.SubjectsLen = 1
            config.Storage = js_FileStorage
            config.Replicas = Int64(stream.replicas)
            config.Discard = js_DiscardNew
            config.MaxAge = Int64(stream.lifetime / .nanoseconds(1))
            config.AllowRollup = stream.takesRollups
            if stream.history > 0 {
              // As those of keys are (ADR-8), so that tools for them read it, but for what `settle`
              // needs: that it is allowed to delete.
              config.MaxMsgsPerSubject = Int64(stream.history)
              config.AllowRollup = true
            }
            return js_AddStream(nil, jetStream, &config, nil, &code)
          }
        }
      }
    }
    try check(made, "\(stream.what) cannot be made", code)
    if stream.replicas > 1 { isReplicated = true }
  }

  /// When a stream was made: another time, and it is another.
  func creation(of stream: String) throws(NATSClusterError) -> Int64 {
    var code = jsErrCode(0)
    var info: UnsafeMutablePointer<jsStreamInfo>?
    defer { jsStreamInfo_Destroy(info) }
    let found = js_GetStreamInfo(&info, jetStream, stream, nil, &code)
    if found == NATS_NOT_FOUND { try makeNeeded() }
    try check(found, "the stream \(stream) cannot be looked at", code)
    return info?.pointee.Created ?? 0
  }

  /// Whether there is a stream as it is made here. Throws where there is another of its name.
  private func isThere(_ stream: Stream) throws(NATSClusterError) -> Bool {
    var code = jsErrCode(0)
    var info: UnsafeMutablePointer<jsStreamInfo>?
    defer { jsStreamInfo_Destroy(info) }
    let found = js_GetStreamInfo(&info, jetStream, stream.name, nil, &code)
    if found == NATS_NOT_FOUND { return false }
    try check(found, "\(stream.what) cannot be looked at", code)
    let config = info?.pointee.Config?.pointee
    let subjects = (0..<Int(config?.SubjectsLen ?? 0)).compactMap { place in
      config?.Subjects?[place].map { String(cString: $0) }
    }
    guard config?.Description.map({ String(cString: $0) }) == stream.description,
      subjects == [stream.subject]
    else {
      throw NATSClusterError(
        place, "\(stream.what) is not one of Waybridge, or of another version",
        advice: "name another account, or move that away")
    }
    if config?.Replicas ?? 1 > 1 { isReplicated = true }
    return true
  }

  /// Publishes messages to streams, many at once, and gives what has become of each; where one of
  /// a subject was outrun, those behind it are too. Throws where it is not known of all: then any of
  /// them may be kept.
  ///
  /// A stream with replicas compares the number of the last message when its leader is given another,
  /// which is before those are there that are on their way, and the first of a subject not at all: several
  /// may be kept that come after the same one, of which the first counts. Who cannot rule that out looks
  /// afterwards (``isNext(_:after:of:in:)``).
  ///
  /// Nothing is asked for that is only found out when a message is there: what replicas refuse then
  /// they do not count again when they start, and from there on give the same messages other numbers
  /// (nats-server 2.9, `clfs` of `applyStreamEntries`). So there are no ids against duplicates, and the
  /// first of a subject is not compared with none.
  func publish(_ publications: [Publication]) throws(NATSClusterError) -> [Verdict] {
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
  ) throws(NATSClusterError) -> [Verdict] {
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
        natsMsgHeader_Set(message, Self.after, "\(publication.after)"), "a change cannot be sent")
      if publication.after > 0 || !isReplicated {
        try check(
          natsMsgHeader_Set(message, Self.expectedLast, "\(publication.after)"),
          "a change cannot be sent")
      }
      if publication.rollsUp {
        try check(
          natsMsgHeader_Set(message, Self.rollup.name, Self.rollup.subject),
          "a change cannot be sent")
      }
      if publication.isDeletion {
        try check(
          natsMsgHeader_Set(message, Self.operation, Self.deletion), "a change cannot be sent")
      }
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

  /// Whether a message is the next of its subject after another: of two that were kept after that, one
  /// is. What was on its way has to be there (``settle(_:)``).
  func isNext(
    _ number: UInt64, after: UInt64, of subject: String, in stream: String
  ) throws(NATSClusterError) -> Bool {
    try self.number(in: stream, of: subject, from: after + 1) == number
  }

  /// The next answer; its place is nil where it is one of an earlier batch.
  private func nextVerdict(of batch: Int) throws(NATSClusterError) -> (place: Int?, Verdict) {
    var answer: OpaquePointer?
    defer { natsMsg_Destroy(answer) }
    let status = natsSubscription_NextMsg(&answer, answers, patience)
    if status == NATS_NO_RESPONDERS { try makeNeeded() }
    try check(status, "a change was not acknowledged")
    let parts = (natsMsg_GetSubject(answer).map { String(cString: $0) } ?? "")
      .dropFirst(inbox.utf8.count + 1).split(separator: "-").compactMap { Int($0) }
    let place = parts.count == 2 && parts[0] == batch ? parts[1] : nil
    let bytes = Self.bytes(of: answer)
    guard let said = try? JSON.parse(bytes.span.bytes) else {
      throw NATSClusterError(self.place, "an answer of the engine cannot be read")
    }
    // What an earlier batch was answered is nobody's any more.
    guard place != nil else { return (nil, .outrun) }
    if let error = said["error"] {
      let code = error["err_code"]?.integer.map(Int.init)
      if code == Self.wrongLastSequence { return (place, .outrun) }
      throw NATSClusterError(
        self.place, "a change was refused: \(error["description"]?.string ?? "no reason given")",
        code: code)
    }
    guard let number = said["seq"]?.integer, number > 0 else {
      throw NATSClusterError(self.place, "an answer of the engine has no number")
    }
    return (place, .kept(UInt64(number)))
  }

  static func bytes(of message: OpaquePointer?) -> [UInt8] {
    guard let data = natsMsg_GetData(message) else { return [] }
    let count = Int(natsMsg_GetDataLength(message))
    return data.withMemoryRebound(to: UInt8.self, capacity: count) { start in
      Array(UnsafeBufferPointer(start: start, count: count))
    }
  }

  /// Every message that a stream has now of some subjects, in their order. An engine that is behind the
  /// others may give what it has: messages can be missing anywhere.
  func messages(
    in stream: String, of subject: String, _ take: (Kept) throws(NATSClusterError) -> Void
  ) throws(NATSClusterError) {
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
    var waited: Int64 = 0
    while left > 0 {
      var message: OpaquePointer?
      defer { natsMsg_Destroy(message) }
      let status = natsSubscription_NextMsg(&message, subscription, Self.glance)
      if status == NATS_TIMEOUT {
        // What was still to come may have been purged meanwhile.
        guard try pending(of: subscription, besidesDelivered: true) > 0 else { return }
        waited += Self.glance
        if waited < patience { continue }
      }
      try check(status, "the sessions cannot be read to their end")
      waited = 0
      var about: UnsafeMutablePointer<jsMsgMetaData>?
      defer { jsMsgMetaData_Destroy(about) }
      try check(natsMsg_GetMetaData(&about, message), "the sessions cannot be read")
      left = about?.pointee.NumPending ?? 0
      try take(kept(message, as: about?.pointee.Sequence.Stream ?? 0))
    }
  }

  /// How many messages a subscription is still to be given, before the first has come.
  private func pending(
    of subscription: OpaquePointer?, besidesDelivered: Bool = false
  ) throws(NATSClusterError) -> UInt64 {
    var info: UnsafeMutablePointer<jsConsumerInfo>?
    defer { jsConsumerInfo_Destroy(info) }
    var code = jsErrCode(0)
    try check(
      natsSubscription_GetConsumerInfo(&info, subscription, nil, &code),
      "the sessions cannot be read", code)
    guard let info else { return 0 }
    // The engine may have counted below zero where messages went meanwhile.
    let toCome = Int64(bitPattern: info.pointee.NumPending) < 0 ? 0 : info.pointee.NumPending
    return besidesDelivered ? toCome : toCome &+ info.pointee.Delivered.Consumer
  }

  /// The last message of a subject; nil for none.
  func last(
    in stream: String, of subject: String
  ) throws(NATSClusterError) -> Kept? {
    var message: OpaquePointer?
    defer { natsMsg_Destroy(message) }
    var code = jsErrCode(0)
    let status = js_GetLastMsg(&message, jetStream, stream, subject, nil, &code)
    return try lookedUp(message, status, code)
  }

  /// The message of a number; nil for none.
  func message(_ number: UInt64, in stream: String) throws(NATSClusterError) -> Kept? {
    var message: OpaquePointer?
    defer { natsMsg_Destroy(message) }
    var code = jsErrCode(0)
    let status = js_GetMsg(&message, jetStream, stream, number, nil, &code)
    return try lookedUp(message, status, code)
  }

  private func lookedUp(
    _ message: OpaquePointer?, _ status: natsStatus, _ code: jsErrCode
  ) throws(NATSClusterError) -> Kept? {
    if code == JSStreamNotFoundErr { try makeNeeded() }
    if status == NATS_NOT_FOUND { return nil }
    try check(status, "the last change cannot be read", code)
    return kept(message, as: natsMsg_GetSequence(message))
  }

  private func kept(_ message: OpaquePointer?, as number: UInt64) -> Kept {
    Kept(
      subject: natsMsg_GetSubject(message).map { String(cString: $0) } ?? "", number: number,
      after: Self.header(Self.after, of: message).flatMap { UInt64($0) },
      bytes: Self.bytes(of: message),
      isDeletion: Self.header(Self.operation, of: message) != nil)
  }

  private static func header(_ name: String, of message: OpaquePointer?) -> String? {
    var value: UnsafePointer<CChar>?
    guard natsMsgHeader_Get(message, name, &value) == NATS_OK else { return nil }
    return value.map { String(cString: $0) }
  }

  /// Has the messages of a subject go up to that of a number, the oldest first, so that what is left
  /// is the end of what was there.
  ///
  /// This is no purge: an engine with replicas that starts again, and finds the purge of one subject in
  /// its log, has all messages of the stream go (`purgeStreamOp`). And where the last message of a
  /// subject goes before others, the engine finds none any more (`removeSeqPerSubject`, both of
  /// nats-server 2.9).
  func delete(
    _ stream: String, _ subject: String, through number: UInt64
  ) throws(NATSClusterError) {
    var from: UInt64 = 1
    while let next = try self.number(in: stream, of: subject, from: from), next <= number {
      let answer = try ask(.delete, stream, #"{"seq":\#(next),"no_erase":true}"#)
      try check(answer, "what is kept no more cannot be deleted", but: Self.noSequence)
      from = next + 1
    }
  }

  /// The number of the first message of a subject, from one on; nil for none.
  func number(
    in stream: String, of subject: String, from: UInt64
  ) throws(NATSClusterError) -> UInt64? {
    let answer = try ask(.get, stream, #"{"seq":\#(from),"next_by_subj":"\#(subject)"}"#)
    try check(answer, "what is kept no more cannot be found", but: Self.noMessage)
    return answer["message"]?["seq"]?.integer.flatMap { UInt64(exactly: $0) }
  }

  /// Returns when the engine that leads a stream has carried out all that was acknowledged before:
  /// one that was just chosen answers from what it has, which can be older. It is asked to delete
  /// what no stream has, a message of the number 0, which it answers after all that was before. One
  /// engine alone has carried out what it has acknowledged.
  func settle(_ stream: String) throws(NATSClusterError) {
    guard isReplicated else { return }
    let answer = try ask(.delete, stream, #"{"seq":0,"no_erase":true}"#)
    try check(answer, "it is not known what is the last change", but: Self.deletesNothing)
  }

  /// A request of JetStream's API that the library has not, or not with what is needed of it.
  private enum Request: String {
    case get = "$JS.API.STREAM.MSG.GET"
    case delete = "$JS.API.STREAM.MSG.DELETE"
  }

  private func ask(
    _ request: Request, _ stream: String, _ body: String
  ) throws(NATSClusterError) -> Value {
    var answer: OpaquePointer?
    defer { natsMsg_Destroy(answer) }
    let status = natsConnection_RequestString(
      &answer, connection, "\(request.rawValue).\(stream)", body, patience)
    try check(status, "\(request.rawValue) is not answered")
    let bytes = Self.bytes(of: answer)
    guard let said = try? JSON.parse(bytes.span.bytes) else {
      throw NATSClusterError(place, "an answer of the engine cannot be read")
    }
    return said
  }

  /// Throws where the engine has refused something, but for one reason.
  private func check(
    _ answer: Value, _ what: String, but expected: Int
  ) throws(NATSClusterError) {
    guard let error = answer["error"] else { return }
    let code = error["err_code"]?.integer.map(Int.init)
    guard code != expected else { return }
    throw NATSClusterError(
      place, "\(what): \(error["description"]?.string ?? "no reason given")", code: code)
  }
}
