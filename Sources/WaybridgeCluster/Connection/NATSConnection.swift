import CWayNATS
import WayRPC
import WayValues

/// A connection to NATS, with the functions of JetStream that are used here. Confined to one
/// thread at a time; each call blocks, for at most ``timeout``. A lost connection is made again
/// automatically; calls in the meantime fail.
final class NATSConnection {
  /// A message for a stream, with the number of the last known message of its subject. NATS
  /// rejects it if there is a later one.
  struct Publication {
    let subject: String
    let bytes: [UInt8]
    let previousSequence: UInt64
    /// Whether it deletes a key of a bucket instead of writing it.
    var isDeletion = false
    /// Whether it replaces all earlier messages of its subject.
    var rollsUp = false
    /// The number of bytes of an object up to the end of this part.
    var endOffset: Int?
  }

  /// A message of a stream.
  struct StreamMessage {
    let subject: String
    let sequence: UInt64
    /// The message that it was written after; nil if it does not say.
    let previousSequence: UInt64?
    let bytes: [UInt8]
    /// Whether it has deleted a key.
    let isDeletion: Bool
    /// The number of bytes of an object up to the end of this part; nil if it is none.
    var endOffset: Int?
  }

  /// The result of a publication.
  enum PublishResult {
    /// Its sequence number in the stream.
    case stored(UInt64)
    /// Its subject has another last message than the expected one.
    case conflict
  }

  /// How long NATS may take to respond, in milliseconds.
  private let timeout: Int64
  /// How long it waits for the next message before it checks whether there is one, in milliseconds.
  private static let pollInterval: Int64 = 250
  /// How long NATS may take to say whether a stream exists when a server starts, in milliseconds. It
  /// may have to elect a leader.
  private static let startTimeout: Int64 = 5_000
  /// How many publications may be in flight at once.
  private static let maxInFlight = 256
  /// The minimum size of a message that NATS must accept, in bytes.
  private static let minMessageLimit = 64 << 10
  // https://github.com/nats-io/nats-architecture-and-design/blob/main/adr/ADR-8.md
  private static let operationHeader = "KV-Operation"
  private static let deletionOperation = "DEL"
  // https://github.com/nats-io/nats-server: JSExpectedLastSubjSeq of server/stream.go.
  private static let expectedSequenceHeader = "Nats-Expected-Last-Subject-Sequence"
  // JSMsgRollup of the same file, and its JSMsgRollupSubject.
  private static let rollupHeader = (name: "Nats-Rollup", subject: "sub")
  /// The message that a message was written after.
  private static let previousSequenceHeader = "Waybridge-After"
  /// The number of bytes of an object up to the end of a part.
  private static let endOffsetHeader = "Waybridge-Offset"
  // JSStreamWrongLastSequenceErrF, JSNoMessageFoundErr, JSStreamMsgDeleteFailedF and
  // JSSequenceNotFoundErrF of NATS's errors.json.
  private static let wrongLastSequence = 10071
  private static let messageNotFound = 10037
  private static let deletionFailed = 10057
  private static let sequenceNotFound = 10043

  /// The address without user and password.
  let endpoint: String
  /// The names of the cluster's streams and subjects.
  let names: NATSClusterNames
  /// Encrypts the logs of sessions, if the cluster has a secret.
  let logCipher: JetStreamSessionLogCipher
  private let connection: OpaquePointer
  private let jetStream: OpaquePointer
  private let inbox: String
  private let responses: OpaquePointer
  private var batchNumber = 0
  /// The streams that were created, or found.
  private var requiredStreams: [StreamDefinition] = []
  /// Whether several nats-servers store them.
  private(set) var isReplicated = false

  /// Connects to NATS. `timeout` applies to each response of NATS.
  init(
    _ configuration: NATSClusterConfiguration, timeout: Duration = .seconds(5)
  ) throws(NATSClusterError) {
    let endpoint = configuration.address.endpoint
    self.endpoint = endpoint
    names = configuration.names
    logCipher = JetStreamSessionLogCipher(configuration.secretFile)
    self.timeout = Int64(timeout / .milliseconds(1))
    let options = try NATSOptions.make(configuration)
    defer { natsOptions_Destroy(options) }
    var connection: OpaquePointer?
    var jetStream: OpaquePointer?
    var inbox: UnsafeMutablePointer<natsInbox>?
    var responses: OpaquePointer?
    func check(_ status: natsStatus, _ operation: String) throws(NATSClusterError) {
      guard status != NATS_OK else { return }
      natsSubscription_Destroy(responses)
      jsCtx_Destroy(jetStream)
      natsConnection_Destroy(connection)
      throw NATSClusterError(endpoint, operation, status)
    }
    try check(NATSOptions.connect(&connection, options), "the connection failed")
    try check(natsConnection_JetStream(&jetStream, connection, nil), "JetStream is not available")
    try check(natsInbox_Create(&inbox), "the connection cannot be used")
    defer { natsInbox_Destroy(inbox) }
    // The library makes the unique part only.
    let unique = inbox.map { String(cString: $0) }?.split(separator: ".").last ?? ""
    let name = "\(names.inboxPrefix).\(unique)"
    try check(
      natsConnection_SubscribeSync(&responses, connection, name + ".*"),
      "responses cannot be received")
    guard let connection, let jetStream, let responses else {
      throw NATSClusterError(endpoint, "the connection cannot be created")
    }
    (self.connection, self.jetStream, self.responses) = (connection, jetStream, responses)
    self.inbox = name
    guard maxMessage >= Self.minMessageLimit else {
      throw NATSClusterError(
        endpoint,
        "it allows messages of \(maxMessage) bytes, but \(Self.minMessageLimit) are needed",
        advice: "raise max_payload")
    }
  }

  deinit {
    natsSubscription_Destroy(responses)
    jsCtx_Destroy(jetStream)
    natsConnection_Destroy(connection)
  }

  /// The maximum size of a message, in bytes.
  var maxMessage: Int { Int(natsConnection_GetMaxPayload(connection)) }

  private func check(
    _ status: natsStatus, _ operation: String, _ code: jsErrCode = jsErrCode(0)
  ) throws(NATSClusterError) {
    guard status == NATS_OK else { throw NATSClusterError(endpoint, operation, status, code) }
  }
}

// Streams.
extension NATSConnection {
  /// A stream that is required.
  struct StreamDefinition {
    let name: String
    /// The name for messages to users.
    let displayName: String
    /// The description that marks a stream of Waybridge.
    let description: String
    let subject: String
    /// Another subject, if there are two.
    var secondSubject: String?
    let replicas: Int
    /// How many messages of a subject are kept, the last ones; zero for all.
    var history = 0
    /// Whether a message may replace earlier ones of its subject.
    var allowsRollups = false
    /// After how long a message is deleted automatically; never for zero.
    var lifetime: Duration = .zero

    fileprivate var subjects: [String] { [subject] + (secondSubject.map { [$0] } ?? []) }
  }

  /// Creates a stream on the disk of NATS if there is none. It is created again if it is missing
  /// when a message is published. Throws if there is another stream of its name.
  func requireStream(_ stream: StreamDefinition) throws(NATSClusterError) {
    try createIfMissing(stream, within: Self.startTimeout)
    requiredStreams.append(stream)
  }

  /// Creates the streams again: a nats-server that has lost its disk does not have them any more.
  private func recreateStreams() throws(NATSClusterError) {
    for stream in requiredStreams { try createIfMissing(stream, within: timeout) }
  }

  /// `time` is how long NATS may take to respond whether there is one, in milliseconds.
  private func createIfMissing(
    _ stream: StreamDefinition, within time: Int64
  ) throws(NATSClusterError) {
    if try exists(stream, within: time) { return }
    var code = jsErrCode(0)
    let status = stream.name.withCString { name in
      stream.description.withCString { description in
        Self.withCStrings(stream.subject, stream.secondSubject) { pointers in
          var subjects = pointers
          return subjects.withUnsafeMutableBufferPointer { subjects -> natsStatus in
            var config = jsStreamConfig()
            jsStreamConfig_Init(&config)
            config.Name = name
            config.Description = description
            config.Subjects = subjects.baseAddress
            config.SubjectsLen = Int32(subjects.count)
            config.Storage = js_FileStorage
            config.Replicas = Int64(stream.replicas)
            config.Discard = js_DiscardNew
            config.MaxAge = Int64(stream.lifetime / .nanoseconds(1))
            config.AllowRollup = stream.allowsRollups
            if stream.history > 0 {
              // Like the streams of key-value buckets (ADR-8), so that tools for them can read it.
              // Unlike those it allows deletion, which `synchronize` needs.
              config.MaxMsgsPerSubject = Int64(stream.history)
              config.AllowRollup = true
            }
            return js_AddStream(nil, jetStream, &config, nil, &code)
          }
        }
      }
    }
    try check(status, "\(stream.displayName) cannot be created", code)
    if stream.replicas > 1 { isReplicated = true }
  }

  /// Calls `work` with a string, and another one if there is one, as the library reads them.
  private static func withCStrings<Result>(
    _ first: String, _ second: String?, _ work: ([UnsafePointer<CChar>?]) -> Result
  ) -> Result {
    first.withCString { first in
      guard let second else { return work([first]) }
      return second.withCString { work([first, $0]) }
    }
  }

  /// Returns the number of bytes that a stream has now.
  func byteCount(of stream: String) throws(NATSClusterError) -> Int {
    Int(clamping: try info(of: stream, \.State.Bytes))
  }

  /// Returns subjects that a stream has messages of.
  func subjects(in stream: String, like filter: String) throws(NATSClusterError) -> [String] {
    let response = try request(.info, stream, #"{"subjects_filter":"\#(filter)"}"#)
    try check(response, "the stream \(stream) cannot be read", except: 0)
    return response["state"]?["subjects"]?.object?.members.map(\.name) ?? []
  }

  /// Returns when a stream was created. If the time differs, it is another stream.
  func creationTime(of stream: String) throws(NATSClusterError) -> Int64 {
    try info(of: stream, \.Created)
  }

  /// Returns a number that NATS knows of a stream; 0 if it does not tell it.
  private func info<Number: FixedWidthInteger>(
    of stream: String, _ member: KeyPath<jsStreamInfo, Number>
  ) throws(NATSClusterError) -> Number {
    var code = jsErrCode(0)
    var info: UnsafeMutablePointer<jsStreamInfo>?
    defer { jsStreamInfo_Destroy(info) }
    var options = Self.requestOptions(within: timeout)
    let status = js_GetStreamInfo(&info, jetStream, stream, &options, &code)
    if status == NATS_NOT_FOUND { try recreateStreams() }
    try check(status, "the stream \(stream) cannot be read", code)
    return info?.pointee[keyPath: member] ?? 0
  }

  /// Returns whether the stream exists. Throws if there is another stream of its name.
  private func exists(
    _ stream: StreamDefinition, within time: Int64
  ) throws(NATSClusterError) -> Bool {
    var options = Self.requestOptions(within: time)
    var code = jsErrCode(0)
    var info: UnsafeMutablePointer<jsStreamInfo>?
    defer { jsStreamInfo_Destroy(info) }
    let status = js_GetStreamInfo(&info, jetStream, stream.name, &options, &code)
    if status == NATS_NOT_FOUND { return false }
    try check(status, "\(stream.displayName) cannot be read", code)
    let config = info?.pointee.Config?.pointee
    let subjects = (0..<Int(config?.SubjectsLen ?? 0)).compactMap { index in
      config?.Subjects?[index].map { String(cString: $0) }
    }
    guard config?.Description.map({ String(cString: $0) }) == stream.description,
      subjects.sorted() == stream.subjects.sorted()
    else {
      throw NATSClusterError(
        endpoint,
        "\(stream.displayName) belongs to another program or another version of Waybridge",
        advice: "use another account, or remove it")
    }
    if config?.Replicas ?? 1 > 1 { isReplicated = true }
    return true
  }

  /// Publishes messages to streams, many at once, and returns the result of each. If one of a
  /// subject conflicts, those after it do too. Throws if not all results are known: then any of
  /// them may be stored.
  ///
  /// A stream with replicas compares the number of the last message when its leader receives
  /// another message. At that time earlier messages may still be in transit, and the first message
  /// of a subject is not compared at all. So several messages may be stored that were written after
  /// the same one; the first of them is effective. A caller that cannot rule that out checks
  /// afterwards (``isNext(_:after:of:in:)``).
  ///
  /// No condition is used that NATS only checks when it stores a message. Replicas do not
  /// count rejected messages again when they restart, and from then on give the same messages other
  /// numbers (nats-server 2.9, `clfs` of `applyStreamEntries`). So there are no ids against
  /// duplicates, and the first message of a subject has no expected number.
  func publish(_ publications: [Publication]) throws(NATSClusterError) -> [PublishResult] {
    var results: [PublishResult] = []
    results.reserveCapacity(publications.count)
    for start in stride(from: 0, to: publications.count, by: Self.maxInFlight) {
      let end = min(start + Self.maxInFlight, publications.count)
      results += try publishBatch(publications[start..<end])
    }
    return results
  }

  private func publishBatch(
    _ publications: ArraySlice<Publication>
  ) throws(NATSClusterError) -> [PublishResult] {
    batchNumber += 1
    let batch = batchNumber
    var index = 0
    for publication in publications {
      var message: OpaquePointer?
      defer { natsMsg_Destroy(message) }
      let status = publication.bytes.withUnsafeBytes { bytes in
        natsMsg_Create(
          &message, publication.subject, "\(inbox).\(batch)-\(index)",
          bytes.baseAddress?.assumingMemoryBound(to: CChar.self), Int32(bytes.count))
      }
      try check(status, "a change cannot be sent")
      try check(
        natsMsgHeader_Set(message, Self.previousSequenceHeader, "\(publication.previousSequence)"),
        "a change cannot be sent")
      if publication.previousSequence > 0 || !isReplicated {
        try check(
          natsMsgHeader_Set(
            message, Self.expectedSequenceHeader, "\(publication.previousSequence)"),
          "a change cannot be sent")
      }
      if publication.rollsUp {
        try check(
          natsMsgHeader_Set(message, Self.rollupHeader.name, Self.rollupHeader.subject),
          "a change cannot be sent")
      }
      if publication.isDeletion {
        try check(
          natsMsgHeader_Set(message, Self.operationHeader, Self.deletionOperation),
          "a change cannot be sent")
      }
      if let offset = publication.endOffset {
        try check(
          natsMsgHeader_Set(message, Self.endOffsetHeader, "\(offset)"), "a change cannot be sent")
      }
      try check(natsConnection_PublishMsg(connection, message), "a change cannot be sent")
      index += 1
    }
    var results: [Int: PublishResult] = [:]
    while results.count < publications.count {
      let (index, result) = try nextResult(of: batch)
      if let index { results[index] = result }
    }
    return results.sorted { $0.key < $1.key }.map(\.value)
  }

  /// Whether a message is the next of its subject after another: of two messages that were written
  /// after that one, only one is. Messages in transit must have arrived (``synchronize(_:)``).
  func isNext(
    _ number: UInt64, after: UInt64, of subject: String, in stream: String
  ) throws(NATSClusterError) -> Bool {
    try self.nextSequence(in: stream, of: subject, from: after + 1) == number
  }

  /// Returns the next response; its index is nil if it belongs to an earlier batch.
  private func nextResult(of batch: Int) throws(NATSClusterError) -> (index: Int?, PublishResult) {
    var message: OpaquePointer?
    defer { natsMsg_Destroy(message) }
    let status = natsSubscription_NextMsg(&message, responses, timeout)
    if status == NATS_NO_RESPONDERS { try recreateStreams() }
    try check(status, "a change was not acknowledged")
    let parts = (natsMsg_GetSubject(message).map { String(cString: $0) } ?? "")
      .dropFirst(inbox.utf8.count + 1).split(separator: "-").compactMap { Int($0) }
    let index = parts.count == 2 && parts[0] == batch ? parts[1] : nil
    let bytes = Self.bytes(of: message)
    guard let response = try? JSON.parse(bytes.span.bytes) else {
      throw NATSClusterError(self.endpoint, "a response of NATS cannot be read")
    }
    // No caller waits for the response to an earlier batch.
    guard index != nil else { return (nil, .conflict) }
    if let error = response["error"] {
      let code = error["err_code"]?.integer.map(Int.init)
      if code == Self.wrongLastSequence { return (index, .conflict) }
      throw NATSClusterError(
        self.endpoint,
        "a change was rejected: \(error["description"]?.string ?? "no reason given")",
        code: code)
    }
    guard let number = response["seq"]?.integer, number > 0 else {
      throw NATSClusterError(self.endpoint, "a response of NATS has no number")
    }
    return (index, .stored(UInt64(number)))
  }

  static func bytes(of message: OpaquePointer?) -> [UInt8] {
    guard let data = natsMsg_GetData(message) else { return [] }
    let count = Int(natsMsg_GetDataLength(message))
    return data.withMemoryRebound(to: UInt8.self, capacity: count) { start in
      Array(UnsafeBufferPointer(start: start, count: count))
    }
  }

  /// Calls `receive` with every message that a stream has now of some subjects, in their order, or with
  /// the last one of each subject. A nats-server that is behind the others may return an incomplete
  /// list: messages can be missing anywhere.
  func forEachMessage(
    in stream: String, of subject: String, onlyLast: Bool = false,
    _ receive: (StreamMessage) throws(NATSClusterError) -> Void
  ) throws(NATSClusterError) {
    var code = jsErrCode(0)
    var subscription: OpaquePointer?
    defer {
      natsSubscription_Unsubscribe(subscription)
      natsSubscription_Destroy(subscription)
    }
    let status = stream.withCString { stream -> natsStatus in
      var options = jsSubOptions()
      jsSubOptions_Init(&options)
      options.Stream = stream
      options.Ordered = true
      if onlyLast { options.Config.DeliverPolicy = js_DeliverLastPerSubject }
      return js_SubscribeSync(&subscription, jetStream, subject, nil, &options, &code)
    }
    try check(status, "the messages of \(stream) cannot be read", code)
    guard try pendingCount(of: subscription) > 0 else { return }
    var remaining: UInt64 = 1
    var waited: Int64 = 0
    while remaining > 0 {
      var message: OpaquePointer?
      defer { natsMsg_Destroy(message) }
      let status = natsSubscription_NextMsg(&message, subscription, Self.pollInterval)
      if status == NATS_TIMEOUT {
        // Messages that were still to come may have been purged meanwhile.
        guard try pendingCount(of: subscription, excludingDelivered: true) > 0 else { return }
        waited += Self.pollInterval
        if waited < timeout { continue }
      }
      try check(status, "the sessions cannot be read to their end")
      waited = 0
      var metadata: UnsafeMutablePointer<jsMsgMetaData>?
      defer { jsMsgMetaData_Destroy(metadata) }
      try check(natsMsg_GetMetaData(&metadata, message), "the sessions cannot be read")
      remaining = metadata?.pointee.NumPending ?? 0
      try receive(streamMessage(message, as: metadata?.pointee.Sequence.Stream ?? 0))
    }
  }

  /// Returns how many messages a subscription will still receive, before the first has arrived.
  private func pendingCount(
    of subscription: OpaquePointer?, excludingDelivered: Bool = false
  ) throws(NATSClusterError) -> UInt64 {
    var info: UnsafeMutablePointer<jsConsumerInfo>?
    defer { jsConsumerInfo_Destroy(info) }
    var code = jsErrCode(0)
    try check(
      natsSubscription_GetConsumerInfo(&info, subscription, nil, &code),
      "the sessions cannot be read", code)
    guard let info else { return 0 }
    // NATS may have counted below zero if messages were deleted meanwhile.
    let pendingMessages =
      Int64(bitPattern: info.pointee.NumPending) < 0 ? 0 : info.pointee.NumPending
    return excludingDelivered ? pendingMessages : pendingMessages &+ info.pointee.Delivered.Consumer
  }

  /// Returns the last message of a subject; nil if there is none.
  func lastMessage(
    in stream: String, of subject: String
  ) throws(NATSClusterError) -> StreamMessage? {
    var message: OpaquePointer?
    defer { natsMsg_Destroy(message) }
    var code = jsErrCode(0)
    var options = Self.requestOptions(within: timeout)
    let status = js_GetLastMsg(&message, jetStream, stream, subject, &options, &code)
    return try lookupResult(message, status, code)
  }

  /// Returns the message with a number; nil if there is none.
  func message(_ number: UInt64, in stream: String) throws(NATSClusterError) -> StreamMessage? {
    var message: OpaquePointer?
    defer { natsMsg_Destroy(message) }
    var code = jsErrCode(0)
    var options = Self.requestOptions(within: timeout)
    let status = js_GetMsg(&message, jetStream, stream, number, &options, &code)
    return try lookupResult(message, status, code)
  }

  /// Without options the library waits for five seconds, as long as an election may take.
  private static func requestOptions(within time: Int64) -> jsOptions {
    var options = jsOptions()
    jsOptions_Init(&options)
    options.Wait = time
    return options
  }

  private func lookupResult(
    _ message: OpaquePointer?, _ status: natsStatus, _ code: jsErrCode
  ) throws(NATSClusterError) -> StreamMessage? {
    if code == JSStreamNotFoundErr { try recreateStreams() }
    if status == NATS_NOT_FOUND { return nil }
    try check(status, "the last change cannot be read", code)
    return streamMessage(message, as: natsMsg_GetSequence(message))
  }

  private func streamMessage(_ message: OpaquePointer?, as number: UInt64) -> StreamMessage {
    StreamMessage(
      subject: natsMsg_GetSubject(message).map { String(cString: $0) } ?? "", sequence: number,
      previousSequence: Self.header(Self.previousSequenceHeader, of: message).flatMap {
        UInt64($0)
      },
      bytes: Self.bytes(of: message),
      isDeletion: Self.header(Self.operationHeader, of: message) != nil,
      endOffset: Self.header(Self.endOffsetHeader, of: message).flatMap { Int($0) })
  }

  private static func header(_ name: String, of message: OpaquePointer?) -> String? {
    var value: UnsafePointer<CChar>?
    guard natsMsgHeader_Get(message, name, &value) == NATS_OK else { return nil }
    return value.map { String(cString: $0) }
  }

  /// Deletes the messages of a subject up to a number, the oldest first, so that the remaining ones
  /// are the end of the log.
  ///
  /// It does not purge, because of two bugs of nats-server 2.9. A nats-server with replicas that
  /// restarts and finds the purge of one subject in its log deletes all messages of the stream
  /// (`purgeStreamOp`). And if the last message of a subject is deleted before others, NATS
  /// finds none any more (`removeSeqPerSubject`).
  func delete(
    _ stream: String, _ subject: String, through number: UInt64
  ) throws(NATSClusterError) {
    var start: UInt64 = 1
    while let next = try self.nextSequence(in: stream, of: subject, from: start), next <= number {
      try deleteMessage(next, in: stream)
      start = next + 1
    }
  }

  /// Deletes the message with a number, if there is one.
  func deleteMessage(_ number: UInt64, in stream: String) throws(NATSClusterError) {
    let response = try request(.delete, stream, #"{"seq":\#(number),"no_erase":true}"#)
    try check(response, "old messages cannot be deleted", except: Self.sequenceNotFound)
  }

  /// Returns the number of the first message of a subject, from a given number on; nil if there is
  /// none.
  func nextSequence(
    in stream: String, of subject: String, from: UInt64
  ) throws(NATSClusterError) -> UInt64? {
    let response = try request(.get, stream, #"{"seq":\#(from),"next_by_subj":"\#(subject)"}"#)
    try check(response, "old messages cannot be found", except: Self.messageNotFound)
    return response["message"]?["seq"]?.integer.flatMap { UInt64(exactly: $0) }
  }

  /// Returns when the leader of a stream has applied everything that was acknowledged before. A new
  /// leader responds from its own state, which can be older. This requests the deletion of message
  /// 0, which no stream has; the leader responds after everything that was before. A single
  /// nats-server has applied everything that it has acknowledged.
  func synchronize(_ stream: String) throws(NATSClusterError) {
    guard isReplicated else { return }
    let response = try request(.delete, stream, #"{"seq":0,"no_erase":true}"#)
    try check(response, "the last change is unknown", except: Self.deletionFailed)
  }

  /// A request of JetStream's API that the library does not support, or not with all parameters.
  private enum JetStreamRequest: String {
    case info = "$JS.API.STREAM.INFO"
    case get = "$JS.API.STREAM.MSG.GET"
    case delete = "$JS.API.STREAM.MSG.DELETE"
  }

  private func request(
    _ request: JetStreamRequest, _ stream: String, _ body: String
  ) throws(NATSClusterError) -> Value {
    var message: OpaquePointer?
    defer { natsMsg_Destroy(message) }
    let status = natsConnection_RequestString(
      &message, connection, "\(request.rawValue).\(stream)", body, timeout)
    try check(status, "\(request.rawValue) was not answered")
    let bytes = Self.bytes(of: message)
    guard let response = try? JSON.parse(bytes.span.bytes) else {
      throw NATSClusterError(endpoint, "a response of NATS cannot be read")
    }
    return response
  }

  /// Throws if NATS has reported an error other than the expected one.
  private func check(
    _ response: Value, _ operation: String, except expected: Int
  ) throws(NATSClusterError) {
    guard let error = response["error"] else { return }
    let code = error["err_code"]?.integer.map(Int.init)
    guard code != expected else { return }
    throw NATSClusterError(
      endpoint, "\(operation): \(error["description"]?.string ?? "no reason given")", code: code)
  }
}
